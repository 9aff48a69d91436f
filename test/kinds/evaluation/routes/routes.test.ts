import { beforeAll, expect, test } from '@jest/globals';
import { rolloutId } from '../../../../src/core/jobs/ids.js';
import { seedRollouts } from '../../../platform/http/seed.js';
import { createEvaluation, finish, httpOfFile } from '../../../platform/http/support.js';

const base = '/api/v1/offline/jobs';
const http = httpOfFile();
let id: string;
const get = async (path = '') => (await http.call('GET', `${base}/${id}${path}`)).body;

beforeAll(async () => {
  id = await createEvaluation(http, { seeds: [7, 3, 7, 9, 4] });
});

const empty = {
  mean_reward: null,
  mean_reward_interval: null,
  total_tokens: 0,
  total_cost_usd: null,
  num_seeds: 5,
  num_successful: 0,
  num_failed: 0,
};

test('returns an evaluation without outcomes', async () => {
  expect(await get()).toEqual({
    last_command: null,
    job_id: id,
    diagnosis: null,
    name: null,
    tags: [],
    metadata: {},
    notes: null,
    archived: false,
    webhook: null,
    status: 'running',
    workflow_id: `evaluation-${id}`,
    temporal_url: expect.stringContaining(id),
    created_at: expect.stringMatching(/Z$/),
    created_by: { key_id: 'bootstrap_default', key_name: 'bootstrap' },
    branched_from: null,
    started_at: null,
    completed_at: null,
    error: null,
    error_details: null,
    stopped_by: null,
    stuck: null,
    warnings: [],
    app_id: 'banking',
    env_name: 'train',
    container_url: 'http://127.0.0.1:18114',
    policy: { model: 'gpt-6-luna', provider: 'openai' },
    num_seeds: 5,
    progress: { completed: 0, total: 5, phase: { name: 'rows', done: 0, total: 5, mean_reward: null } },
    summary: empty,
    candidate: null,
    budget: { max_cost_usd: null, spent_usd: null, reserved_usd: null },
    concurrency: { limit: 5, max_concurrent: 5, in_flight: 0, lowered_because: null },
    usage: {
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      total_cost_usd: null,
      cost_source: 'unknown',
      calls: 0,
      cached_calls: 0,
      cache_hit_rate: null,
    },
    rollouts_resent: 0,
  });
  expect(await get('/results')).toEqual({ job_id: id, status: 'running', summary: empty, results: [] });
});

test('while running: finished seeds in their order, duplicates separately', async () => {
  await seedRollouts(http, id, [
    { candidate: 0, seed: 7, status: 'succeeded', reward: 1, tokens: [10, 2], cost: 0.5 },
    { candidate: 0, seed: 3, status: 'failed', error: 'The container answered 500.', reward: 99 },
    { candidate: 0, seed: 7, status: 'succeeded', reward: 0, tokens: [10, 3], cost: 0.25 },
    { candidate: 0, seed: 9, status: 'running' },
    { candidate: 0, seed: 4, status: 'queued' },
  ]);
  const summary = {
    mean_reward: 0.5,
    // Both rollouts are of one seed.
    mean_reward_interval: { low: expect.closeTo(0.0125, 9), high: expect.closeTo(0.9875, 9) },
    total_tokens: 25,
    total_cost_usd: 0.75,
    num_seeds: 5,
    num_successful: 2,
    num_failed: 1,
  };
  const state = await get();
  expect(state).toMatchObject({ progress: { completed: 3, total: 5 }, summary });
  expect(state.results).toBeUndefined();
  const results = await get('/results');
  const row = { status: 'succeeded', latency_ms: 12.5, error: null, completed_at: expect.any(String) };
  expect(results).toEqual({
    job_id: id,
    status: 'running',
    summary,
    results: [
      { ...row, seed: 7, reward: 1, tokens: 12, cost_usd: 0.5, trace_id: rolloutId(id, 0) },
      {
        ...row,
        seed: 3,
        status: 'failed',
        reward: null,
        tokens: 0,
        cost_usd: null,
        error: 'The container answered 500.',
        trace_id: rolloutId(id, 1),
      },
      { ...row, seed: 7, reward: 0, tokens: 13, cost_usd: 0.25, trace_id: rolloutId(id, 2) },
    ],
  });
});

test('when completed: results and summary', async () => {
  await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId: id }, 'completed'));
  const state = await get();
  expect(state).toMatchObject({
    status: 'completed',
    error: null,
    results: { mean_reward: 0.5, total_tokens: 25, total_cost_usd: 0.75 },
    summary: { num_successful: 2, num_failed: 1 },
  });
  // Interrupted rollouts have no outcome and are neither a success nor a failure.
  expect((await get('/results')).results).toHaveLength(3);
});

test('an unknown price is null for the row and for the total', async () => {
  const other = await createEvaluation(http);
  await seedRollouts(http, other, [
    { candidate: 0, seed: 0, status: 'succeeded', reward: 1, tokens: [1, 1], cost: 1 },
    { candidate: 0, seed: 1, status: 'succeeded', reward: 1, tokens: [1, 1], cost: null },
  ]);
  const { body } = await http.call('GET', `${base}/${other}/results`);
  expect(body.summary).toMatchObject({ total_tokens: 4, total_cost_usd: null });
  expect(body.results.map((row: { cost_usd: number | null }) => row.cost_usd)).toEqual([1, null]);
});

test('unknown tokens are null for the row and for the total, as is the price; no call has 0', async () => {
  const other = await createEvaluation(http);
  await seedRollouts(http, other, [
    { candidate: 0, seed: 0, status: 'succeeded', reward: 1, tokens: [1, 1], cost: 1 },
    { candidate: 0, seed: 1, status: 'succeeded', reward: 1, tokens: [null, null], cost: null },
    { candidate: 0, seed: 2, status: 'succeeded', reward: 1 },
  ]);
  const { body } = await http.call('GET', `${base}/${other}/results`);
  expect(body.summary).toMatchObject({ total_tokens: null, total_cost_usd: null });
  expect(body.results.map((row: { tokens: number | null }) => row.tokens)).toEqual([2, null, 0]);
});

test('returns ten thousand seeds in one answer', async () => {
  const seeds = Array.from({ length: 10_000 }, (_, i) => i % 777);
  const big = await createEvaluation(http, { seeds });
  await http.db.org('default', (tx) =>
    tx.query(
      `insert into rollouts (id, org_id, job_id, idx, source, ordinal, seed, status, reward)
       select 'rol_' || substr($1, 5) || '_' || n, 'default', $1, n, 'service', n, n % 777, 'succeeded', 1
         from generate_series(0, 9999) as n`,
      [big],
    ),
  );
  const { body } = await http.call('GET', `${base}/${big}/results`);
  expect(body.results.map((row: { seed: number }) => row.seed)).toEqual(seeds);
  expect(body.summary).toMatchObject({ mean_reward: 1, num_seeds: 10_000, num_successful: 10_000 });
});
