/** What operators and HTTP see of a GEPA search. */
import type { SearchView, Verdict } from '../../search/protocol.js';
import { mean } from '../../math/rewards.js';
import { comparePaired } from '../../math/statistics.js';
import { rolloutsAhead } from './budget.js';
import { commonView, conclude } from '../../search/view.js';
import { forecast } from './forecast.js';
import { rewardModelOf, incumbentOf } from './generation.js';
import { measuredOn, noiseOf } from '../../search/results.js';
import type { GepaState } from './state.js';

/** `rolloutsPlanned` is what was asked for and the most that is likely to follow; it meets `rolloutsCompleted` at the end. */
export function viewGepa(state: GepaState): SearchView {
  const { best } = state;
  const { variance, comparisons } = noiseOf(state.results);
  return {
    ...commonView(state, rolloutsAhead(state)),
    bestCandidate: best?.candidate ?? null,
    bestReward: best?.reward ?? null,
    estimate: best === null ? null : estimate(state),
    noise: comparisons === 0 ? null : { sd: Math.sqrt(variance), comparisons },
    verdict: state.phase.name === 'done' ? verdictOf(state) : null,
  };
}

function estimate(state: GepaState): NonNullable<SearchView['estimate']> {
  const model = rewardModelOf(state);
  const candidate = incumbentOf(state, model);
  const { mean: reward, low, high } = forecast(state, model, candidate);
  return { candidate, reward, low, high };
}

/** The winner against the baseline, on what was held out where there is any; a baseline that won is no better than itself. */
function verdictOf(state: GepaState): Verdict | null {
  const { best, config, heldout } = state;
  if (best === null) return null;
  const means = (candidate: number) =>
    config.evaluationSeeds.map((seed) => {
      const measured = measuredOn(state.results, candidate, seed).slice(-config.repeats);
      return mean(measured.map(([, reward]) => reward))!;
    });
  const { baseline, winner } = heldout ?? { baseline: means(0), winner: means(best.candidate) };
  return {
    ...conclude(comparePaired(winner, baseline)),
    basis: heldout ? 'heldout' : 'evaluation',
    seeds: winner.length,
    baseline: mean(baseline)!,
    winner: mean(winner)!,
  };
}
