import { describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { RetryBudget } from '../../../../src/models/routes/deployments/retry-budget.js';
import { gate } from '../../../support/gate.js';
import { until } from '../../../support/until.js';
import type { ModelReply } from '../../../support/fakes/model.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { deploymentsOfFile, question, saying } from '../../../kinds/deployment/routes/support.js';

const it = deploymentsOfFile({ callTimeoutMs: 1_500 });
const policy = (model: string) => ({ provider: 'openai', model });
const models = (...names: string[]) => names.map(policy);
const statsOf = async (id: string) => (await it.http.call('GET', `${base}/${id}/stats`)).body;

/** Answers by model; one without a reply answers with its name. */
function replies(by: Record<string, ModelReply | (() => ModelReply)>): void {
  it.model.reply(({ body }) => {
    const reply = by[body.model] ?? { text: body.model };
    return typeof reply === 'function' ? reply() : reply;
  });
}
let count = 0;
/** Deploys with fallbacks; returns the deployment's id. */
async function deployed(fallbacks: object): Promise<string> {
  const { status, body } = await it.create({ name: `f-${(count += 1)}`, source: saying('Own.'), fallbacks });
  expect(status).toBe(201);
  return body.id as string;
}
const asked = () => it.model.requests.map(({ body }) => body.model);
const textOf = async (answer: Response) =>
  ((await answer.json()) as { choices: [{ message: { content: string } }] }).choices[0].message.content;

describe('another model answers', () => {
  test.each<[string, ModelReply]>([
    ['408', { status: 408 }],
    ['429', { status: 429, headers: { 'retry-after': '60' } }],
    ['500', { status: 500 }],
    ['a broken connection', { cutAfter: 0 }],
    ['a refused key', { status: 401 }],
    ['a model that is gone', { status: 404 }],
    ['a key without the right', refusal(403, 'permission_error')],
    ['a code that no header takes', refusal(429, '\ud800'.repeat(3))],
    ['a code of 20,000 characters', refusal(500, 'x'.repeat(20_000))],
    ['an error inside a 200', { fields: { choices: undefined, error: { message: 'Overloaded', code: 529 } } }],
    ['an empty answer', { fields: { choices: [] } }],
  ])('after %s', async (_, failing) => {
    replies({ 'gpt-4o-mini': failing });
    const id = await deployed({ models: models('second') });
    const answer = await it.ask(id, question);
    expect(answer.status).toBe(200);
    expect(await textOf(answer)).toBe('second');
    expect(answer.headers.get('x-ratchet-model')).toBe('openai/second');
    expect(answer.headers.get('x-ratchet-tried')).toMatch(/^openai\/gpt-4o-mini \S+$/);
    expect(await statsOf(id)).toMatchObject({
      requests: 1,
      errors: 0,
      models: { 'openai/gpt-4o-mini': { tries: 1, failed: 1 }, 'openai/second': { tries: 1, failed: 0 } },
    });
  });

  test('with the prompt, and parameters of the deployment where its own policy has none', async () => {
    replies({ 'gpt-4o-mini': { status: 503 } });
    const own = { ...policy('second'), max_tokens: 7 };
    await it.ask(await deployed({ models: [own] }), { ...question, top_p: 0.5 });
    expect(it.model.requests[1]!.body).toMatchObject({
      model: 'second',
      temperature: 0,
      max_tokens: 7,
      top_p: 0.5,
      messages: [{ role: 'system', content: 'Own.' }, question.messages[0]],
    });
  });

  test('within a stream, before its first event', async () => {
    const failing: ModelReply[] = [
      { behave: (_rollout, response) => void response.writeHead(429).end('{}') },
      { cutAfter: 0 },
      {
        behave: (_rollout, response) =>
          stream(response, [': waiting\n\n', 'data: {"error":{"message":"Overloaded"}}\n\n']),
      },
      { behave: (_rollout, response) => stream(response, [': waiting\n\n']) },
    ];
    for (const reply of failing) {
      replies({ 'gpt-4o-mini': reply });
      const id = await deployed({ models: models('second') });
      const answer = await it.ask(id, { ...question, stream: true });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-ratchet-model')).toBe('openai/second');
      expect(await answer.text()).toContain('[DONE]');
      expect((await statsOf(id)).errors).toBe(0);
    }
  });

  test('after the limits of time for a first event and for a whole answer', async () => {
    const id = await deployed({ models: models('second'), first_byte_timeout: 0.1, timeout: 0.1 });
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    it.model.reply(async ({ body }) => {
      if (body.model === 'gpt-4o-mini') await held;
      return { text: body.model };
    });
    const whole = await it.ask(id, question);
    expect(await textOf(whole)).toBe('second');
    const streamed = await it.ask(id, { ...question, stream: true });
    expect(await streamed.text()).toContain('second');
    release();
    const { models: tries, usage } = await statsOf(id);
    expect(tries).toMatchObject({ 'openai/gpt-4o-mini': { tries: 2, failed: 2 }, 'openai/second': { tries: 2 } });
    // What a request costs that was given up is not known.
    expect(usage.requests_without_cost).toBe(2);
  });

  test('and a slow stream that has begun is not given up', async () => {
    const id = await deployed({ models: models('second'), first_byte_timeout: 0.2 });
    replies({ 'gpt-4o-mini': { text: 'one two three four', pauseMs: 100 } });
    const answer = await it.ask(id, { ...question, stream: true });
    expect(await answer.text()).toContain('four');
    expect(answer.headers.get('x-ratchet-model')).toBe('openai/gpt-4o-mini');
  });
});

describe('no other model is asked', () => {
  test('after a fault of the request, or once a stream has begun', async () => {
    const id = await deployed({ models: models('second') });
    replies({ 'gpt-4o-mini': { status: 400 } });
    expect((await it.ask(id, question)).status).toBe(400);
    replies({ 'gpt-4o-mini': { text: 'a b c', cutAfter: 2 } });
    expect(await (await it.ask(id, { ...question, stream: true })).text()).toContain('upstream_connection_lost');
    expect(asked()).toEqual(['gpt-4o-mini', 'gpt-4o-mini']);
    expect(await statsOf(id)).toMatchObject({ models: { 'openai/gpt-4o-mini': { tries: 2, failed: 2 } }, errors: 2 });
  });

  test('without the setting; a change keeps the fields that it does not give', async () => {
    const id = await it.deploy('plain');
    const patch = (body: object) => it.http.call('PATCH', `${base}/${id}`, body);
    expect((await patch({ fallbacks: { models: [{ provider: 'nowhere', model: 'm' }] } })).body).toMatchObject({
      status: 422,
      errors: [{ pointer: '/fallbacks/models/0/provider' }],
    });
    expect((await patch({ fallbacks: { models: models('second'), timeout: 5 } })).status).toBe(200);
    expect((await patch({ fallbacks: { retries: 1 } })).status).toBe(200);
    expect((await it.http.call('GET', `${base}/${id}`)).body.fallbacks).toEqual({
      models: models('second'),
      retries: 1,
      retry_budget: 0.1,
      first_byte_timeout: null,
      timeout: 5,
    });
    expect((await patch({ fallbacks: null })).status).toBe(200);
    replies({ 'gpt-4o-mini': { status: 500 } });
    expect((await it.ask(id, question)).status).toBe(500);
  });

  test('after a retry that refuses the request, and for a caller who is gone', async () => {
    const id = await deployed({ models: models('second'), retries: 1, timeout: 0.2 });
    let tries = 0;
    replies({ 'gpt-4o-mini': () => ({ status: (tries += 1) === 1 ? 429 : 400, headers: { 'retry-after': '0' } }) });
    expect((await it.ask(id, question)).status).toBe(400);
    expect(asked()).toEqual(['gpt-4o-mini', 'gpt-4o-mini']);
    it.model.requests.length = 0;
    const held = gate();
    it.model.reply(() => held.opened.then(() => ({})));
    const caller = new AbortController();
    const url = `${it.url}${base}/${id}/chat/completions`;
    const headers = { authorization: `Bearer ${it.http.key}`, 'content-type': 'application/json' };
    const call = fetch(url, { method: 'POST', headers, body: JSON.stringify(question), signal: caller.signal });
    await until('the model is asked', () => it.model.requests.length > 0);
    caller.abort();
    await call.catch(() => undefined);
    await until('the call is counted', async () => (await statsOf(id)).requests === 2);
    held.open();
    expect(asked()).toEqual(['gpt-4o-mini']);
    expect(await statsOf(id)).toMatchObject({ aborted: 1, models: { 'openai/gpt-4o-mini': { tries: 3, failed: 2 } } });
  });
});

test('if none answers, the failure is that of the own model, and every try is counted once', async () => {
  replies({
    'gpt-4o-mini': { status: 429, headers: { 'retry-after': '60' } },
    second: { status: 500 },
    third: { status: 401 },
  });
  const id = await deployed({ models: models('second', 'third') });
  const answer = await it.ask(id, question);
  expect(answer.status).toBe(429);
  expect(answer.headers.get('retry-after')).toBe('60');
  expect(answer.headers.get('x-ratchet-model')).toBe('openai/gpt-4o-mini');
  expect(asked()).toEqual(['gpt-4o-mini', 'second', 'third']);
  const once = { tries: 1, failed: 1 };
  expect(await statsOf(id)).toMatchObject({
    requests: 1,
    errors: 1,
    models: { 'openai/gpt-4o-mini': once, 'openai/second': once, 'openai/third': once },
  });
});

test('tries and their cost count if the call ends while a later model is asked', async () => {
  const held = gate();
  const usage = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 };
  it.model.reply(async ({ body }) => {
    if (body.model === 'gpt-4o-mini') return { usage, fields: { choices: [] } };
    await held.opened;
    return {};
  });
  const id = await deployed({ models: models('gpt-4o') });
  const answer = await it.ask(id, question);
  held.open();
  expect(answer.status).toBe(504);
  const once = { tries: 1, failed: 1 };
  expect(await statsOf(id)).toMatchObject({
    requests: 1,
    errors: 1,
    models: { 'openai/gpt-4o-mini': once, 'openai/gpt-4o': once },
    usage: { total_cost_usd: expect.closeTo((1_000 * 0.15 + 500 * 0.6) / 1e6, 9), requests_without_cost: 1 },
  });
});

