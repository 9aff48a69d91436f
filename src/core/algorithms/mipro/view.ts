import { compareIndependent, comparePaired, sampleOf } from '../../math/statistics.js';
import { testsOf } from '../../search/acceptance-tests.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { evaluationMeans } from '../../search/evaluation.js';
import type { SearchView } from '../../search/protocol.js';
import { measuredOn } from '../../search/results.js';
import { noiseView, searchView, verdictBySeeds } from '../../search/view.js';
import { rolloutsAhead } from './budget.js';
import { generationsOf } from './config.js';
import { leaderOf } from './expected-reward.js';
import type { MiproState } from './state.js';
import { firstTrials } from './trials.js';

export function viewMipro(state: MiproState): SearchView {
  const { best, config, phase, traffic } = state;
  const isPaired = traffic === 'paired' || best?.candidate === 0;
  const compare = isPaired
    ? comparePaired
    : (winner: readonly number[], baseline: readonly number[]) =>
        compareIndependent(sampleOf(winner), sampleOf(baseline));
  const meansOf = (candidate: number) => evaluationMeans(state, candidate, state.evaluatedAt[candidate]);
  return searchView(state, {
    totalGenerations: generationsOf(config),
    rolloutsAhead: rolloutsAhead(state),
    best,
    estimate: best === null ? null : estimate(state),
    noise: traffic === 'paired' ? noiseView(state.results) : null,
    ...(traffic === 'paired' &&
      phase.name === 'gate' && { tests: testsOf(state, phase.batch, firstTrials(state, phase)) }),
    verdict: () => verdictBySeeds(state, meansOf, compare),
  });
}

/** The leader's expected mean; seeds without own results widen the interval. */
function estimate(state: MiproState): NonNullable<SearchView['estimate']> | null {
  if (state.traffic === 'unpaired') return null;
  const model = rewardModelOf(state);
  const candidate = leaderOf(state, model);
  const { evaluationSeeds } = state.config;
  const expected = model.mean(candidate, evaluationSeeds);
  if (expected === null) return null;
  const own = evaluationSeeds.filter((seed) => measuredOn(state.results, candidate, seed).length > 0).length;
  const reach = 1.96 * expected.error * Math.sqrt(1 - own / evaluationSeeds.length);
  return { candidate, reward: expected.mean, low: expected.mean - reach, high: expected.mean + reach };
}
