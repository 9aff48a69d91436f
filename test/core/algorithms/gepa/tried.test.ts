import { expect, test } from '@jest/globals';
import { rewardModelOf } from '../../../../src/core/search/model-cache.js';
import { createGepa, type GepaState } from '../../../../src/core/algorithms/gepa/state.js';
import { gepaDefaults } from '../../../../src/core/algorithms/gepa/config.js';
import { withHistory } from '../../../../src/core/algorithms/gepa/tried.js';
import type { CandidateSummary, ProposalRequest } from '../../../../src/core/search/protocol.js';

const seeds = [0, 1, 2, 3];
const config = { ...gepaDefaults, trainSeeds: seeds, evaluationSeeds: [9], minibatchSize: 2, generations: 9 };
const begun = createGepa({ ...config, populationSize: 1, maxRollouts: 99, rngSeed: 1 });
const child = (candidate: number, status: CandidateSummary['status'], parents = [0]): CandidateSummary => {
  return { candidate, parents, generation: candidate, status, reward: null };
};
const state: GepaState = {
  ...begun,
  candidates: [
    ...begun.candidates,
    child(1, 'rejected'),
    child(2, 'proposed'),
    child(3, 'proposed', [1]),
    child(4, 'proposed'),
  ],
  results: {
    0: { 0: [[10, 1]], 1: [[11, 0]], 2: [[12, 1]], 3: [[13, 1]] },
    1: { 0: [[20, 0]], 1: [[21, 0]] },
    2: { 1: [[22, 1]] },
  },
};
const request: ProposalRequest = { kind: 'rewrite', candidate: 5, parent: 0, generation: 5, ordinals: [11] };
const historyOf = (changes: Partial<ProposalRequest>) =>
  withHistory(state, rewardModelOf(state), { ...request, ...changes });

test('a question has three rollouts that the parent gets right, and its children with their results', () => {
  const { solved, tried } = historyOf({});
  expect(solved!.toSorted()).toEqual([10, 12, 13]);
  expect(tried).toEqual([
    { candidate: 4, status: 'proposed', gain: null, seeds: 0 },
    { candidate: 2, status: 'proposed', gain: 1, seeds: 1 },
    { candidate: 1, status: 'rejected', gain: -0.5, seeds: 2 },
  ]);
  expect(historyOf({})).toEqual(historyOf({}));
});

test('the solved rollouts differ between candidates, and only rewrites have a history', () => {
  const drawn = new Set([5, 6, 7, 8, 9].map((candidate) => JSON.stringify(historyOf({ candidate }).solved)));
  expect(drawn.size).toBeGreaterThan(1);
  for (const other of [{ kind: 'edit' }, { approach: 'compress' }] as const)
    expect(historyOf(other)).toEqual({ ...request, ...other });
});
