/** What operators and HTTP see of a GEPA search. */
import type { SearchView, Verdict } from '../work.js';
import { mean } from '../scores.js';
import { comparePaired } from '../statistics.js';
import { rolloutsAhead } from './budget.js';
import { evaluationRollouts, repeatsOf } from './config.js';
import { beliefsOf, estimateOf, incumbentOf } from './generation.js';
import { measuredOn, noiseOf } from './results.js';
import type { GepaState } from './state.js';

/** `rolloutsPlanned` is what was asked for and the most that is likely to follow; it meets `rolloutsCompleted` at the end. */
export function viewGepa(state: GepaState): SearchView {
  const { config, best } = state;
  const { variance, comparisons } = noiseOf(state.results);
  return {
    generation: state.generation,
    totalGenerations: config.generations,
    bestCandidate: best?.candidate ?? null,
    bestReward: best?.reward ?? null,
    rolloutsPlanned: state.asked + rolloutsAhead(state),
    rolloutsCompleted: state.answered,
    maxRollouts: config.maxRollouts,
    estimate: best === null ? null : estimate(state),
    noise: comparisons === 0 ? null : { sd: Math.sqrt(variance), comparisons },
    evaluationRollouts: evaluationRollouts(config),
    verdict: state.phase.name === 'done' ? verdictOf(state) : null,
    candidates: state.candidates,
    history: state.history.map((bestReward, generation) => ({ generation, bestReward })),
  };
}

function estimate(state: GepaState): NonNullable<SearchView['estimate']> {
  const beliefs = beliefsOf(state);
  const candidate = incumbentOf(state, beliefs);
  const { mean: reward, error } = estimateOf(state, beliefs, candidate);
  return { candidate, reward, low: reward - 1.96 * error, high: reward + 1.96 * error };
}

/** The winner against the baseline, on what was held out where there is any; a baseline that won is no better than itself. */
export function verdictOf(state: GepaState): Verdict | null {
  const { best, config, heldout } = state;
  if (best === null) return null;
  const means = (candidate: number) =>
    config.evaluationSeeds.map((seed) => {
      const measured = measuredOn(state.results, candidate, seed).slice(-repeatsOf(config));
      return mean(measured.map(([, reward]) => reward))!;
    });
  const { baseline, winner } = heldout ?? { baseline: means(0), winner: means(best.candidate) };
  const { difference, low, high } = comparePaired(winner, baseline);
  return {
    verdict: low > 0 ? 'better' : high < 0 ? 'worse' : 'not_significantly_better',
    basis: heldout ? 'heldout' : 'evaluation',
    seeds: winner.length,
    baseline: mean(baseline)!,
    winner: mean(winner)!,
    difference,
    low,
    high,
  };
}
