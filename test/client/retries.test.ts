import { createServer, type ServerResponse } from 'node:http';
import { getEventListeners } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Agent, fetch as undiciFetch } from 'undici';
import { Ratchet, RatchetError } from '../../src/client/index.js';
import { someOf } from '../support/environment.js';
import { listen } from '../support/loopback.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startFaultProxy, type Fault, type FaultProxy } from './fault-proxy.js';
import { clientOf, evaluationOf, policy, sums } from './world.js';

// Which requests the client retries: over cut connections to the service, and against a server with
// chosen answers.

const on = serviceOfFile();
let proxy: FaultProxy;
let client: Ratchet;
beforeAll(async () => {
  proxy = await startFaultProxy(() => on.service.url);
  client = clientOf(on.service, { url: proxy.url });
});
afterAll(() => proxy.close());
beforeEach(() => void (proxy.requests.length = 0));

async function failureOf(call: PromiseLike<unknown>): Promise<RatchetError> {
  const error = await Promise.resolve(call).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RatchetError)) throw new Error(`no RatchetError: ${String(error)}`);
  return error;
}

async function count(items: AsyncIterable<unknown>): Promise<number> {
  let number = 0;
  for await (const _ of items) number += 1;
  return number;
}

describe('through cut connections', () => {
  test.each<Fault>(someOf(['lose', { cut: 10 }, 'reset', 'refuse'], 2))(
    'a create under %p makes one job',
    async (fault) => {
      proxy.plan([fault, fault]);
      const tag = `create:${typeof fault === 'string' ? fault : 'cut'}`;
      const job = await client.createEvaluation(evaluationOf(2, { tags: [tag] }));
      const keys = new Set(proxy.requests.map(({ headers }) => headers['idempotency-key']));
      expect([proxy.requests.length, keys.size]).toEqual([3, 1]);
      const made: string[] = [];
      for await (const { job_id } of client.evaluations.list({ tag: [tag] })) made.push(job_id);
      expect(made).toEqual([job.id]);
    },
  );

  test('creates have a key each, and a given key is used', async () => {
    await client.createEvaluation(evaluationOf(2));
    const first = await client.createEvaluation(evaluationOf(2), { idempotencyKey: 'mine' });
    const second = await client.createEvaluation(evaluationOf(2), { idempotencyKey: 'mine' });
    expect(second.id).toBe(first.id);
    const keys = proxy.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), 'mine', 'mine']);
  });

  test('a key of the API is not made twice: a lost answer is an error', async () => {
    proxy.plan(['lose']);
    expect(await failureOf(client.keys.create({ name: 'lost', scopes: ['read'] }))).toMatchObject({
      status: null,
      code: 'unreachable',
    });
    proxy.plan(['refuse']);
    await client.keys.create({ name: 'draining', scopes: ['read'] });
    const names: string[] = [];
    for await (const { name } of client.keys.list()) names.push(name);
    expect(names.filter((name) => ['lost', 'draining'].includes(name)).sort()).toEqual(['draining', 'lost']);
  });

  test('a lost delete and a lost upload are repeated', async () => {
    proxy.plan(['lose']);
    const { dataset_id } = await client.datasets.upload(sums(5));
    proxy.plan(['lose']);
    await client.datasets.delete(dataset_id);
    expect(proxy.requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'DELETE', 'DELETE']);
    expect(await failureOf(client.datasets.get(dataset_id))).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('a stream as a body is sent once', async () => {
    const body = () => new Blob([JSON.stringify(sums(7))]).stream();
    const { dataset_id } = await client.datasets.upload(body(), { type: 'application/json' });
    expect(await count(client.datasets.rows(dataset_id, { limit: 3 }))).toBe(7);
    proxy.requests.length = 0;
    proxy.plan(['reset']);
    expect(await failureOf(client.datasets.upload(body(), { type: 'application/json' }))).toMatchObject({
      status: null,
    });
    expect(proxy.requests).toHaveLength(1);
  });
});

