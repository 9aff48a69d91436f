import { isTerminalEvent } from '../../../src/contracts/events/schema.js';
import type { JobEvidence, SeenEvent } from '../evidence/evidence.js';
import { grouped, hasOutcome, perJob, same, type Rule } from './rule.js';

const shown = ({ seq, type, message, data }: SeenEvent) => same({ seq, type, message, data });
const rolloutEvents = new Set(['rollout_completed', 'eval.policy.seed.completed']);

/** First difference between two lists of events. */
function difference(what: string, found: SeenEvent[], job: JobEvidence): string[] {
  const at = job.events.findIndex((event, i) => !found[i] || shown(event) !== shown(found[i]));
  if (at !== -1) return [`${what}: event ${at + 1} is ${found[at] ? shown(found[at]) : 'missing'}`];
  return found.length > job.events.length
    ? [`${what}: ${found.length} events, the table has ${job.events.length}`]
    : [];
}

export const eventRules: Rule[] = [
  perJob(
    'events are 1..N, once, without gaps',
    (job) => [
      ...job.events.flatMap((event, i) => (event.seq === i + 1 ? [] : [`event ${i + 1} has seq ${event.seq}`])),
      ...[...grouped(job.events, (event) => event.key)].flatMap(([key, all]) =>
        all.length > 1 ? [`${key} is there ${all.length} times`] : [],
      ),
      ...(job.eventSeq === job.events.length
        ? []
        : [`the counter says ${job.eventSeq} of ${job.events.length} events`]),
    ],
    'loss',
  ),
  perJob(
    'every reader of the stream saw exactly the events',
    (job) =>
      job.streams.flatMap(({ reader, events, ended }) => [
        ...difference(`the reader ${reader}`, events, job),
        ...(ended ? [] : [`the reader ${reader} was not told that there is nothing more`]),
      ]),
    'loss',
  ),
  perJob('the pages of JSON are exactly the events', (job) => difference('the pages', job.pages, job)),
  perJob(
    'each rollout has one outcome and one event of it',
    (job) => {
      const outcomeEvents = grouped(
        job.events.filter(({ type }) => rolloutEvents.has(type)),
        ({ data }) => String(data['rollout_id']),
      );
      const rows = new Map(job.rollouts.map((row) => [row.id, row]));
      return [
        ...job.rollouts
          .filter(hasOutcome)
          .flatMap(({ id }) => (outcomeEvents.has(id) ? [] : [`${id} has an outcome, no event`])),
        ...[...outcomeEvents].flatMap(([id, events]) => {
          const row = rows.get(id);
          if (events.length > 1) return [`${id} has ${events.length} outcomes`];
          const { status, reward } = events[0]!.data;
          if (row && row.status === status && (row.reward ?? null) === (reward ?? null)) return [];
          return [`${id} was ${status} ${reward} in its event and is ${row?.status} ${row?.reward} in its row`];
        }),
      ];
    },
    'loss',
  ),
  perJob('one terminal event, the last, says how the job ended', (job) => {
    const ends = job.events.filter(({ type }) => isTerminalEvent(type));
    const last = job.events.at(-1);
    const says = `${last?.type}`.replace(/^.*[._]/, '').replace(/^complete$/, 'completed');
    return ends.length === 1 && ends[0] === last && says === job.status
      ? []
      : [`it is ${job.status}, its last event ${last?.type}, terminal ones: ${ends.length}`];
  }),
];
