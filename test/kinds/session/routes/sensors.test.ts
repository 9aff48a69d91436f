import { beforeEach, describe, expect, test } from '@jest/globals';
import { candidateId, leverId, rolloutId } from '../../../../src/core/jobs/ids.js';
import { recordDecision } from '../../../../src/jobs/store/decisions/record.js';
import { seedCandidates, seedRollouts, type SeededRollout } from '../../../platform/http/seed.js';
import { createSession, finish, httpOfFile } from '../../../platform/http/support.js';

const base = '/api/v1/online/sessions';
const http = httpOfFile();
let id: string;
beforeEach(async () => {
  id = await createSession(http, { max_concurrent: 7 });
  await seedCandidates(http, id, [
    { status: 'evaluated', reward: 0.5, generation: 0 },
    { status: 'proposed', generation: 1 },
  ]);
});

const ask = (path = '') => http.call('GET', `${base}/${id}${path}`);
const get = async (path = '') => (await ask(path)).body;
/** Records a decision after each of the ordinals. */
const decide = (...ordinals: number[]) =>
  http.db.org('default', async (tx) => {
    const job = { orgId: 'default', jobId: id };
    for (const outcomesThrough of ordinals) await recordDecision(tx, job, { outcomesThrough });
  });
const rollout: SeededRollout = { candidate: 0, seed: 0, status: 'succeeded', reward: 1, tokens: [10, 5], cost: 0.25 };

test('state and results show the readings of each candidate in each batch', async () => {
  await seedRollouts(http, id, [
    { ...rollout, stage: 'baseline' },
    { ...rollout, stage: 'baseline', reward: 0, resent: 1 },
    { ...rollout, stage: 'gate', generation: 1, candidate: 1, cost: null },
    { candidate: 1, seed: 1, status: 'failed', error: 'The container answered 500.', stage: 'gate', generation: 1 },
    { ...rollout, status: 'running' },
  ]);
  await decide(2, 4);
  const lever = leverId(id, null);
  const latency = { latency_ms_p50: 12.5, latency_ms_p95: 12.5, latency_ms_max: 12.5, concurrency: 7 };
  const frames = [
    {
      frame_id: `frm_${id.slice(4)}_0`,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      candidate_id: candidateId(id, 0),
      stage: 'baseline',
      generation: 0,
      sensor_count: 3,
      sensor_kinds: ['rollout', 'reward', 'resource'],
      trace_ids: [rolloutId(id, 0), rolloutId(id, 1)],
      lever_versions: { [lever]: 0 },
      sensors: {
        rollout: { count: 2, succeeded: 2, failed: 0, resent: 1 },
        reward: { count: 2, mean: 0.5, sd: expect.closeTo(Math.SQRT1_2, 12), min: 0, max: 1 },
        resource: { prompt_tokens: 20, completion_tokens: 10, cost_usd: 0.5, ...latency },
      },
    },
    {
      frame_id: `frm_${id.slice(4)}_2`,
      created_at: expect.any(String),
      candidate_id: candidateId(id, 1),
      stage: 'gate',
      generation: 1,
      sensor_count: 3,
      sensor_kinds: ['rollout', 'reward', 'resource'],
      trace_ids: [rolloutId(id, 2), rolloutId(id, 3)],
      lever_versions: { [lever]: 1 },
      sensors: {
        rollout: { count: 2, succeeded: 1, failed: 1, resent: 0 },
        reward: { count: 1, mean: 1, sd: null, min: 1, max: 1 },
        resource: { prompt_tokens: 10, completion_tokens: 5, cost_usd: null, ...latency },
      },
    },
  ];
  expect(await get('/results')).toMatchObject({ sensor_frame_count: 2 });
  expect(await get('/results')).not.toHaveProperty('sensor_frames');
  for (const path of ['', '/results?include=sensor_frames'])
    expect(await get(path)).toMatchObject({ sensor_frames: frames, sensor_frame_count: 2 });
  expect((await get()).sensor_frames).toEqual(frames);
  expect(await get('/sensor-frames')).toEqual({ data: frames, next_cursor: null, has_more: false });
});