describe('an error', () => {
  test('has status, code, the faulty fields and the request id', async () => {
    const evaluation = evaluationOf(2, { max_concurrent: 0, policy: { ...policy, provider: 'none' } });
    const error = await failureOf(client.createEvaluation(evaluation, { headers: { 'x-request-id': 'mine' } }));
    expect(error).toMatchObject({ name: 'RatchetError', status: 422, code: 'validation_failed', requestId: 'mine' });
    expect(error.fieldErrors.map(({ pointer }) => pointer)).toContain('/max_concurrent');
    expect(proxy.requests).toHaveLength(1);
  });

  test.each([2, 5])('names each of %d faulty fields once', async (fields) => {
    const max = [...Array(fields).keys()];
    const bodies = max.map((at) => [`field${at}`, 1] as const);
    const error = await failureOf(client.createDeployment({ name: 'x', ...Object.fromEntries(bodies) } as never));
    for (const [field] of bodies) expect(error.message.split(field)).toHaveLength(2);
  });

  test('names a wrong key, and a service that does not answer', async () => {
    expect(await failureOf(new Ratchet({ url: on.service.url, apiKey: 'wrong' }).providers())).toMatchObject({
      status: 401,
      code: expect.any(String),
    });
    const nowhere = new Ratchet({ url: 'http://127.0.0.1:9', apiKey: 'x', maxRetries: 0 });
    expect(await failureOf(nowhere.providers())).toMatchObject({ status: null, code: 'unreachable' });
    for (const id of ['', '..']) await expect(nowhere.sessions.handle(id).get()).rejects.toThrow(TypeError);
  });
});

describe('against chosen answers', () => {
  type Step = number | { status: number; headers?: Record<string, string>; code?: string } | 'silent';
  let steps: Step[];
  let calls: { at: number; method: string }[];
  const server = createServer(({ method = '' }, response) => {
    calls.push({ at: Date.now(), method });
    answer(response, steps.shift() ?? 200);
  });
  let close: () => Promise<void>;
  let address: string;
  let chosen: Ratchet;
  beforeAll(async () => {
    const listening = await listen(server);
    ({ close, url: address } = listening);
    chosen = new Ratchet({ url: `${address}/`, apiKey: 'x', maxRetries: 2, timeoutMs: 5_000 });
  });
  afterAll(() => close());
  beforeEach(() => void ([steps, calls] = [[], []]));

  function answer(response: ServerResponse, step: Step): void {
    if (step === 'silent') return;
    const { status, headers = {}, code = 'test' } = typeof step === 'number' ? { status: step } : step;
    response.writeHead(status, headers).end(JSON.stringify({ code, detail: 'Test.' }));
  }

  const should = (advice: 'true' | 'false') => ({ 'x-should-retry': advice });
  const calling = {
    read: () => chosen.request('listProviders'),
    keyed: () => chosen.request('pauseSession', { path: { session_id: 'a' } }),
    unkeyed: () => chosen.deployments.handle('a').chat({ messages: [] }),
  };
  type Caller = keyof typeof calling;

  test.each<[Caller, Step, number]>([
    ['read', 503, 2],
    ['read', 500, 2],
    ['read', 408, 2],
    ['read', 404, 1],
    ['read', { status: 503, headers: should('false') }, 1],
    ['read', { status: 429, headers: { 'retry-after': '3600' } }, 1],
    ['keyed', 502, 2],
    ['keyed', { status: 409, code: 'request_in_flight' }, 2],
    ['keyed', { status: 409, code: 'invalid_state' }, 1],
    ['unkeyed', 429, 2],
    ['unkeyed', 503, 1],
    ['unkeyed', 502, 1],
    ['unkeyed', { status: 503, code: 'draining' }, 2],
    ['unkeyed', { status: 409, headers: should('true') }, 2],
    ['unkeyed', { status: 429, headers: should('false') }, 1],
  ])('%s: %j is asked %i times', async (caller, step, times) => {
    steps = [step];
    const outcome = await calling[caller]().catch((error: unknown) => error);
    expect(calls).toHaveLength(times);
    expect(outcome instanceof RatchetError).toBe(times === 1);
  });

  test('gives up after maxRetries', async () => {
    steps = [503, 503, 503, 503];
    expect(await failureOf(calling.read())).toMatchObject({ status: 503 });
    expect(calls).toHaveLength(3);
  });

  test('waits for retry-after, as seconds or as a date', async () => {
    const date = new Date(Date.now() + 2_000).toUTCString();
    steps = [
      { status: 503, headers: { 'retry-after': '1' } },
      { status: 503, headers: { 'retry-after': date } },
    ];
    await calling.read();
    const [first, second, third] = calls.map(({ at }) => at);
    expect(second! - first!).toBeGreaterThanOrEqual(990);
    expect(third!).toBeGreaterThanOrEqual(Date.parse(date));
  });

  test('a silent service is a timeout, a signal cancels the wait', async () => {
    steps = ['silent', 'silent', 'silent'];
    expect(await failureOf(chosen.providers({ timeoutMs: 100 }).then(() => null))).toMatchObject({ code: 'timeout' });
    steps = [{ status: 503, headers: { 'retry-after': '30' } }];
    const leaving = new AbortController();
    const call = chosen.providers({ signal: leaving.signal });
    setTimeout(() => leaving.abort(new Error('enough')), 50);
    await expect(call).rejects.toThrow('enough');
  });

  test('a limit of fetch itself is a timeout, and a chat is not asked again', async () => {
    const dispatcher = new Agent({ headersTimeout: 1 });
    const limited = (url: string, init: RequestInit) => undiciFetch(url, { ...(init as object), dispatcher });
    steps = ['silent'];
    const client = new Ratchet({ url: address, apiKey: 'x', fetch: limited as unknown as typeof fetch });
    const failure = await failureOf(client.deployments.handle('a').chat({ messages: [] }));
    expect(failure).toMatchObject({ code: 'timeout' });
    expect(failure.message).toContain('a limit of its own');
    expect(calls).toHaveLength(1);
    await dispatcher.close();
  });

  test.each([
    ['a page', 502, '<html>Bad Gateway</html>', { status: 502, code: 'unknown' }],
    ['nothing', 500, '', { status: 500, code: 'unknown' }],
    ['JSON that is no object', 500, 'null', { status: 500, code: 'unknown' }],
    ['a page with 200', 200, '<html>Welcome</html>', { status: null, code: 'invalid_answer' }],
  ])('%s is an error of the service, told once', async (_, status, body, error) => {
    let asked = 0;
    const fetch = () => Promise.resolve(((asked += 1), new Response(body, { status })));
    const page = new Ratchet({ url: 'http://x', fetch, maxRetries: 0 });
    expect(await failureOf(page.providers())).toMatchObject(error);
    expect(asked).toBe(1);
  });

  test('an answer that breaks off is none', async () => {
    const broken = new ReadableStream({ pull: (body) => body.error(new TypeError('terminated')) });
    const client = new Ratchet({ url: 'http://x', fetch: async () => new Response(broken), maxRetries: 0 });
    expect(await failureOf(client.providers())).toMatchObject({ status: null, code: 'unreachable' });
  });
});

