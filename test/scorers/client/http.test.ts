import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createScorerClient } from '../../../src/scorers/client/client.js';
import { listen, type Listening } from '../../support/loopback.js';

const client = createScorerClient({ egress: { mode: 'dev', allowlist: [] }, javascriptOrgs: [], retryBaseMs: 5 });
const input = { output: 'Paris', row: { question: 'Capital?' }, expected: 'Paris' };
const { signal } = new AbortController();
type Answer = (response: ServerResponse) => void;

let server: Listening;
/** The next answers; the last one repeats. */
let answers: Answer[] = [];
let received: { method: string | undefined; headers: IncomingMessage['headers']; body: unknown }[] = [];

beforeEach(async () => {
  received = [];
  server = await listen(
    createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const { method, headers } = request;
        received.push({ method, headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
        (answers.length > 1 ? answers.shift()! : answers[0]!)(response);
      })();
    }),
  );
});
afterEach(() => server.close());
afterAll(() => client.close());

const text =
  (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end(body);
const json = (body: unknown): Answer => text(200, JSON.stringify(body), { 'content-type': 'application/json' });
const ask = (given: Answer[], { tryTimeoutMs = 5_000, by = client, onPushback = (_because: string) => {} } = {}) => {
  answers = given;
  return by.askUrl({ url: `${server.url}/score`, tryTimeoutMs, onPushback }, input, signal);
};

test('posts output, row and expected value, and reads reward, feedback and details', async () => {
  const given = { reward: 0.25, feedback: 'too short', details: { words: 1 } };
  expect(await ask([json(given)])).toEqual({ ok: true, ...given });
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({ method: 'POST', body: input, headers: { 'content-type': 'application/json' } });
});

test.each([
  ['/hooks/T0123-abcdef-456789', 'T0123-abcdef-456789'],
  ['/evaluate?token=letters-only', 'letters-only'],
])('a token of the URL %s that the scorer quotes is hidden', async (path, token) => {
  const quoted = `Evaluated at ${path}.`;
  const url = server.url + path;
  answers = [json({ reward: 1, feedback: quoted, details: { path } })];
  const hidden = (value: string) => value.replace(token, '***');
  const answer = await client.askUrl({ url, tryTimeoutMs: 5_000 }, input, signal);
  expect(answer).toEqual({ ok: true, reward: 1, feedback: hidden(quoted), details: { path: hidden(path) } });
  answers = [text(404, quoted)];
  expect(JSON.stringify(await client.askUrl({ url, tryTimeoutMs: 5_000 }, input, signal))).not.toContain(token);
});

test('feedback and details may be absent', async () => {
  expect(await ask([json({ reward: 1 })])).toEqual({ ok: true, reward: 1, feedback: null, details: null });
});

test.each([
  [true, 1],
  [false, 0],
  [1 + Number.EPSILON, 1],
  [-1e-17, 0],
])('the reward %p is %d', async (given, reward) => {
  expect(await ask([json({ reward: given })])).toMatchObject({ ok: true, reward });
});

describe('an answer without a valid reward', () => {
  test.each<[unknown, string]>([
    [{}, 'scorer_reward_invalid'],
    [{ reward: 1.5 }, 'scorer_reward_invalid'],
    [{ reward: 1.000_001 }, 'scorer_reward_invalid'],
    [{ reward: '1' }, 'scorer_reward_invalid'],
    [{ reward: null }, 'scorer_reward_invalid'],
    [[1], 'scorer_answer_invalid'],
  ])('%j: %s', async (body, code) => {
    expect(await ask([json(body)])).toMatchObject({ ok: false, code, infrastructure: false });
    expect(received).toHaveLength(1);
  });
});

describe('retries', () => {
  test.each<[number, number, string, boolean]>([
    [500, 3, 'scorer_error', false],
    [502, 3, 'scorer_error', true],
    [400, 1, 'scorer_rejected', false],
    [302, 1, 'scorer_redirected', false],
  ])('%d is tried %d times: %s', async (status, tries, code, infrastructure) => {
    const result = await ask([text(status, 'broken')]);
    expect(result).toMatchObject({ ok: false, code, infrastructure });
    expect((result as { message: string }).message).toMatch(/^The scorer answered \d+ with: broken/);
    expect(received).toHaveLength(tries);
  });

  test('a busy scorer is asked again, and lowers the concurrency', async () => {
    const pushbacks: string[] = [];
    const result = await ask([text(429, ''), json({ reward: 1 })], {
      onPushback: (because) => void pushbacks.push(because),
    });
    expect(result).toMatchObject({ ok: true, reward: 1 });
    expect(pushbacks).toEqual(['The scorer answered 429']);
  });

  test('a broken connection is tried again', async () => {
    const result = await ask([(response) => response.destroy(), json({ reward: 0.5 })]);
    expect(result).toMatchObject({ ok: true, reward: 0.5 });
    expect(received).toHaveLength(2);
  });

  test('a scorer that never answers times out, which is not the fault of the output', async () => {
    const result = await ask([() => {}], { tryTimeoutMs: 30 });
    expect(result).toMatchObject({ ok: false, code: 'scorer_timeout', infrastructure: true });
    // It may still work on the first.
    expect(received).toHaveLength(1);
  });

  test('no server', async () => {
    await server.close();
    expect(await ask([])).toMatchObject({ ok: false, code: 'scorer_unreachable', infrastructure: true });
  });
});

test('the egress policy holds for every connection', async () => {
  const strict = createScorerClient({ egress: { mode: 'public', allowlist: [] }, javascriptOrgs: [] });
  expect(await ask([json({ reward: 1 })], { by: strict })).toMatchObject({ ok: false, code: 'egress_refused' });
  expect(received).toEqual([]);
  await strict.close();
});

test("rejects with the signal's reason", async () => {
  const aborter = new AbortController();
  answers = [() => aborter.abort(new Error('stopped'))];
  const scoring = { url: server.url, tryTimeoutMs: 5_000 };
  await expect(client.askUrl(scoring, input, aborter.signal)).rejects.toThrow('stopped');
});
