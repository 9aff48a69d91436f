/** What operators and HTTP see of a search by live traffic. */
import { compareIndependent, compareToZero } from '../../math/statistics.js';
import type { SearchView, Verdict } from '../../search/protocol.js';
import { commonView, conclude } from '../../search/view.js';
import { rolloutsAhead } from './budget.js';
import type { Evaluated, UnpairedState } from './state.js';

/**
 * `estimate` is the incumbent's evaluation, which was fresh: its test does not flatter it. `bestReward` is the greatest mean
 * of an evaluation so far. There is no `noise`: nobody knows which calls are equal.
 */
export function viewUnpaired(state: UnpairedState): SearchView {
  const { incumbent } = state;
  return {
    ...commonView(state, rolloutsAhead(state)),
    bestCandidate: incumbent?.candidate ?? null,
    bestReward: state.bestReward,
    estimate: incumbent === null ? null : estimateOf(incumbent),
    noise: null,
    verdict: state.phase.name === 'done' ? verdictOf(state) : null,
  };
}

function estimateOf({ candidate, sample }: Evaluated): NonNullable<SearchView['estimate']> | null {
  if (sample.count < 2) return null;
  const { difference: reward, low, high } = compareToZero(sample);
  return { candidate, reward, low, high };
}

/**
 * The winner against the baseline, as independent samples; a baseline that won is no better than itself. Held-out calls come
 * from one period; without them the two evaluations are compared, each fresh, but the baseline's from the beginning of
 * the search: what traffic drifted meanwhile is in the difference. `seeds` counts the calls of each.
 */
function verdictOf({ baseline, incumbent, heldout }: UnpairedState): Verdict | null {
  if (baseline === null || incumbent === null) return null;
  const compared = heldout ?? { baseline, winner: incumbent.sample };
  const comparison =
    incumbent.candidate === 0
      ? { difference: 0, low: 0, high: 0 }
      : compareIndependent(compared.winner, compared.baseline);
  return {
    ...conclude(comparison),
    basis: heldout ? 'heldout' : 'evaluation',
    seeds: compared.winner.count,
    baseline: compared.baseline.mean,
    winner: compared.winner.mean,
  };
}
