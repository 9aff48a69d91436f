import { containerFault } from '../faults/container.js';
import type { JobEvidence } from '../evidence/evidence.js';
import type { ContainerLine } from '../evidence/ledger.js';
import { grouped, hasOutcome, perJob, same, type Rule } from './rule.js';

type In = Extract<ContainerLine, { event: 'in' }>;
type Plan = Extract<ContainerLine, { event: 'plan' }>;

const isIn = (line: ContainerLine): line is In => line.event === 'in';
const isPlan = (line: ContainerLine): line is Plan => line.event === 'plan';
const open = new Set(['queued', 'running', 'awaiting_reward']);

/** Allowed calls of a rollout that is sent once, given the container's behaviour. */
const triesOf = (plans: Plan[]): number =>
  Math.max(1, ...plans.map(({ fault }) => containerFault(fault)?.tries[1] ?? 1));

export const rolloutRules: Rule[] = [
  perJob(
    'nothing is lost: every seed has its row and every row its outcome',
    (job) => [
      ...job.rollouts.filter(({ status }) => open.has(status)).map(({ id, status }) => `${id} is ${status}`),
      ...(job.kind === 'evaluation' &&
      job.status === 'completed' &&
      same(job.rollouts.map(({ seed }) => seed)) !== same(job.seeds)
        ? [`${job.rollouts.length} rows for ${job.seeds.length} seeds`]
        : []),
      ...(job.status === 'completed'
        ? job.rollouts.filter(({ status }) => status === 'cancelled').map(({ id }) => `${id} is cancelled`)
        : []),
    ],
    'loss',
  ),
  perJob(
    'a rollout whose outcome is recorded is not sent again',
    (job) => {
      const recorded = new Map(
        job.rollouts.filter(hasOutcome).map(({ id, completedAt }) => [id, completedAt ?? Infinity]),
      );
      return job.container
        .filter(isIn)
        .filter(({ at, rolloutId }) => at > (recorded.get(rolloutId) ?? Infinity))
        .map(({ rolloutId, attempt }) => `${rolloutId} was sent again (call ${attempt}) after its outcome`);
    },
    'purchase',
  ),
  perJob('a rollout is sent again at most once for each kill', (job, { kills }) => {
    const calls = grouped(job.container.filter(isIn), ({ rolloutId }) => rolloutId);
    const plans = grouped(job.container.filter(isPlan), ({ rolloutId }) => rolloutId);
    return job.rollouts.flatMap(({ id, resent, attempt }) => {
      const sent = calls.get(id)?.length ?? 0;
      const most = (1 + resent) * triesOf(plans.get(id) ?? []);
      return [
        ...(resent <= kills.length ? [] : [`${id} counts as sent again ${resent} times after ${kills.length} kills`]),
        ...(sent <= most ? [] : [`${id} was sent ${sent} times, its row explains ${most}`]),
        ...(attempt >= resent + (sent > 0 ? 1 : 0) ? [] : [`${id} has ${attempt} attempts, ${resent} of them again`]),
      ];
    });
  }),
  perJob('rollouts_resent is what the rows and the ledger say', (job, { kills }) => {
    const calls = grouped(job.container.filter(isIn), ({ rolloutId }) => rolloutId);
    const sum = job.rollouts.reduce((total, { resent }) => total + resent, 0);
    const unsent = job.rollouts.reduce(
      (total, { id, resent }) => total + Math.max(0, resent - Math.max(0, (calls.get(id)?.length ?? 0) - 1)),
      0,
    );
    // A claim committed at the moment of a kill counts as sent although nothing was sent. No ledger
    // shows rollouts that the service runs itself.
    const most = !job.hasContainer ? Infinity : kills.length * job.maxConcurrent;
    return [
      ...(sum === job.resent ? [] : [`it says ${job.resent}, the rows ${sum}`]),
      ...(unsent <= most ? [] : [`${unsent} of ${sum} were not sent again at all`]),
    ];
  }),
  perJob('max_concurrent holds, but for what a dead worker had in flight', (job, { kills }) => {
    const deaths = kills.filter(({ worker }) => worker).map(({ at }) => at);
    const inFlight = new Map<string, number>();
    const broken: string[] = [];
    for (const line of job.container) {
      if (line.event === 'out') inFlight.delete(`${line.rolloutId}:${line.attempt}`);
      if (!isIn(line)) continue;
      inFlight.set(`${line.rolloutId}:${line.attempt}`, line.at);
      const died = Math.max(0, ...deaths.filter((at) => at <= line.at));
      const alive = [...inFlight.values()].filter((at) => at >= died).length;
      if (alive > job.maxConcurrent)
        broken.push(`${alive} at once with ${line.rolloutId}, ${job.maxConcurrent} allowed`);
    }
    return broken;
  }),
  perJob('a recorded reward is one that the container gave for this rollout', (job) => {
    if (!job.hasContainer) return [];
    const given = new Map<string, number[]>();
    for (const line of job.container) {
      if (line.event === 'answer') given.set(line.rolloutId, [...(given.get(line.rolloutId) ?? []), line.reward]);
    }
    return job.rollouts
      .filter(({ status, id, reward }) => status === 'succeeded' && !given.get(id)?.includes(reward ?? NaN))
      .map(({ id, reward }) => `${id} has ${reward}; given: ${given.get(id)?.join(', ') ?? 'none'}`);
  }),
  perJob('each finished rollout of a search is in one sensor frame', ({ kind, frames, rollouts }) => {
    const searches = kind === 'session' || kind === 'graph';
    const finished = new Set(searches ? rollouts.filter(hasOutcome).map(({ id }) => id) : []);
    const named = frames.flatMap(({ traces }) => traces);
    const counted = frames.reduce((sum, { count }) => sum + count, 0);
    return [
      ...named.filter((id, index) => named.indexOf(id) < index).map((id) => `${id} is in two frames`),
      ...named.filter((id) => !finished.has(id)).map((id) => `${id} is in a frame and has not ended`),
      ...(counted === finished.size ? [] : [`the frames are of ${counted} rollouts, ${finished.size} have ended`]),
    ];
  }),
  perJob('results, archive and database agree', (job) => [...resultsDiffer(job), ...tracesDiffer(job)]),
];

function resultsDiffer({ results, rollouts }: JobEvidence): string[] {
  if (!results) return [];
  const expected = rollouts.filter(hasOutcome).map(({ id, seed, status, reward, message }) => ({
    traceId: id,
    seed,
    status,
    reward: status === 'succeeded' ? reward : null,
    error: message,
  }));
  return same(results) === same(expected) ? [] : ['its results are not what the rows say'];
}

function tracesDiffer({ traces, rollouts, calls }: JobEvidence): string[] {
  const callsOf = grouped(calls, ({ rolloutId }) => rolloutId ?? '');
  const found = new Map(traces.map((trace) => [trace.id, trace]));
  const started = rollouts.filter(({ status, began }) => status !== 'queued' && (status !== 'cancelled' || began));
  return [
    ...(found.size === traces.length && traces.length === started.length
      ? []
      : [`the archive has ${traces.length} traces of ${started.length} rollouts that began`]),
    ...started.flatMap(({ id, status, reward, resent }) => {
      const ids = (callsOf.get(id) ?? []).map((call) => call.id);
      const trace = found.get(id);
      const agree =
        trace &&
        same([trace.status, trace.reward, trace.resent]) === same([status, reward, resent]) &&
        same([...trace.calls].sort()) === same(ids.sort());
      return agree ? [] : [`the trace of ${id} is not what its row says`];
    }),
  ];
}
