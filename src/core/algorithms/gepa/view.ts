import { testsOf } from '../../search/acceptance-tests.js';
import { evaluationMeans } from '../../search/evaluation.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { Batch } from '../../search/batch.js';
import type { CandidateTest, SearchView } from '../../search/protocol.js';
import { estimateOfCandidate, noiseView, searchView, verdictBySeeds } from '../../search/view.js';
import { rolloutsAhead } from './budget.js';
import { forecast } from './forecast.js';
import { nothingLeft } from './generation.js';
import { incumbentOf } from './pool.js';
import type { GepaState, RoundPhase } from './state.js';

export function viewGepa(state: GepaState): SearchView {
  const { best, config, phase } = state;
  return searchView(state, {
    totalGenerations: config.generations,
    rolloutsAhead: rolloutsAhead(state),
    best,
    estimate: best === null ? null : estimate(state),
    noise: noiseView(state.results),
    ...(phase.name === 'round' && phase.batches.gate && { tests: testsIn(state, phase, phase.batches.gate) }),
    verdict: () => verdictBySeeds(state, (candidate) => evaluationMeans(state, candidate)),
    nothingLeft: () => nothingLeft(state),
  });
}

/** Seeds explored for the next cohort also test the candidate that it begins from. */
function testsIn(state: GepaState, { tests, batches }: RoundPhase, gate: Batch): CandidateTest[] {
  const open = tests.map(({ candidate }) => candidate);
  return testsOf(state, gate, open, batches.minibatch);
}

function estimate(state: GepaState): NonNullable<SearchView['estimate']> {
  const model = rewardModelOf(state);
  const candidate = incumbentOf(state, model);
  return estimateOfCandidate(state, candidate, () => forecast(state, model, candidate));
}
