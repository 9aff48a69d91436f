import { endEvents, evaluationResults } from '../../src/core/events/jobs.js';
import { evaluationRequests } from '../../src/core/jobs/evaluation.js';
import { costBudgetExhausted, noOutcomes } from '../../src/core/jobs/failures.js';
import type { JobFault } from '../../src/core/jobs/fault.js';
import { unitOf, type Unit } from '../../src/core/jobs/unit.js';
import { counted } from '../../src/core/math/words.js';
import { progressOfEvaluation } from '../../src/core/jobs/progress.js';
import type { EvaluationSpec } from '../../src/core/jobs/spec.js';
import { addCandidate, type NewCandidate } from '../../src/candidates/store/candidates.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { planRollouts } from '../../src/rollouts/store/rollouts.js';
import { intervalOfTotals, readTotals } from '../../src/rollouts/store/totals.js';
import { startEvaluation } from '../drive/evaluation.js';
import { baseline, endedAs, type KindActivities } from './kind.js';

export const evaluationActivities: KindActivities<EvaluationSpec> = {
  models: ({ policy }) => [{ policy, field: 'policy.model' }],
  startEvents: () => [],

  async begin(tx, job, spec) {
    const { candidate, seeds } = spec;
    await Promise.all([
      candidate && addCandidate(tx, job, baselineOf(candidate)),
      planRollouts(tx, job, evaluationRequests(seeds), candidate !== null),
    ]);
    return progressOfEvaluation(noOutcomes, seeds.length, unitOf(spec));
  },

  drive: startEvaluation,

  async end(tx, job, { spec, outcome }) {
    const { kind, seeds } = spec;
    const totals = await evaluationTotals(tx, job, seeds.length);
    const error = outcome.error && withProgress(outcome.error, totals, unitOf(spec));
    const events = endEvents(kind, endedAs(outcome.status, error), {
      note: `mean reward ${totals.meanReward ?? 'none'}`,
      data: evaluationResults(totals),
    });
    return { error, events };
  },
};

function baselineOf({ messages, demos }: NonNullable<EvaluationSpec['candidate']>): NewCandidate {
  return { ...baseline, messages, ...(demos && { demos }) };
}

/** The ends by a limit, whose results so far count. */
const limits = new Set(['timeout', costBudgetExhausted]);

/** Adds how far it was to the end by a limit. */
function withProgress(error: JobFault, { succeeded, failed, total }: Totals, unit: Unit): JobFault {
  if (!limits.has(error.code)) return error;
  return { ...error, message: `${error.message} ${succeeded + failed} of ${counted(total, unit)} have a result.` };
}

type Totals = Awaited<ReturnType<typeof evaluationTotals>>;

/** `total` comes from the request: a job that fails early has no rollouts. */
async function evaluationTotals(tx: Tx, job: JobRef, total: number) {
  const totals = await readTotals(tx, job.jobId);
  const { succeeded, failed, meanReward } = totals;
  return { total, succeeded, failed, meanReward, interval: intervalOfTotals(totals) };
}
