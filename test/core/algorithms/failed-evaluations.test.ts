import { expect, test } from '@jest/globals';
import type { EmptyReason } from '../../../src/core/answers/ending.js';
import { gepa } from '../../../src/core/algorithms/gepa.js';
import type { RolloutRequest } from '../../../src/core/search/protocol.js';
import { config, drive, scoring, type World } from './gepa/driver.js';

type Rollout = World['rollout'];
function search(rollout: Rollout, more: object = {}, empty?: World['empty']) {
  const run = drive(config(more), { ...scoring(rollout), ...(empty && { empty }) });
  return { ...run, view: gepa.view(run.state) };
}
const inEvaluation = ({ candidate, stage }: RolloutRequest) => candidate > 0 && stage === 'evaluation';

test.each([null, 'infrastructure'] as const)('ends if every rollout of the baseline failed (%s)', (failed) => {
  const { end, proposals, decisions, view, requests } = search(() => failed);
  expect(end).toMatchObject({ kind: 'failed', code: 'baseline_failed' });
  expect(proposals).toEqual([]);
  expect(requests).toHaveLength(failed === null ? 6 : 18);
  expect(decisions.filter(({ type }) => type !== 'rollouts_repeated')).toEqual([]);
  expect(view).toMatchObject({ bestReward: null, bestCandidate: null, history: [] });
  expect(view.candidates.map(({ reward }) => reward)).toEqual([null]);
});

test.each<[EmptyReason, number, boolean]>([
  ['length', 4, true],
  ['content_filter', 6, true],
  ['refusal', 4, true],
  ['thoughts', 4, true],
  ['length', 3, false],
  ['nothing', 5, false],
  ['nothing', 6, true],
])('%s in %d of 6 answers of the baseline: ends the search: %s', (reason, count, ends) => {
  const empty: World['empty'] = ({ candidate, seed }) => (candidate === 0 && seed % 10 < count ? reason : undefined);
  const { end, proposals, requests } = search(() => 0, {}, empty);
  if (!ends) return expect(end.kind).toBe('done');
  expect(end).toMatchObject({
    kind: 'failed',
    code: 'answers_empty',
    message: expect.stringContaining(`${count} of 6`),
  });
  expect(proposals).toEqual([]);
  expect(requests).toHaveLength(6);
});

test('goes on with one successful rollout of the baseline', () => {
  const { decisions, end } = search(({ candidate, seed }) => (candidate > 0 || seed % 6 === 4 ? 0.5 : null));
  expect(end.kind).toBe('done');
  expect(decisions).toContainEqual(expect.objectContaining({ type: 'candidate_evaluated', reward: 0.5 / 6 }));
});

test('an evaluation without a successful rollout has no reward', () => {
  const disjoint = { trainSeeds: [0, 1, 2, 3, 4, 5], evaluationSeeds: [10, 11, 12, 13, 14, 15], maxRollouts: 200 };
  const { requests, decisions, view, end } = search(
    (request) => (inEvaluation(request) ? null : request.candidate === 0 ? 0 : 1),
    disjoint,
  );
  expect(requests.some(inEvaluation)).toBe(true);
  expect(end.kind).toBe('done');
  const rated = decisions.flatMap((decision) => (decision.type === 'candidate_evaluated' ? decision.candidate : []));
  expect(rated).toEqual([0]);
  expect(view).toMatchObject({ bestReward: 0, bestCandidate: 0 });
});

test('a seed that no judge can score has no part in estimates', () => {
  const { end, view, decisions } = search(
    ({ candidate, seed }) => (seed % 6 === 3 ? 'unverified' : Math.min(0.9, candidate / 20)),
    { trainSeeds: [0, 1, 2, 3, 4, 5], evaluationSeeds: [0, 1, 2, 3, 4, 5] },
  );
  expect(end.kind).toBe('done');
  const accepted = decisions.flatMap((decision) => (decision.type === 'candidate_accepted' ? decision.estimate : []));
  expect(accepted.length).toBeGreaterThan(0);
  for (const estimate of [...accepted, view.estimate!.reward]) expect(estimate).toBeGreaterThanOrEqual(0);
});

test('a held-out comparison needs a successful rollout of both', () => {
  const { view } = search(
    ({ candidate, stage }) => (stage === 'heldout' && candidate > 0 ? null : candidate === 0 ? 0.25 : 0.75),
    { heldoutSeeds: [30, 31, 32] },
  );
  expect(view.bestCandidate).toBeGreaterThan(0);
  expect(view.verdict?.basis).not.toBe('heldout');
});
