import { afterEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gate } from '../../support/gate.js';
import {
  command,
  createSession,
  ended,
  eventsOf,
  pathOf,
  resultsOf,
  type Session,
} from '../../support/jobs-over-http.js';
import { sampleOf } from '../../../src/cli/task/sample.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { startRowsWorld } from '../../support/worlds/rows.js';

const models = { policy: 'gpt-4o-mini', proposer: 'gpt-4.1-mini' };
const on = serviceOfFile(async () => {
  const world = await startRowsWorld(12, models);
  const { answer, env, model } = world;
  // 100 prompt and 200 completion tokens of gpt-4o-mini cost $0.000135.
  world.answer = (request) => ({ ...answer(request), usage: { prompt_tokens: 100, completion_tokens: 200 } });
  world.reset();
  return { ...world, env: { ...env, OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-test' } };
});
afterEach(() => on.world.reset());

const gepa = { population_size: 2, generations: 12 };

const create = (fields: object, rows = 48) =>
  createSession(on.service, {
    ...on.world.job(rows),
    policy: { provider: 'openai', model: models.policy },
    proposer: { provider: 'openai', model: models.proposer },
    gepa,
    rng_seed: 7,
    max_concurrent: 3,
    ...fields,
  });

interface Answer {
  status: number;
  headers: Headers;
  body: {
    run: number;
    workflow_id: string;
    code: string;
    detail: string;
    errors: { pointer: string }[];
    current_status: string;
  };
}

async function extend(id: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${on.service.url}${pathOf(id)}/extend`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${on.service.apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}

/** How many events a stream sends after the event `from`. */
async function streamed(id: string, from: number): Promise<number> {
  const response = await fetch(`${on.service.url}${pathOf(id)}/events`, {
    headers: {
      authorization: `Bearer ${on.service.apiKey}`,
      accept: 'text/event-stream',
      ...(from > 0 && { 'last-event-id': String(from) }),
    },
  });
  return (await response.text()).match(/^id: /gm)?.length ?? 0;
}

const rolloutsOf = (id: string) =>
  on.service.query<{ ordinal: number; candidate: string; stage: string; seed: number; status: string }>(
    `select ordinal, split_part(candidate_id, '_', 3) as candidate, stage, seed, status, reward from rollouts
      where job_id = $1 order by ordinal`,
    [id],
  );

const candidatesOf = (id: string) =>
  on.service.query(
    `select lever_version, messages, status, reward, decision->>'accepted' as accepted from candidates
      where job_id = $1 order by 1`,
    [id],
  );

/** Candidates, rollouts and result without the session's own ids and the order of its end. */
async function pathTaken(id: string): Promise<unknown> {
  const { best_prompt, history, verdict, best_reward, stopped_by } = await resultsOf(on.service, id);
  const rollouts = (await rolloutsOf(id)).filter(({ stage }) => stage !== 'heldout');
  const path = rollouts.map(({ ordinal: _, ...rollout }) => rollout);
  return { best_prompt, history, verdict, best_reward, stopped_by, path, candidates: await candidatesOf(id) };
}

describe('a completed session with a larger budget', () => {
  test('goes on from its state: same candidates and rollouts, nothing is bought again', async () => {
    const id = await create({ gepa: { ...gepa, population_size: 1 }, budget: { max_rollouts: 64 } });
    const first = await ended<Session>(on.service, id);
    expect(first).toMatchObject({ status: 'completed', stopped_by: 'max_rollouts' });
    expect(first.best_reward).toBeLessThan(1);
    const before = { rollouts: await rolloutsOf(id), candidates: await candidatesOf(id) };
    const events = await eventsOf(on.service, id);
    const proposals = on.world.model.requests.length - on.world.policyCalls().length;
    expect(on.world.policyCalls()).toHaveLength(before.rollouts.length);

    const more = { max_rollouts: 400, generations: 40 };
    const answer = await extend(id, more, { 'idempotency-key': 'more' });
    expect(answer).toMatchObject({ status: 200, body: { run: 2, workflow_id: `session-${id}-2` } });
    const replayed = await extend(id, more, { 'idempotency-key': 'more' });
    expect(replayed.body).toEqual(answer.body);
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');

    const second = await ended<Session>(on.service, id);
    expect(second).toMatchObject({ status: 'completed', stopped_by: 'solved', best_reward: 1, error: null });
    expect(second.progress.max_rollouts).toBe(400);
    const rollouts = await rolloutsOf(id);
    expect(rollouts.map(({ ordinal }) => ordinal)).toEqual(rollouts.map((_, index) => index));
    expect(rollouts.slice(0, before.rollouts.length)).toEqual(before.rollouts);
    expect(rollouts.length).toBe(second.progress.rollouts_completed);
    expect(on.world.policyCalls()).toHaveLength(rollouts.length);
    expect(on.world.model.requests.length - on.world.policyCalls().length).toBeGreaterThan(proposals);
    const heldout = rollouts
      .filter(({ stage }) => stage === 'heldout')
      .map(({ candidate, seed }) => `${candidate} ${seed}`);
    expect(new Set(heldout).size).toBe(heldout.length);
    expect((await resultsOf(on.service, id)).verdict).toBe('better');

    const all = await eventsOf(on.service, id);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    expect(all.slice(0, events.length)).toEqual(events);
    const turning = all.filter(({ type }) => ['session_started', 'session_extended', 'job_complete'].includes(type));
    expect(turning.map(({ type }) => type)).toEqual([
      'session_started',
      'job_complete',
      'session_extended',
      'job_complete',
    ]);
    expect(turning[2]!.data).toEqual(more);
    expect(all.filter(({ type }) => type === 'budget_warning')).toHaveLength(1);
    // A reader from the start, or from the first end, gets everything to the last event.
    expect(await streamed(id, 0)).toBe(all.length);
    expect(await streamed(id, events.length)).toBe(all.length - events.length);
    expect(await streamed(id, all.length)).toBe(0);
  });

  test('takes the path that it would have taken with the generations from the start', async () => {
    // With more slots the next generation begins beside the last test of the one before.
    const whole = await create({ gepa: { ...gepa, generations: 4 }, max_concurrent: 1 });
    const id = await create({ gepa: { ...gepa, generations: 2 }, max_concurrent: 1 });
    await ended<Session>(on.service, whole);
    expect(await ended<Session>(on.service, id)).toMatchObject({ stopped_by: 'generations' });
    expect((await extend(id, { generations: 3 })).status).toBe(200);
    await ended<Session>(on.service, id);
    expect((await extend(id, { generations: 4 })).body.run).toBe(3);
    await ended<Session>(on.service, id);
    expect(await pathTaken(id)).toEqual(await pathTaken(whole));
  });

  test('in dollars takes the path of a session that had them from the start', async () => {
    const usd = 0.000135;
    const budget = { max_rollouts: 150 };
    const whole = await create({ budget: { ...budget, max_cost_usd: 1 } });
    await ended<Session>(on.service, whole);
    // The bound of a call is higher than its cost, so some dollars are left at the end.
    const id = await create({ budget: { ...budget, max_cost_usd: 70 * usd } });
    const first = await ended<Session>(on.service, id);
    expect(first).toMatchObject({ status: 'completed', stopped_by: 'max_cost_usd' });
    expect((await extend(id)).body.code).toBe('nothing_to_extend');
    expect((await extend(id, { max_cost_usd: 1 })).status).toBe(200);
    const second = await ended<Session>(on.service, id);
    expect(second.budget).toMatchObject({ max_cost_usd: 1 });
    expect(await pathTaken(id)).toEqual(await pathTaken(whole));
    const [cost] = await on.service.query<{ spent: number; calls: number; reserved: number }>(
      `select spent_usd::float8 as spent, reserved_usd::float8 as reserved,
              (select sum(cost_usd) from model_calls where job_id = $1) as calls from job_budgets where job_id = $1`,
      [id],
    );
    expect(cost!.reserved).toBe(0);
    expect(cost!.spent).toBeCloseTo(cost!.calls, 9);
  });

  test('and MIPRO tests more candidates', async () => {
    const id = await create({ algorithm: 'mipro', gepa: undefined, mipro: { num_candidates: 4, num_trials: 5 } });
    const first = await ended<Session>(on.service, id);
    expect((await extend(id, { num_trials: 20 })).status).toBe(200);
    const second = await ended<Session>(on.service, id);
    expect(second.candidates.length).toBeGreaterThan(first.candidates.length);
    expect(second.best_reward).toBeGreaterThanOrEqual(first.best_reward!);
    const rollouts = await rolloutsOf(id);
    expect(rollouts.map(({ ordinal }) => ordinal)).toEqual(rollouts.map((_, index) => index));
  });
});

describe('a cancelled session', () => {
  test('goes on without a larger limit, in the middle of its batch', async () => {
    const budget = { max_rollouts: 150 };
    const whole = await create({ budget });
    await ended<Session>(on.service, whole);
    const calls = on.world.policyCalls().length;
    const held = gate();
    const { answer } = on.world;
    on.world.model.reply(async (request) => {
      if (on.world.policyCalls().length > calls + 40) await held.opened;
      return answer(request);
    });
    const id = await create({ budget });
    await until('calls are held', () => Promise.resolve(on.world.policyCalls().length > calls + 40));
    expect(await extend(id, { max_rollouts: 200 })).toMatchObject({
      status: 409,
      body: { code: 'invalid_state', current_status: 'running' },
    });
    await command(on.service, id, 'cancel');
    expect(await ended<Session>(on.service, id)).toMatchObject({ status: 'cancelled' });
    held.open();
    expect((await rolloutsOf(id)).some(({ status }) => status === 'cancelled')).toBe(true);
    expect((await extend(id)).status).toBe(200);
    const seen = await ended<Session>(on.service, id);
    expect(seen.status).toBe('completed');
    expect(await pathTaken(id)).toEqual(await pathTaken(whole));
    const frames = await on.service.query<{ n: number }>(
      `select sum((rollout->>'count')::int)::int as n from sensor_frames where job_id = $1`,
      [id],
    );
    expect(frames[0]!.n).toBe(seen.progress.rollouts_completed);
  });
});

test('refuses limits that are not raised or do not exist, and a search with nothing left to do', async () => {
  const id = await create({ gepa: { ...gepa, generations: 1 }, budget: { max_rollouts: 150 } }, 12);
  await ended<Session>(on.service, id);
  const pointers = async (body: object) => {
    const answer = await extend(id, body);
    return [answer.status, ...(answer.body.errors ?? []).map(({ pointer }) => pointer)];
  };
  expect(await pointers({ max_rollouts: 150 })).toEqual([422, '/max_rollouts']);
  expect(await pointers({ num_trials: 5, max_cost_usd: 1 })).toEqual([422, '/max_cost_usd', '/num_trials']);
  expect(await pointers({ generations: 2_000 })).toEqual([422, '/generations']);
  expect(await pointers({ container_api_key: 'key', generations: 2 })).toEqual([422, '/container_api_key']);
  expect((await extend(id)).body.code).toBe('nothing_to_extend');
  await on.service.query('delete from search_states where job_id = $1', [id]);
  expect((await extend(id, { generations: 2 })).body.code).toBe('not_extendable');
});

describe('the sample, whose train rows are all right when its budget ends', () => {
  const { rows, prompt } = sampleOf(
    readFileSync(join(import.meta.dirname, '../../../examples/intents/data.jsonl'), 'utf8'),
  );

  test('is not told to go on, and learns why it cannot', async () => {
    const id = await create({
      dataset: {
        rows: rows
          .trim()
          .split('\n')
          .map((row) => JSON.parse(row) as object),
        input: 'text',
        expected: 'label',
      },
      scorer: 'exact',
      initial_prompt: { messages: [{ role: 'system', content: prompt.trim() }] },
      policy: { provider: 'local', model: 'local' },
      proposer: { provider: 'local', model: 'local' },
      gepa: { population_size: 2, generations: 200 },
      budget: { max_rollouts: 300 },
    });
    expect(await ended<Session>(on.service, id)).toMatchObject({ stopped_by: 'max_rollouts' });
    const { nothing_left, diagnosis } = await resultsOf(on.service, id);
    expect(nothing_left).toBe('train_solved');
    expect(diagnosis).toMatchObject({ code: 'better', action: { kind: 'deploy' } });
    for (const max_rollouts of [450, 2_000]) {
      const { status, body } = await extend(id, { max_rollouts });
      expect([status, body.code]).toEqual([409, 'nothing_to_extend']);
      expect(body.detail).toMatch(/train row.*rows\.$/);
    }
  });
});

test('a session whose workflow was terminated goes on from its step log, on the path of a whole one', async () => {
  const whole = await create({});
  await ended<Session>(on.service, whole);
  const calls = on.world.policyCalls().length;
  const held = gate();
  const { answer } = on.world;
  on.world.model.reply(async (request) => {
    if (on.world.policyCalls().length > calls + 90) await held.opened;
    return answer(request);
  });
  const id = await create({});
  await until('calls are held', () => on.world.policyCalls().length > calls + 90);
  await on.service.workflow(id).terminate('as an operator does');
  expect(await ended<Session>(on.service, id)).toMatchObject({ status: 'failed' });
  held.open();
  expect((await extend(id)).status).toBe(200);
  expect(await ended<Session>(on.service, id)).toMatchObject({ status: 'completed' });
  expect(await pathTaken(id)).toEqual(await pathTaken(whole));
}, 90_000);
