import { beforeAll, describe, expect, test } from '@jest/globals';
import { claimCallerRollout } from '../../../../src/rollouts/store/calls.js';
import { candidateId, rolloutId } from '../../../../src/core/jobs/ids.js';
import { project, seedCandidates, seedRollouts } from '../../../platform/http/seed.js';
import { createSession, finish, httpOfFile } from '../../../platform/http/support.js';

const base = '/api/v1/online/sessions';
const http = httpOfFile();
let id: string;
let cand: string[];
const get = async (path = '') => (await http.call('GET', `${base}/${id}${path}`)).body;

beforeAll(async () => {
  id = await createSession(http, { budget: { max_rollouts: 40 }, container_api_key: 'hush-hush-key' });
  cand = [0, 1, 2].map((version) => candidateId(id, version));
});

describe('before the first outcome', () => {
  test('the state is empty', async () => {
    expect(await get()).toEqual({
      last_command: null,
      session_id: id,
      hint: null,
      name: null,
      tags: [],
      metadata: {},
      job_id: id,
      status: 'running',
      workflow_id: `session-${id}`,
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
      notes: null,
      archived: false,
      webhook: null,
      warnings: [expect.stringContaining('train_seeds')],
      algorithm: 'gepa',
      correlation_id: null,
      container_url: 'http://127.0.0.1:18114',
      policy: { model: 'gpt-6-luna', provider: 'openai' },
      progress: {
        generation: 0,
        total_generations: 2,
        best_reward: null,
        rollouts_completed: 0,
        max_rollouts: 40,
        phase: null,
      },
      best_reward: null,
      best_reward_interval: null,
      best_candidate: null,
      candidates: [],
      estimated_reward: null,
      estimated_reward_interval: null,
      estimated_candidate_id: null,
      lever_summary: {
        prompt_lever_id: `lever_${id.slice(4)}_system`,
        candidate_lever_versions: {},
        best_candidate_id: null,
        selected_candidate_id: null,
        baseline_candidate_id: null,
        lever_count: 1,
        mutation_count: 0,
        latest_version: null,
      },
      lever_versions: {},
      best_lever_version: null,
      sensor_frames: [],
      sensor_frame_count: 0,
      traffic: null,
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
      concurrency: { limit: 5, max_concurrent: 5, in_flight: 0, lowered_because: null },
      budget: {
        max_rollouts: 40,
        unspent_rollouts: null,
        max_minutes: null,
        max_cost_usd: null,
        spent_usd: null,
        reserved_usd: null,
      },
      rollouts_resent: 0,
    });
  });

  test('results and history are 200 and empty, and the prompt has URLs but no messages', async () => {
    expect(await get('/results')).toMatchObject({
      session_id: id,
      job_id: id,
      best_prompt: null,
      best_reward: null,
      history: [],
    });
    expect(await get('/history')).toEqual({ session_id: id, job_id: id, history: [] });
    const proxy = `http://127.0.0.1:8787/api/gepa/v1/${id}`;
    expect(await get('/prompt')).toEqual({
      session_id: id,
      job_id: id,
      proxy_url: proxy,
      online_url: proxy,
      chat_completions_url: `${proxy}/chat/completions`,
      correlation_url_template: `${proxy}/{correlation_id}/chat/completions`,
      candidate_id: cand[0],
      messages: [],
    });
  });
});

