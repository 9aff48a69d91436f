/** What operators and HTTP see of a MIPRO search. */
import { mean } from '../../math/rewards.js';
import { compareIndependent, comparePaired, sampleOf } from '../../math/statistics.js';
import { commonView, conclude } from '../../search/view.js';
import { measuredOn, noiseOf } from '../../search/results.js';
import type { SearchView, Verdict } from '../../search/protocol.js';
import { rewardModelOf } from './reward-model.js';
import { rolloutsAhead } from './budget.js';
import { generationsOf } from './config.js';
import { evaluationOf, leaderOf } from './generation.js';
import type { MiproState } from './state.js';

/** `rolloutsPlanned` is what was asked for and the most that is likely to follow; it meets `rolloutsCompleted` at the end. */
export function viewMipro(state: MiproState): SearchView {
  const { best, config } = state;
  const { variance, comparisons } = noiseOf(state.results);
  const isKnown = comparisons > 0 && state.traffic === 'paired';
  return {
    ...commonView({ ...state, config: { ...config, generations: generationsOf(config) } }, rolloutsAhead(state)),
    bestCandidate: best?.candidate ?? null,
    bestReward: best?.reward ?? null,
    estimate: best === null ? null : estimate(state),
    noise: isKnown ? { sd: Math.sqrt(variance), comparisons } : null,
    verdict: state.phase.name === 'done' ? verdictOf(state) : null,
  };
}

/** What is expected of the most promising candidate, with what the seeds on which it was not run itself leave open. */
function estimate(state: MiproState): NonNullable<SearchView['estimate']> | null {
  if (state.traffic === 'unpaired') return null;
  const model = rewardModelOf(state);
  const candidate = leaderOf(state, model);
  const { evaluationSeeds } = state.config;
  const known = model.mean(candidate, evaluationSeeds);
  if (known === null) return null;
  const own = evaluationSeeds.filter((seed) => measuredOn(state.results, candidate, seed).length > 0).length;
  const reach = 1.96 * known.error * Math.sqrt(1 - own / evaluationSeeds.length);
  return { candidate, reward: known.mean, low: known.mean - reach, high: known.mean + reach };
}

/**
 * The winner against the baseline, on what was held out where there is any; a baseline that won is no better than itself. Of
 * live traffic that names no instance two samples are compared.
 */
function verdictOf(state: MiproState): Verdict | null {
  const { best, config, heldout, traffic } = state;
  if (best === null) return null;
  const means = (candidate: number) => {
    const rewards = evaluationOf(state, candidate);
    const repeats = config.repeats;
    return config.evaluationSeeds.map((_, index) => mean(rewards.slice(index * repeats, (index + 1) * repeats))!);
  };
  const { baseline, winner } = heldout ?? { baseline: means(0), winner: means(best.candidate) };
  const isSame = best.candidate === 0;
  const comparison =
    traffic === 'paired' || isSame
      ? comparePaired(winner, baseline)
      : compareIndependent(sampleOf(winner), sampleOf(baseline));
  return {
    ...conclude(comparison),
    basis: heldout ? 'heldout' : 'evaluation',
    seeds: winner.length,
    baseline: mean(baseline)!,
    winner: mean(winner)!,
  };
}
