import { describe, expect, test } from '@jest/globals';
import { candidateId, rolloutId } from '../../../src/core/jobs/ids.js';
import { workflowId } from '../../../src/core/jobs/kinds.js';
import type { DeploymentSpec } from '../../../src/core/jobs/spec.js';
import { gateJobId, insertGateEvaluation } from '../../../src/kinds/deployment/store/gate.js';
import { readSpec } from '../../../src/jobs/store/spec.js';
import { recordCall } from '../../../src/rollouts/store/call-records.js';
import { saying as sayingBy } from '../../support/deployments-over-http.js';
import { deployments } from '../../support/jobs-over-http.js';
import { project, seedCandidates, seedRollouts, type SeededRollout } from '../../platform/http/seed.js';
import { createEvaluation, createGraphJob, createSession, finish, httpOfFile } from '../../platform/http/support.js';

const http = httpOfFile();
const saying = (text: string) => sayingBy(text, { provider: 'local', model: 'local' });
const compare = (a: string, b: string, key = http.key) =>
  http.call('GET', `/api/v1/compare?${new URLSearchParams({ a, b }).toString()}`, undefined, {
    authorization: `Bearer ${key}`,
  });

const rollout = (seed: number, reward: number, more: Partial<SeededRollout> = {}): SeededRollout => {
  return { candidate: 0, seed, status: 'succeeded', reward, ...more };
};

/** An evaluation with one rollout for each reward, seeds counting from `from`. */
async function evaluated(
  rewards: number[],
  { from = 0, ...more }: { from?: number } & Record<string, unknown> = {},
): Promise<string> {
  const seeds = rewards.map((_, index) => from + index);
  const id = await createEvaluation(http, { seeds, ...more });
  await seedRollouts(
    http,
    id,
    rewards.map((reward, index) => rollout(from + index, reward)),
  );
  return id;
}

/** Seeds 0 and 1 train, 2 and 3 evaluate, 4 to 6 are held out. */
const gepa = {
  generations: 2,
  population_size: 2,
  minibatch_size: 1,
  train_seeds: [0, 1],
  evaluation: { seeds: [2, 3], heldout_seeds: [4, 5, 6] },
};
const onContainer = { env_name: 'train', gepa };

/** A session whose best candidate, number 1, is ended with these rollouts. */
async function searched(rollouts: SeededRollout[], more: object = onContainer): Promise<string> {
  const id = await createSession(http, more);
  await searchedBy(id, rollouts);
  return id;
}

async function searchedBy(id: string, rollouts: SeededRollout[]): Promise<void> {
  await seedCandidates(http, id, [
    { status: 'evaluated', reward: 0, generation: 0 },
    { status: 'evaluated', reward: 1, generation: 1, parents: [0] },
  ]);
  await seedRollouts(http, id, rollouts);
  await project(http, id, { bestCandidateId: candidateId(id, 1) });
}

const winner = (seeds: number[], reward: number, more: Partial<SeededRollout> = {}) =>
  seeds.map((seed) => rollout(seed, reward, { candidate: 1, ...more }));
const baseline = (seeds: number[], reward: number) => winner(seeds, reward, { candidate: 0 });

