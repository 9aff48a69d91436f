/** Parts of responses that jobs with a search share. */
import type { z } from 'zod';
import type { budgetViewSchema, plannedComparisonSchema } from '../../contracts/search.js';
import { phaseOfSearch } from '../../core/jobs/phase.js';
import { isTerminal } from '../../core/jobs/status.js';
import type { SearchSettings } from '../../core/algorithms/index.js';
import { rowsForTenth } from '../../core/math/least-shown.js';
import { plannedComparison } from '../../core/search/comparison.js';
import type { BudgetSpec } from '../../core/jobs/spec.js';
import { costBudgetView, phaseView } from '../../jobs/routes/view.js';
import type { CostBudget } from '../../jobs/store/cost-budget.js';
import type { JobRow } from '../../jobs/store/jobs.js';

type SearchJob = Pick<JobRow, 'projection'>;
type BudgetJob = Pick<
  JobRow<{ search: Pick<SearchSettings, 'maxRollouts'>; budget: BudgetSpec }>,
  'spec' | 'status' | 'rolloutsCompleted'
>;

/** The state of a search's budgets. */
export function budgetView(
  { spec: { search, budget }, status, rolloutsCompleted }: BudgetJob,
  cost: CostBudget | null,
): z.output<typeof budgetViewSchema> {
  const { maxRollouts } = search;
  return {
    max_rollouts: maxRollouts,
    unspent_rollouts: maxRollouts !== null && isTerminal(status) ? Math.max(0, maxRollouts - rolloutsCompleted) : null,
    max_minutes: budget.maxMinutes,
    ...costBudgetView(cost),
  };
}

/** The phase of an open search. */
export const searchPhaseView = (job: Pick<JobRow, 'status' | 'projection' | 'sinceStep'>) =>
  phaseView(job, phaseOfSearch(job.projection.phase, job.sinceStep));

/** The best measured reward. */
export function bestView({ projection: { bestReward = null, bestInterval = null } }: SearchJob) {
  return { best_reward: bestReward, best_reward_interval: bestInterval };
}

/** The estimated reward of the most promising candidate. */
export function estimateView({ projection: { estimate } }: SearchJob) {
  return {
    estimated_reward: estimate?.reward ?? null,
    estimated_reward_interval: estimate ? { low: estimate.low, high: estimate.high } : null,
    estimated_candidate_id: estimate?.candidateId ?? null,
  };
}

/** The comparison of winner and baseline. */
export type Planned = z.output<typeof plannedComparisonSchema>;

/** What the comparison will be able to show. */
export function plannedView(search: SearchSettings): Planned {
  const { basis, seeds, leastDifference } = plannedComparison(search);
  return { basis, seeds, least_difference: leastDifference, seeds_for_tenth: rowsForTenth };
}

export function outcomeView({ projection: { verdict, noise, evaluationRollouts, nothingLeft } }: SearchJob) {
  return {
    nothing_left: nothingLeft ?? null,
    verdict: verdict?.verdict ?? null,
    comparison: verdict
      ? {
          basis: verdict.basis,
          seeds: verdict.seeds,
          baseline_reward: verdict.baseline,
          winner_reward: verdict.winner,
          baseline_interval: verdict.baselineInterval,
          winner_interval: verdict.winnerInterval,
          difference: verdict.difference,
          interval: { low: verdict.low, high: verdict.high },
          rows_needed: verdict.rowsNeeded,
        }
      : null,
    noise_floor: noise
      ? {
          rollout_sd: noise.sd,
          comparisons: noise.comparisons,
          reward_se: noise.sd / Math.sqrt(evaluationRollouts ?? 1),
        }
      : null,
  };
}

/** The best rewards of a search. */
export function historyView({ projection: { history = [] } }: SearchJob) {
  return history.map(({ generation, bestReward }) => ({ generation, best_reward: bestReward }));
}
