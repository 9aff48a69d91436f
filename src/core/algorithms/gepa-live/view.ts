import { meanInterval } from '../../math/mean-interval.js';
import { compareIndependent } from '../../math/statistics.js';
import type { SearchVerdict, SearchView } from '../../search/protocol.js';
import { noDifference, searchView, verdictOf } from '../../search/view.js';
import { rolloutsAhead } from './budget.js';
import type { CandidateSample, UnpairedState } from './state.js';

/** There is no `noise`: equal calls cannot be recognized. */
export function viewUnpaired(state: UnpairedState): SearchView {
  const { incumbent, bestReward } = state;
  return searchView(state, {
    totalGenerations: state.config.generations,
    rolloutsAhead: rolloutsAhead(state),
    best: incumbent && { candidate: incumbent.candidate, reward: bestReward! },
    estimate: incumbent && estimateOf(incumbent),
    noise: null,
    verdict: () => verdict(state),
  });
}

/** The incumbent's evaluation: its rollouts were not used to accept it, so it is unbiased. */
function estimateOf({ candidate, sample }: CandidateSample): NonNullable<SearchView['estimate']> | null {
  if (sample.count === 0) return null;
  const { mean: reward, low, high } = meanInterval(sample);
  return { candidate, reward, low, high };
}

/**
 * The winner against the baseline, as independent samples; `seeds` counts the calls of each.
 * Without held-out calls, the difference includes the drift of traffic between the evaluations.
 */
function verdict({ baseline, incumbent, heldout }: UnpairedState): SearchVerdict | null {
  if (baseline === null || incumbent === null) return null;
  const compared = heldout ?? { baseline, winner: incumbent.sample };
  const isBaseline = incumbent.candidate === 0;
  const comparison = isBaseline ? noDifference : compareIndependent(compared.winner, compared.baseline);
  return verdictOf(comparison, { basis: heldout ? 'heldout' : 'evaluation', ...compared });
}