describe('two evaluations', () => {
  test('are paired on the seeds where both succeeded', async () => {
    const a = await createEvaluation(http, { seeds: [0, 1, 2, 3, 4, 4, 4] });
    await seedRollouts(http, a, [
      rollout(0, 1),
      rollout(1, 0, { tokens: [10, 5], cost: 0.25 }),
      rollout(2, 0.5, { tokens: [10, 5], cost: 0.25 }),
      rollout(3, 9, { status: 'failed', error: 'The container answered 500.' }),
      rollout(4, 0, { tokens: [10, 5], cost: 0.5 }),
      rollout(4, 1, { tokens: [10, 5], cost: 1.5 }),
      rollout(4, 9, { status: 'failed', tokens: [10, 5], cost: 9 }),
    ]);
    const b = await createEvaluation(http, { seeds: [1, 2, 3, 4, 9] });
    await seedRollouts(http, b, [
      rollout(1, 1, { tokens: [10, 5], cost: null }),
      rollout(2, 0.5),
      rollout(3, 1),
      rollout(4, 0),
      rollout(9, 1, { status: 'running' }),
    ]);
    const { status, body } = await compare(a, b);
    expect(status).toBe(200);
    expect(body).toEqual({
      a: {
        id: a,
        kind: 'evaluation',
        job_id: a,
        candidate_id: null,
        seeds: 4,
        seeds_failed: 1,
        mean_reward: expect.closeTo(1 / 3, 12),
        mean_reward_interval: { low: expect.closeTo(0.047, 3), high: expect.closeTo(0.801, 3) },
        cost_usd: expect.closeTo(0.5, 12),
        latency_ms: { mean: 12.5, p50: 12.5 },
      },
      b: {
        id: b,
        kind: 'evaluation',
        job_id: b,
        candidate_id: null,
        seeds: 4,
        seeds_failed: 0,
        mean_reward: 0.5,
        mean_reward_interval: { low: expect.closeTo(0.069, 3), high: expect.closeTo(0.931, 3) },
        cost_usd: null,
        latency_ms: { mean: 12.5, p50: 12.5 },
      },
      seeds_in_common: 3,
      seeds_compared: 3,
      compared_seeds: [1, 2, 4],
      basis: 'heldout',
      // Of 1, 0 and -0.5: 4.303 * sqrt(7 / 12 / 3)
      difference: { mean: expect.closeTo(1 / 6, 12), low: -1, high: 1 },
      verdict: 'inconclusive',
      // (1.96 + 0.84)² * (7 / 12) / (1 / 6)²
      rows_needed: 177,
      won: 1,
      lost: 1,
      tied: 1,
      unit: 'seed',
    });
  });

  test('a judge is not part of the cost', async () => {
    const a = await createEvaluation(http, { seeds: [0] });
    await seedRollouts(http, a, [rollout(0, 1, { tokens: [1, 1], cost: 0.25 })]);
    const id = rolloutId(a, 0);
    await http.db.org('default', (tx) =>
      recordCall(tx, {
        orgId: 'default',
        jobId: a,
        id: `call_judge_${id}`,
        purpose: 'judge',
        rolloutId: id,
        correlationId: id,
        candidateId: null,
        requestHash: Buffer.from('judge'),
        attempt: 1,
        presence: 1,
        provider: 'local',
        model: 'm',
        request: {},
        response: {},
        stream: false,
        httpStatus: 200,
        promptTokens: 1,
        completionTokens: 1,
        costUsd: 7,
        costSource: 'table',
        latencyMs: 1,
      }),
    );
    expect((await compare(a, a)).body).toMatchObject({ a: { cost_usd: 0.25 }, tied: 1 });
  });

  test.each([
    ['better', [0, 0, 0.1, 0, 0], [1, 1, 0.9, 1, 1]],
    ['worse', [1, 1, 0.9, 1, 1], [0, 0, 0.1, 0, 0]],
  ])('b is %s', async (verdict, rewards, others) => {
    const { body } = await compare(await evaluated(rewards), await evaluated(others));
    expect(body).toMatchObject({ verdict, seeds_compared: 5, rows_needed: null });
  });

  test('without a common seed are 422', async () => {
    const { status, body } = await compare(await evaluated([1, 1]), await evaluated([1, 1], { from: 2 }));
    expect([status, body.code]).toEqual([422, 'no_common_seeds']);
  });
});

