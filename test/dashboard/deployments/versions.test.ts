import { expect, test } from '@jest/globals';
import type { Deployment, Listed, Snapshot } from '../../../dashboard/src/data/deployment/types.js';
import {
  byName,
  demandWords,
  findingWords,
  sourceOf,
} from '../../../dashboard/src/pages/deployments/version/versions.js';

const version = (id: string, name: string, live = false) => ({ id, name, live, status: 'ready' }) as Listed;

test('names are in the order of their newest versions, with the one that is live', () => {
  const groups = byName([version('3', 'b'), version('2', 'a', true), version('1', 'b', true)]);
  expect(groups.map(({ name, newest, live, versions }) => [name, newest.id, live?.id, versions])).toEqual([
    ['b', '3', '1', 2],
    ['a', '2', '2', 1],
  ]);
  expect(byName([version('1', 'a')])[0]!.live).toBeNull();
});

const gate: NonNullable<Deployment['gate']> = {
  seeds: 20,
  min_reward: null,
  min_improvement: 0.1,
  evaluation: null,
  flipped_seeds: [],
  passed: true,
  candidate: { job_id: 'evl_1', reward: 0.8, interval: null },
  incumbent: { job_id: 'evl_2', deployment_id: null, reward: 0.2, interval: null },
  comparison: { difference: 0.6, interval: { low: 0.32, high: 0.88 }, seeds: 20, verdict: 'better', rows_needed: null },
};

test('a gate says its numbers', () => {
  expect(demandWords(gate)).toMatch(/\+0\.100 on 20 seeds/);
  expect(demandWords({ ...gate, min_reward: 0.7, seeds: 1 })).toMatch(/0\.700 on 1 seed\.$/);
  expect(findingWords(gate)).toBe(
    'The candidate has 0.800, the baseline has 0.200, the difference is +0.600 (+0.320 to +0.880).',
  );
  const unmeasured = { ...gate, candidate: null, incumbent: null, comparison: null };
  expect(findingWords({ ...unmeasured, evaluation: { job_id: 'evl_1', status: 'paused', seeds_left: 7 } })).toMatch(
    /paused.* 7 seeds/,
  );
  expect(findingWords(unmeasured)).toBe('Not measured yet.');
});

test('a version is published again from its job, else from its messages', () => {
  const source = { session_id: null, graph_job_id: null, candidate_id: 'cand_1', reward: null, verdict: null };
  const messages = { kind: 'messages', messages: [{ role: 'system', content: 'a' }], policy: { model: 'm' } };
  const of = (given: object) =>
    sourceOf({ source: { ...source, ...given } } as Deployment, messages as unknown as Snapshot);
  expect(of({ session_id: 'ses_1' })).toEqual({ session_id: 'ses_1', candidate_id: 'cand_1' });
  expect(of({ graph_job_id: 'grf_1', candidate_id: null })).toEqual({ graph_job_id: 'grf_1' });
  expect(of({ candidate_id: null })).toEqual({ messages: messages.messages, policy: { model: 'm' } });
});
