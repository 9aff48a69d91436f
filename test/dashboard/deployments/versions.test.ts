import { expect, test } from '@jest/globals';
import type { Deployment, Listed } from '../../../dashboard/src/data/deployment/types.js';
import {
  byName,
  changeWords,
  demandWords,
  findingWords,
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
  expect(demandWords(gate)).toMatch(/\+0\.100 on 20 rows/);
  expect(demandWords({ ...gate, min_reward: 0.7, seeds: 1 })).toMatch(/0\.700 on 1 row\.$/);
  expect(findingWords(gate)).toBe(
    'The candidate has 0.800, the baseline has 0.200, the difference is +0.600 (+0.320 to +0.880).',
  );
  const unmeasured = { ...gate, candidate: null, incumbent: null, comparison: null };
  expect(findingWords({ ...unmeasured, evaluation: { job_id: 'evl_1', status: 'paused', seeds_left: 7 } })).toMatch(
    /paused.* 7 rows/,
  );
  expect(findingWords(unmeasured)).toBe('Not measured yet.');
});

test('a change says what moved and who did it', () => {
  const change = { id: 'chg_1', at: '2026-01-01T00:00:00.000Z', label: 'production', reason: null } as const;
  const by = { key_id: 'key_1', key_name: 'ci' };
  expect(changeWords({ ...change, action: 'build', from_version: 1, to_version: 2, by })).toBe(
    'production: 1 → 2, built by ci.',
  );
  expect(changeWords({ ...change, action: 'delete', from_version: 2, to_version: null, by: null })).toBe(
    'production: version 2 → nothing, deleted by the service.',
  );
  expect(changeWords({ ...change, label: 'staging', action: 'label', from_version: null, to_version: 1, by })).toBe(
    'staging: version 1, set by ci.',
  );
});
