/** What is seen alike of both searches of sessions, by seeds and by live traffic. */
import type { Comparison } from '../math/statistics.js';
import type { CandidateSummary, SearchView, Verdict } from './protocol.js';
import type { Budgeted } from './budget.js';
import { evaluationRollouts, type SearchConfig } from './config.js';

interface Viewed extends Budgeted {
  config: SearchConfig & { generations: number };
  generation: number;
  answered: number;
  candidates: CandidateSummary[];
  history: number[];
}

/** The part of a view that does not depend on how candidates are compared; `ahead` is how many rollouts may follow. */
export function commonView(state: Viewed, ahead: number) {
  const { config } = state;
  return {
    generation: state.generation,
    totalGenerations: config.generations,
    rolloutsPlanned: state.asked + ahead,
    rolloutsCompleted: state.answered,
    maxRollouts: config.maxRollouts,
    evaluationRollouts: evaluationRollouts(config),
    candidates: state.candidates,
    history: state.history.map((bestReward, generation) => ({ generation, bestReward })),
  } satisfies Partial<SearchView>;
}

/** A comparison, and what its interval says of the winner. */
export function conclude(comparison: Comparison): Pick<Verdict, 'verdict' | 'difference' | 'low' | 'high'> {
  const { difference, low, high } = comparison;
  return { verdict: low > 0 ? 'better' : high < 0 ? 'worse' : 'not_significantly_better', difference, low, high };
}