describe('in the middle', () => {
  beforeAll(async () => {
    await seedCandidates(http, id, [
      { status: 'evaluated', reward: 0.25, generation: 0 },
      { status: 'rejected', generation: 1, parents: [0] },
      { status: 'evaluated', reward: 0.75, generation: 1, parents: [0] },
    ]);
    await seedRollouts(http, id, [
      { candidate: 0, seed: 0, status: 'succeeded', reward: 0, tokens: [10, 5], cost: 0.5 },
      { candidate: 0, seed: 1, status: 'succeeded', reward: 0.5, tokens: [10, 5], cost: 0.25, resent: 1 },
      { candidate: 1, seed: 0, status: 'failed', error: 'no', reward: 9 },
      { candidate: 2, seed: 0, status: 'succeeded', reward: 1, tokens: [20, 10], cost: 0 },
      { candidate: 2, seed: 1, status: 'running' },
    ]);
    await project(http, id, {
      generation: 1,
      totalGenerations: 2,
      bestCandidateId: cand[2],
      bestReward: 0.75,
      history: [
        { generation: 0, bestReward: 0.25 },
        { generation: 1, bestReward: 0.75 },
      ],
    });
  });

  test('the live state', async () => {
    const state = await get();
    expect(state.progress).toEqual({
      generation: 1,
      total_generations: 2,
      best_reward: 0.75,
      rollouts_completed: 4,
      max_rollouts: 40,
      phase: null,
    });
    expect(state.best_reward).toBe(0.75);
    const winner = {
      candidate_id: cand[2],
      parent_ids: [cand[0]],
      generation: 1,
      status: 'evaluated',
      reward: 0.75,
      reward_interval: null,
      avg_reward: 1,
      rollout_count: 1,
      is_baseline: false,
      lever_version: 2,
    };
    expect(state.best_candidate).toEqual(winner);
    expect(state.candidates).toEqual([
      {
        ...winner,
        candidate_id: cand[0],
        parent_ids: [],
        generation: 0,
        reward: 0.25,
        avg_reward: 0.25,
        rollout_count: 2,
        is_baseline: true,
        lever_version: 0,
      },
      {
        ...winner,
        candidate_id: cand[1],
        status: 'rejected',
        reward: null,
        avg_reward: null,
        rollout_count: 1,
        lever_version: 1,
      },
      winner,
    ]);
    expect(state.lever_summary).toEqual({
      prompt_lever_id: `lever_${id.slice(4)}_system`,
      candidate_lever_versions: { [cand[0]!]: 0, [cand[1]!]: 1, [cand[2]!]: 2 },
      best_candidate_id: cand[2],
      selected_candidate_id: cand[2],
      baseline_candidate_id: cand[0],
      lever_count: 1,
      mutation_count: 2,
      latest_version: 2,
    });
    expect(state.lever_versions).toEqual({ [`lever_${id.slice(4)}_system`]: 2 });
    expect(state.best_lever_version).toBe(2);
    expect(state.usage).toEqual({
      prompt_tokens: 40,
      completion_tokens: 20,
      total_tokens: 60,
      total_cost_usd: 0.75,
      cost_source: 'table',
      calls: 3,
      cached_calls: 0,
      cache_hit_rate: 0,
    });
    expect(state.rollouts_resent).toBe(1);
  });

  test('results and history', async () => {
    const results = await get('/results');
    expect(results).toMatchObject({
      status: 'running',
      best_reward: 0.75,
      best_candidate: { candidate_id: cand[2] },
      best_prompt: { messages: [{ role: 'system', content: 'version 2' }], reward: 0.75 },
      history: [
        { generation: 0, best_reward: 0.25 },
        { generation: 1, best_reward: 0.75 },
      ],
      best_lever_version: 2,
    });
    expect((await get('/history')).history).toEqual(results.history);
  });

  test('the prompt is the best so far, or that of a correlation id’s rollout', async () => {
    expect(await get('/prompt')).toMatchObject({
      candidate_id: cand[2],
      messages: [{ role: 'system', content: 'version 2' }],
    });
    expect(await get(`/prompt?correlation_id=${rolloutId(id, 0)}`)).toMatchObject({
      candidate_id: cand[0],
      messages: [{ content: 'version 0' }],
    });
    await http.db.org('default', (tx) =>
      claimCallerRollout(tx, { orgId: 'default', jobId: id }, { correlationId: 'mine', candidateId: cand[1]! }),
    );
    expect(await get('/prompt?correlation_id=mine')).toMatchObject({ candidate_id: cand[1] });
    expect(await get('/prompt?correlation_id=new')).toMatchObject({ candidate_id: cand[2] });
    expect((await http.call('GET', `${base}/${id}/prompt?correlation=x`)).status).toBe(422);
  });

  test('an unknown cost makes the total unknown, not smaller', async () => {
    const other = await createSession(http);
    await seedRollouts(http, other, [
      { candidate: 0, seed: 0, status: 'succeeded', reward: 1, tokens: [1, 1], cost: 1 },
      { candidate: 0, seed: 1, status: 'succeeded', reward: 1, tokens: [1, 1], cost: null },
    ]);
    const { body } = await http.call('GET', `${base}/${other}`);
    expect(body.usage).toMatchObject({ total_tokens: 4, total_cost_usd: null, cost_source: 'unknown' });
  });
});

describe('at the end', () => {
  test('reports a failure as a text and in detail', async () => {
    await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId: id }, 'failed'));
    const state = await get();
    expect(state).toMatchObject({
      status: 'failed',
      error: 'The container is gone.',
      error_details: { code: 'container_gone', message: 'The container is gone.', retryable: false },
      stopped_by: 'failed',
      best_candidate: { candidate_id: cand[2] },
    });
    expect(Date.parse(state.completed_at)).toBeGreaterThanOrEqual(Date.parse(state.created_at));
    expect(await get('/results')).toMatchObject({
      status: 'failed',
      error: 'The container is gone.',
      best_reward: 0.75,
    });
  });

  test('no answer contains the key of the container', async () => {
    for (const path of ['', '/results', '/history', '/prompt', '/events?limit=1000']) {
      expect(JSON.stringify(await get(path))).not.toContain('hush-hush');
    }
  });
});
