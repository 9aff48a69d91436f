import { testPaired, compareUnpaired } from '../../math/statistics.js';
import { testsOf } from '../../search/acceptance-tests.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { evaluationMeans } from '../../search/evaluation.js';
import type { SearchView } from '../../search/protocol.js';
import { estimateOfCandidate, noiseView, searchView, verdictBySeeds } from '../../search/view.js';
import { rolloutsAhead } from './budget.js';
import { generationsOf } from './config.js';
import { estimateOf } from './estimate.js';
import { leaderOf } from './expected-reward.js';
import type { MiproState } from './state.js';

export function viewMipro(state: MiproState): SearchView {
  const { best, config, phase, traffic } = state;
  const isPaired = traffic === 'paired' || best?.candidate === 0;
  const compare = isPaired ? testPaired : compareUnpaired;
  const meansOf = (candidate: number) => evaluationMeans(state, candidate, state.evaluatedAt[candidate]);
  return searchView(state, {
    // Without a number of trials it is a guess.
    totalGenerations: Math.max(state.generation, generationsOf(config)),
    rolloutsAhead: rolloutsAhead(state),
    best,
    estimate: best === null ? null : estimate(state),
    noise: traffic === 'paired' ? noiseView(state.results) : null,
    ...(traffic === 'paired' && phase.name === 'gate' && { tests: testsOf(state, phase.batches.gate!, phase.trying) }),
    verdict: () => verdictBySeeds(state, meansOf, compare),
  });
}

/** The leader's expected mean. */
function estimate(state: MiproState): NonNullable<SearchView['estimate']> | null {
  if (state.traffic === 'unpaired') return null;
  const model = rewardModelOf(state);
  const candidate = leaderOf(state, model);
  return estimateOfCandidate(state, candidate, () => estimateOf(state, model, candidate));
}