test('retries come before the next model, within their budget', async () => {
  replies({ 'gpt-4o-mini': { status: 503, headers: { 'retry-after': '0' } } });
  const id = await deployed({ models: models('second'), retries: 2, retry_budget: 0 });
  for (let request = 0; request < 8; request += 1) expect((await it.ask(id, question)).status).toBe(200);
  // Ten at once, and none from a share of 0.
  expect(asked().filter((model) => model === 'gpt-4o-mini')).toHaveLength(8 + 10);
  const long = await deployed({ models: models('second'), retries: 3 });
  it.model.requests.length = 0;
  replies({ 'gpt-4o-mini': { status: 429, headers: { 'retry-after': '30' } } });
  expect((await it.ask(long, question)).status).toBe(200);
  expect(asked()).toEqual(['gpt-4o-mini', 'second']);
});

test('a budget gives the share of the requests, and ten more at once', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(200), (share, requests) => {
      const budgets = new RetryBudget();
      let taken = 0;
      for (let request = 0; request < requests; request += 1) {
        const budget = budgets.of('dep_1', share);
        for (let retry = 0; retry < 3; retry += 1) if (budget.take()) taken += 1;
      }
      expect(taken).toBeLessThanOrEqual(10 + share * requests + 1e-9);
      expect(taken).toBeGreaterThanOrEqual(Math.min(3 * requests, Math.floor(10 + share * requests - 1e-9)) - 1);
    }),
  );
});

function refusal(status: number, code: string): ModelReply {
  return {
    behave: (_rollout, response) =>
      void response.writeHead(status).end(JSON.stringify({ error: { message: 'No.', code } })),
  };
}

function stream(response: ServerResponse, parts: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const part of parts) response.write(part);
  response.end();
}