describe('a session', () => {
  test('is its best candidate, on the seeds that the search did not select on', async () => {
    const id = await searched([
      ...baseline([0, 1, 2, 3], 0),
      ...winner([0, 1, 2, 3], 1),
      ...baseline([4, 5, 6], 0.5),
      ...winner([4, 5, 6], 0.5, { stage: 'heldout' }),
    ]);
    const { status, body } = await compare(candidateId(id, 0), id);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      a: { kind: 'candidate', job_id: id, candidate_id: candidateId(id, 0), mean_reward: 0.5, seeds: 7 },
      b: { kind: 'session', job_id: id, candidate_id: candidateId(id, 1), mean_reward: 0.5, seeds: 7 },
      seeds_in_common: 7,
      seeds_compared: 3,
      basis: 'heldout',
      tied: 3,
      verdict: 'inconclusive',
    });
  });

  test('says so when the compared seeds selected its candidate', async () => {
    const id = await searched([...baseline([0, 1, 2, 3], 0), ...winner([0, 1, 2, 3, 4], 1)]);
    const { body } = await compare(candidateId(id, 0), id);
    expect(body).toMatchObject({ basis: 'evaluation', seeds_compared: 4, won: 4, verdict: 'better' });
  });

  test('an evaluation of its candidate knows the seeds of the search', async () => {
    const id = await searched(winner([0, 1, 2, 3, 4, 5], 1));
    const chosen = { candidate: { session_id: id } };
    const a = await evaluated([0, 0, 0, 0, 0, 0]);
    const b = await evaluated([1, 1, 1, 1, 0, 0], chosen);
    expect((await compare(a, b)).body).toMatchObject({
      b: { kind: 'evaluation', job_id: b, candidate_id: candidateId(id, 1) },
      basis: 'heldout',
      seeds_compared: 2,
      tied: 2,
    });
    // In another environment the same numbers are other instances.
    const [c, d] = [{ env_name: 'other' }, { env_name: 'other', ...chosen }];
    const elsewhere = await compare(await evaluated([0, 0], c), await evaluated([1, 1], d));
    expect(elsewhere.body).toMatchObject({ basis: 'heldout', seeds_compared: 2, won: 2 });
  });

  test('without an evaluated candidate is 409, and says whether to wait', async () => {
    const [running, ended, other] = [await createSession(http), await createSession(http), await evaluated([1])];
    await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId: ended }, 'cancelled'));
    const [early, never] = [await compare(running, other), await compare(ended, other)];
    expect([early.status, early.body.code]).toEqual([409, 'candidate_not_ready']);
    expect(early.body.detail).toContain('Wait');
    expect([never.status, never.body.code]).toEqual([409, 'candidate_not_ready']);
    expect(never.body.detail).toContain('ended');
  });

  test('on live traffic selects on every seed, and compares within itself only', async () => {
    const live = { rollouts: 'caller', container_url: undefined, initial_prompt: { messages: saying('Hi.').messages } };
    const rollouts = [...baseline([0, 8, 9], 0), ...winner([0, 8, 9], 1)];
    const [id, other] = [await searched(rollouts, live), await searched(rollouts, live)];
    expect((await compare(candidateId(id, 0), id)).body).toMatchObject({ basis: 'evaluation', won: 3 });
    const { status, body } = await compare(id, other);
    expect([status, body.code]).toEqual([422, 'not_comparable']);
  });
});

describe('a deployment', () => {
  const gate = { container_url: 'http://127.0.0.1:18114', env_name: 'train', seeds: [4, 5, 6], min_reward: 0.5 };
  const deploy = async (body: object) => (await http.call('POST', deployments, body)).body.id as string;

  test('is the evaluation of its gate', async () => {
    const id = await deploy({ name: 'gated', source: saying('I am gated.'), gate });
    const jobId = gateJobId(id, 0);
    expect((await compare(id, id)).body.code).toBe('no_rollouts');
    await http.db.org('default', async (tx) => {
      const evaluation = {
        job: { orgId: 'default', jobId },
        deploymentId: id,
        workflowId: workflowId('evaluation', jobId),
        snapshotId: null,
        containerApiKey: null,
        repeated: null,
      };
      await insertGateEvaluation(tx, http.deps.secretKey, await readSpec<DeploymentSpec>(tx, id), evaluation);
    });
    await seedRollouts(http, jobId, [rollout(4, 1), rollout(5, 1), rollout(6, 0)]);
    const other = await evaluated([0, 0, 0], { from: 4 });
    for (const ref of [id, 'gated']) {
      expect((await compare(other, ref)).body).toMatchObject({
        b: { id: ref, kind: 'deployment', job_id: jobId, candidate_id: null },
        won: 2,
        tied: 1,
      });
    }
  });

  test('without a gate is the candidate that it serves', async () => {
    const session = await searched([...baseline([4, 5], 0), ...winner([4, 5], 1)]);
    const id = await deploy({ name: 'served', source: { session_id: session, candidate_id: candidateId(session, 1) } });
    expect((await compare(candidateId(session, 0), id)).body).toMatchObject({
      b: { kind: 'deployment', job_id: session, candidate_id: candidateId(session, 1) },
      won: 2,
      basis: 'heldout',
    });
  });

  test('without a gate and a candidate is 422, and names the field', async () => {
    const id = await deploy({ name: 'said', source: saying('I am given.') });
    const { status, body } = await compare(await evaluated([1]), id);
    expect([status, body.code, body.errors[0].pointer]).toEqual([422, 'no_rollouts', '/b']);
  });
});