test('a sensor without readings is not among the kinds', async () => {
  await seedRollouts(http, id, [{ candidate: 0, seed: 0, status: 'failed', error: 'The container is gone.' }]);
  await http.db.org('default', (tx) => tx.query('update rollouts set latency_ms = null where job_id = $1', [id]));
  await decide(1);
  expect((await get()).sensor_frames).toMatchObject([
    { sensor_count: 1, sensor_kinds: ['rollout'], sensors: { rollout: { count: 1 }, reward: null, resource: null } },
  ]);
});

test('each of several components has its lever’s version at the frame’s candidate', async () => {
  id = await createSession(http);
  const prompt = (plan: string, system: string) => [
    { role: 'system' as const, content: system },
    { role: 'system' as const, content: plan, name: 'plan' },
  ];
  await seedCandidates(
    http,
    id,
    [prompt('p0', 's0'), prompt('p0', 's1'), prompt('p1', 's1')].map((messages) => ({
      status: 'proposed',
      generation: 0,
      messages,
    })),
  );
  await seedRollouts(
    http,
    id,
    [0, 1, 2].map((candidate) => ({ ...rollout, candidate })),
  );
  await decide(3);
  const versions = (composite: number, system: number, plan: number) => ({
    [leverId(id, null)]: composite,
    [leverId(id, 'system')]: system,
    [leverId(id, 'plan')]: plan,
  });
  const expected = [versions(0, 0, 0), versions(1, 1, 0), versions(2, 1, 1)];
  const seen = (frames: { lever_versions: unknown }[]) => frames.map((frame) => frame.lever_versions);
  expect(seen((await get()).sensor_frames)).toEqual(expected);
  expect(seen((await get('/sensor-frames')).data)).toEqual(expected);
});

describe('many frames', () => {
  test('shows the latest fifty, oldest first, and pages all', async () => {
    await seedRollouts(
      http,
      id,
      Array.from({ length: 53 }, () => ({ ...rollout, tokens: [1, 1] })),
    );
    await decide(...Array.from({ length: 53 }, (_, n) => n + 1));
    const frame = (n: number) => `frm_${id.slice(4)}_${n}`;
    const ids = (frames: { frame_id: string }[]) => frames.map((frame) => frame.frame_id);
    const state = await get();
    expect(state.sensor_frame_count).toBe(53);
    expect(ids(state.sensor_frames)).toEqual(Array.from({ length: 50 }, (_, n) => frame(n + 3)));

    const first = await get('/sensor-frames?limit=30');
    expect(first.has_more).toBe(true);
    const second = await get(`/sensor-frames?limit=30&cursor=${first.next_cursor}`);
    expect(second).toMatchObject({ has_more: false, next_cursor: null });
    expect([...ids(first.data), ...ids(second.data)]).toEqual(Array.from({ length: 53 }, (_, n) => frame(n)));
  });

  test('a cursor of another list is 422, an unknown session 404', async () => {
    expect((await ask('/sensor-frames?cursor=x')).status).toBe(422);
    expect((await ask('/sensor-frames?limit=0')).status).toBe(422);
    const headers = { authorization: `Bearer ${http.otherKey}` };
    expect((await http.call('GET', `${base}/${id}/sensor-frames`, undefined, headers)).status).toBe(404);
  });
});

test('every trace of a frame is readable, also in a session ended within a batch', async () => {
  await seedRollouts(http, id, [rollout, { ...rollout, reward: 0.25 }, { ...rollout, status: 'running' }]);
  await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId: id }, 'cancelled'));
  const { sensor_frames: frames } = await get();
  expect(frames.map((frame: { trace_ids: string[] }) => frame.trace_ids)).toEqual([
    [rolloutId(id, 0), rolloutId(id, 1)],
  ]);
  for (const trace of frames[0].trace_ids)
    expect(await get(`/traces/${trace}`)).toMatchObject({ trace_id: trace, status: 'succeeded' });
});
