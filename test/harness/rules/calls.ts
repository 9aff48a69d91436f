import type { JobEvidence } from '../evidence/evidence.js';
import { askOf } from '../jobs/keys.js';
import { modelFault } from '../faults/model.js';
import { grouped, perJob, type Rule } from './rule.js';

/** Tolerance between a record's time stamp and its commit, and between records and ledger. */
const betweenMs = 250;

/** Tries of one proposer request. */
const triesOfProposal = 3;

/**
 * A container expects one answer to each of its requests. Several candidates can share one proposer
 * request; an unusable answer for one of them is recorded only as a failed proposal.
 */
const isProposal = (key: string): boolean => !key.startsWith('job=');
const failedProposals = ({ events }: JobEvidence): number =>
  events.filter(({ type }) => type === 'proposal_failed').length;

export const callRules: Rule[] = [
  perJob(
    'a model answer that is recorded is not bought again',
    (job) => {
      // Calls of the service itself can share an answer; graphs.ts counts them.
      if (!job.hasContainer && job.kind !== 'deployment') return [];
      const recorded = grouped(
        job.calls.filter(({ httpStatus }) => httpStatus < 300),
        ({ key }) => key,
      );
      const calls = job.bought.filter(({ event }) => event === 'in');
      return [...grouped(calls, ({ key }) => key)].flatMap(([key, lines]) => {
        const one = recorded.get(askOf(key))?.at(isProposal(key) ? -1 : 0);
        const again = one ? lines.filter(({ at }) => at > one.createdAt + betweenMs) : [];
        const excused = isProposal(key) ? failedProposals(job) * triesOfProposal : 0;
        return again
          .slice(excused)
          .map(({ at }) => `asked again ${Math.round(at - one!.createdAt)} ms after its record: ${key}`);
      });
    },
    'purchase',
  ),
  perJob('a model call is bought again at most once for each kill', (job, { kills }) => {
    if (!job.hasContainer && job.kind !== 'deployment') return [];
    const bought = grouped(
      job.bought.filter(({ event, fault }) => event === 'in' && passes(fault)),
      ({ key }) => key,
    );
    const recorded = grouped(
      job.calls.filter(({ httpStatus }) => httpStatus < 300),
      ({ key }) => key,
    );
    return [...bought].flatMap(([key, { length }]) => {
      const failed = isProposal(key) ? failedProposals(job) : 0;
      const most = Math.max(1, (recorded.get(askOf(key))?.length ?? 0) + failed) + kills.length;
      return length <= most ? [] : [`bought ${length} times: ${key}`];
    });
  }),
  perJob(
    'a whole answer that the container got is recorded',
    (job) => {
      const known = new Set(
        job.calls
          .filter(({ httpStatus }) => httpStatus < 300)
          .map(({ rolloutId, text }) => `${rolloutId}\0${text ?? ''}`),
      );
      return job.container.flatMap((line) =>
        line.event === 'asked' && line.text !== null && !known.has(`${line.rolloutId}\0${line.text}`)
          ? [`not recorded: "${line.text}" for ${line.rolloutId}`]
          : [],
      );
    },
    'loss',
  ),
  perJob('what the model answered wrongly is recorded as no answer', (job) => {
    const wrong = new Set(
      job.bought.flatMap(({ event, key, fault }) => (event === 'in' && !passes(fault) ? [askOf(key)] : [])),
    );
    const good = grouped(
      job.bought.filter(({ event, fault }) => event === 'in' && passes(fault)),
      ({ key }) => askOf(key),
    );
    const recorded = grouped(
      job.calls.filter(({ httpStatus, key }) => httpStatus < 300 && wrong.has(key)),
      ({ key }) => key,
    );
    return [...recorded].flatMap(([key, { length }]) =>
      length <= (good.get(key)?.length ?? 0) ? [] : [`${length} answers recorded, fewer were given: ${key}`],
    );
  }),
];

const passes = (fault: string): boolean => modelFault(fault)?.whole ?? true;