describe('the event stream of a service that is away', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const evaluation = { path: { job_id: 'evl_1' } };
  /** A service that is away before the stream, and again before its end. */
  const away = (requests: number, stream = '') => {
    let asked = 0;
    const client = new Ratchet({
      url: 'http://x',
      apiKey: 'x',
      fetch: async () => {
        asked += 1;
        if (asked % (requests + 1) !== 0) throw new TypeError('fetch failed');
        return asked > 2 * requests ? new Response(null, { status: 204 }) : new Response(stream);
      },
    });
    return { client, asked: () => asked };
  };
  const inLongTime = async <T>(call: Promise<T>): Promise<T> => {
    call.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(600_000);
    return call;
  };

  test('is tried 12 times again after each event', async () => {
    const { client, asked } = away(12, 'data: {"seq":1,"type":"job_started"}\n\n');
    expect(await inLongTime(count(client.events('listEvaluationEvents', evaluation)))).toBe(1);
    expect(asked()).toBe(26);
  });

  test('ends after 12 tries without an answer, or after as many as its caller allows', async () => {
    for (const [options, requests] of [
      [{}, 13],
      [{ maxRetries: 1 }, 2],
    ] as const) {
      const { client, asked } = away(1_000);
      const events = client.events('listEvaluationEvents', { ...evaluation, ...options });
      expect(await failureOf(inLongTime(count(events)))).toMatchObject({ code: 'unreachable' });
      expect(asked()).toBe(requests);
    }
  });
});

test('a signal that outlives its calls keeps no listener', async () => {
  const { signal } = new AbortController();
  const client = clientOf(on.service);
  const { body } = await client.download('listProviders', { signal });
  await new Response(body).text();
  const left = await client.download('listProviders', { signal });
  await left.body!.cancel();
  await client.evaluations.handle((await client.createEvaluation(evaluationOf(2))).id).wait({ signal });
  await until('the listeners are gone', () => getEventListeners(signal, 'abort').length === 0);
});

test.each(['127.0.0.1:8787', 'nowhere', 'ftp://x'])('the url %j is refused with the name of the field', (url) => {
  expect(() => new Ratchet({ url })).toThrow(expect.objectContaining({ code: 'invalid_url', status: null }));
  expect(() => new Ratchet({ url })).toThrow(/^url: .*http/);
});
