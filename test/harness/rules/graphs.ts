import type { Evidence, JobEvidence } from '../evidence/evidence.js';
import type { ModelLine } from '../evidence/ledger.js';
import { defaultRules } from '../../support/worlds/graph.js';
import { grouped, perJob, type Rule } from './rule.js';

/** Limit between a model's last byte and its record, on a busy machine. */
const recordedWithinMs = 2_000;
/** Limit between the end of a workflow from outside and the end of its calls. */
const noticedWithinMs = 3_000;

interface Call {
  key: string;
  at: number;
  /** null: it never ended. */
  outAt: number | null;
}

/** The model's sound answers, in the order of their ends. */
function callsOf(lines: ModelLine[]): Call[] {
  const open = new Map<string, Call[]>();
  return lines.flatMap(({ event, key, at, fault }) => {
    if (fault !== 'good') return [];
    if (event === 'out') {
      const call = open.get(key)?.shift();
      if (call) call.outAt = at;
      return [];
    }
    const call: Call = { key, at, outAt: null };
    open.set(key, [...(open.get(key) ?? []), call]);
    return [call];
  });
}

/** Calls that may lack a record: their worker was killed, or their job failed or was terminated. */
function isLost(
  { at, outAt }: Call,
  { status, completedAt, outside }: JobEvidence,
  { kills, strikes }: Evidence,
): boolean {
  const ends = kills.filter(({ worker }) => worker).map(({ at: from, goneAt }) => [from, goneAt] as const);
  // The row of a terminated job closes later than its workflow; its activities learn it late.
  if (outside === 'terminate')
    ends.push(...strikes.map(({ at: from, until }) => [from, until + noticedWithinMs] as const));
  if (status !== 'completed' && completedAt !== null) ends.push([completedAt, completedAt]);
  return ends.some(([from, until]) => at <= until && (outAt === null || outAt + recordedWithinMs >= from));
}

const ofGraphs = (name: string, look: Parameters<typeof perJob>[1]): Rule =>
  perJob(name, (job, evidence) => (job.kind === 'graph' ? look(job, evidence) : []));

export const graphRules: Rule[] = [
  perJob(
    'a model call of the service itself is bought once, but for what was in flight when its worker was killed',
    (job, evidence) => {
      if (job.hasContainer || job.kind === 'deployment') return [];
      const recorded = grouped(job.calls, ({ key }) => key);
      return [...grouped(callsOf(job.bought), ({ key }) => key)].flatMap(([key, calls]) => {
        const kept = calls.filter((call) => !isLost(call, job, evidence)).sort((left, right) => right.at - left.at);
        const records = (recorded.get(key) ?? []).map(({ createdAt }) => createdAt).sort((left, right) => right - left);
        // Match each call with a later record, the last with the last.
        const again = kept.find(({ at }, index) => !(records[index]! >= at));
        return again
          ? [`bought ${calls.length} times, recorded ${records.length} times, lost was not ${again.at}: ${key}`]
          : [];
      });
    },
    'purchase',
  ),
  ofGraphs('what a graph gave is on record, and worth its reward', ({ rollouts, calls }) => {
    const said = grouped(
      calls.filter(({ purpose }) => purpose === 'rollout'),
      ({ rolloutId }) => `${rolloutId}`,
    );
    return rollouts.flatMap(({ id, seed, status, reward, output }) => {
      if (status !== 'succeeded') return [];
      const worth = output === `rule-${seed % defaultRules}` ? 1 : 0;
      return [
        ...(reward === worth
          ? []
          : [`${id} has the reward ${reward}, its output ${JSON.stringify(output)} is worth ${worth}`]),
        ...(output === null || said.get(id)?.some(({ text }) => text === output)
          ? []
          : [`the output of ${id} is on no record`]),
      ];
    });
  }),
  ofGraphs('a rollout of a graph fails only where a model has', ({ rollouts, bought }) =>
    bought.some(({ fault }) => fault !== 'good')
      ? []
      : rollouts.filter(({ status }) => status === 'failed').map(({ id, code }) => `${id} has failed (${code})`),
  ),
];