describe('instances', () => {
  test.each<[string, Record<string, unknown>]>([
    ['container', { container_url: 'http://127.0.0.1:18115' }],
    ['environment', { env_name: 'test' }],
    ['configuration', { env_config: { split: 'test' } }],
  ])('another %s is 422', async (_, other) => {
    const { status, body } = await compare(await evaluated([1]), await evaluated([1], other));
    expect([status, body.code, body.errors[0].pointer]).toEqual([422, 'not_comparable', '/b']);
  });

  test('jobs on the same rows and scorer are compared, whatever their prompts', async () => {
    const rows = [
      { text: 'one', label: 'a' },
      { text: 'two', label: 'b' },
    ];
    const onRows = (content: string, more: Record<string, unknown> = {}) =>
      evaluated([1, 0], {
        container_url: undefined,
        env_name: undefined,
        dataset: { rows, input: 'text', expected: 'label' },
        scorer: 'exact',
        candidate: { messages: [{ role: 'user', content }] },
        ...more,
      });
    const [one, two] = [await onRows('Answer {{text}}.'), await onRows('{{text}}?')];
    expect((await compare(one, two)).body).toMatchObject({ tied: 2, basis: 'heldout' });
    const others = [
      await onRows('{{text}}?', { scorer: 'contains' }),
      await onRows('{{text}}?', { dataset: { rows: [...rows].reverse(), input: 'text', expected: 'label' } }),
      await evaluated([1, 0]),
    ];
    for (const other of others) expect((await compare(one, other)).body.code).toBe('not_comparable');
  });

  test('graph jobs are compared on equal tasks', async () => {
    const jobs = await Promise.all([createGraphJob(http), createGraphJob(http)]);
    for (const id of jobs) await searchedBy(id, winner([0, 1], 1));
    const [one, two] = jobs as [string, string];
    expect((await compare(one, two)).body).toMatchObject({ a: { kind: 'graph' }, tied: 2 });
    await http.db.org('default', (tx) =>
      tx.query(`update graph_tasks set gold = '{"value":"y"}' where job_id = $1 and task_index = 7`, [two]),
    );
    expect((await compare(one, two)).body.code).toBe('not_comparable');
    expect((await compare(two, candidateId(two, 1))).body).toMatchObject({ b: { kind: 'candidate' }, tied: 2 });
  });
});

describe('an id', () => {
  test('of nothing is 404', async () => {
    const id = await evaluated([1]);
    for (const unknown of ['evl_1', `ses_${'0'.repeat(32)}`, `cand_${'0'.repeat(32)}_1`, 'no-such-name']) {
      const { status, body } = await compare(id, unknown);
      expect([unknown, status, body.code]).toEqual([unknown, 404, 'not_found']);
    }
  });

  test('of another organization is 404, of every kind', async () => {
    const session = await searched([...baseline([4], 0), ...winner([4], 1)]);
    const { body } = await http.call('POST', deployments, { name: 'mine', source: { session_id: session } });
    for (const id of [session, candidateId(session, 1), await evaluated([1]), body.id, 'mine'] as string[]) {
      expect([id, (await compare(id, id)).status]).toEqual([id, 200]);
      expect([id, (await compare(id, id, http.otherKey)).status]).toEqual([id, 404]);
    }
  });

  test('is required, and is one', async () => {
    const id = await evaluated([1]);
    const pointersOf = async (query: string) => {
      const { status, body } = await http.call('GET', `/api/v1/compare${query}`);
      return [status, ...(body.errors as { pointer: string }[]).map(({ pointer }) => pointer)];
    };
    expect(await pointersOf('')).toEqual([422, '/a', '/b']);
    expect(await pointersOf(`?a=${id}&b=%00`)).toEqual([422, '/b']);
    expect(await pointersOf(`?a=${id}&b=${id}&c=1`)).toEqual([422, '/c']);
  });
});
