import { putSecret } from '../../../src/access/store/secrets.js';
import { secretKey } from '../../platform/http/support.js';
import { describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { hide } from '../../../src/retention/store/marks.js';
import { readUsage } from '../../../src/jobs/store/usage.js';
import { policy, proxyOfFile, question, system, systemOf, type TestProxy } from './support.js';

const proxy = proxyOfFile();
const last = () => proxy.model.requests.at(-1)!;
const json = async (answer: Response) =>
  (await answer.json()) as Record<string, unknown> & { error: Record<string, unknown> };

describe('the candidate of a call', () => {
  test('a rollout gets its own candidate, always; its id is the correlation id', async () => {
    const job = await proxy.newSession();
    const second = await proxy.addCandidate(job, 1, 'Candidate one.');
    await proxy.addCandidate(job, 2, 'The best.', true);
    const rollout = await proxy.newRollout(job, 0, 1);
    for (const status of ['running', 'paused', 'completed']) {
      await proxy.setStatus(job, status);
      const answer = await proxy.post(job, `/${rollout}`, { ...question, seed: status.length });
      expect(answer.status).toBe(200);
      expect(systemOf(last())).toBe('Candidate one.');
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'x-gepa-rollout-idx': '0',
        'x-gepa-rollout-id': rollout,
        'x-gepa-candidate-id': second,
        'x-gepa-correlation-id': rollout,
      });
    }
  });

  test('any other correlation id gets the best so far, and keeps it', async () => {
    const job = await proxy.newSession();
    const rollout = await proxy.newRollout(job, 0, 0);
    const first = await proxy.post(job, '/mine');
    expect(systemOf(last())).toBe('Baseline prompt.');
    const best = await proxy.addCandidate(job, 1, 'Better.', true);
    const again = await proxy.post(job, '/mine');
    expect(systemOf(last())).toBe('Baseline prompt.');
    const other = await proxy.post(job, '/other/v1');
    expect(systemOf(last())).toBe('Better.');
    expect(other.headers.get('x-gepa-candidate-id')).toBe(best);
    expect(first.headers.get('x-gepa-rollout-id')).toBe(again.headers.get('x-gepa-rollout-id'));
    expect(first.headers.get('x-gepa-rollout-id')).not.toBe(rollout);
    expect([first, again, other].map((a) => a.headers.get('x-gepa-rollout-idx'))).toEqual(['1', '1', '2']);
    const later = await proxy.newRollout(job, 1, 0);
    expect((await proxy.post(job, `/${later}`)).headers.get('x-gepa-rollout-idx')).toBe('3');
  });

  test('concurrent calls with a new correlation id get one rollout', async () => {
    const job = await proxy.newSession();
    const ids = await Promise.all(
      Array.from({ length: 12 }, async () => (await proxy.post(job, '/race')).headers.get('x-gepa-rollout-id')),
    );
    expect(new Set(ids).size).toBe(1);
  });

  test('the same correlation id in two sessions is two rollouts', async () => {
    const [a, b] = [await proxy.newSession(), await proxy.newSession()];
    const ids = [await proxy.post(a, '/same'), await proxy.post(b, '/same')].map((r) =>
      r.headers.get('x-gepa-rollout-id'),
    );
    expect(new Set(ids).size).toBe(2);
  });

  test('each call without a correlation id gets a new one, also below /v1', async () => {
    const job = await proxy.newSession();
    const given = [];
    for (const path of ['', '', '/v1', '/v1']) given.push(await proxy.post(job, path));
    const ids = given.map((answer) => answer.headers.get('x-gepa-correlation-id')!);
    expect(new Set(ids).size).toBe(4);
    const again = await proxy.post(job, `/${ids[0]}`);
    expect(again.headers.get('x-gepa-rollout-id')).toBe(given[0]!.headers.get('x-gepa-rollout-id'));
  });

  test('a completed or paused session serves the best; a cancelled or failed one is 409', async () => {
    const job = await proxy.newSession();
    await proxy.addCandidate(job, 1, 'Better.', true);
    for (const status of ['paused', 'completed']) {
      await proxy.setStatus(job, status);
      expect((await proxy.post(job, `/when-${status}`)).status).toBe(200);
      expect(systemOf(last())).toBe('Better.');
    }
    for (const status of ['cancelled', 'failed']) {
      await proxy.setStatus(job, status);
      const answer = await proxy.post(job, `/when-${status}`);
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([409, 'false']);
      expect((await json(answer)).error).toMatchObject({
        code: `session_${status}`,
        message: expect.stringContaining(status) as unknown,
      });
    }
    expect(proxy.model.requests).toHaveLength(2);
  });

  test('an unknown baseline passes through; the initial prompt of the request is known at once', async () => {
    const unknown = await proxy.newSession({ baseline: null });
    const answer = await proxy.post(unknown, `/${await proxy.newRollout(unknown, 0, 0)}`);
    expect(systemOf(last())).toBe('The container’s own prompt.');
    expect(answer.headers.get('x-gepa-candidate-id')).toBe(`cand_${unknown.jobId.slice(4)}_0`);
    const given = await proxy.newSession({
      baseline: null,
      spec: { initialPrompt: [system('Given.')] },
      status: 'pending',
    });
    await proxy.post(given, '/early');
    expect(systemOf(last())).toBe('Given.');
  });

  test('an evaluation substitutes its candidate; without one, messages pass through', async () => {
    const of = await proxy.newEvaluation([system('Evaluate me.')]);
    await proxy.post(of, `/${await proxy.newRollout(of, 0, null)}`);
    expect(systemOf(last())).toBe('Evaluate me.');
    const asIs = await proxy.newEvaluation(null);
    const answer = await proxy.post(asIs, `/${await proxy.newRollout(asIs, 0, null)}`);
    expect(last().body.messages).toEqual(question.messages);
    expect(answer.headers.has('x-gepa-candidate-id')).toBe(false);
    await proxy.post(asIs, '/mine');
    expect(last().body.messages).toEqual(question.messages);
    await proxy.setStatus(asIs, 'failed');
    expect((await json(await proxy.post(asIs, '/mine'))).error).toMatchObject({ code: 'evaluation_failed' });
  });
});

describe('changes to a request', () => {
  const sent = async (body: Record<string, unknown>, spec = {}) => {
    const job = await proxy.newSession({ spec });
    expect((await proxy.post(job, '/c', body)).status).toBe(200);
    return last().body as Record<string, unknown>;
  };
  const user = {
    role: 'user',
    content: [
      { type: 'text', text: 'hi' },
      { type: 'image_url', image_url: { url: 'data:,' } },
    ],
  };

  test('forwards every field, including unknown ones', async () => {
    const body = {
      model: 'gpt-4.1',
      messages: [user],
      x_unknown: { deep: [1, null, { a: 'é😀' }] },
      temperature: 0,
      tools: [],
      n: 1,
      stream: false,
    };
    expect(await sent(body)).toEqual({ ...body, messages: [system('Baseline prompt.'), user] });
  });

  test('replaces the system message in its place, or inserts it first', async () => {
    const messages = async (...given: unknown[]) => (await sent({ messages: given }))['messages'];
    expect(await messages(user, { role: 'system', content: 'old', name: 'x' })).toEqual([
      user,
      { role: 'system', content: 'Baseline prompt.', name: 'x' },
    ]);
    expect(await messages({ role: 'developer', content: 'old' }, user)).toEqual([
      { role: 'developer', content: 'Baseline prompt.' },
      user,
    ]);
    expect(await messages()).toEqual([system('Baseline prompt.')]);
    const second = { role: 'system', content: 'of the conversation' };
    expect(await messages(system('old'), user, second)).toEqual([system('Baseline prompt.'), user, second]);
  });

  test('adds the policy’s model and fields where the body has none', async () => {
    expect(await sent({ messages: [user] })).toMatchObject({ model: 'gpt-4o-mini', temperature: 0.5 });
    expect(await sent({ messages: [user], model: null, temperature: null })).toMatchObject({
      model: 'gpt-4o-mini',
      temperature: null,
    });
    expect(await sent({ messages: [user], model: 'other', temperature: 1 })).toMatchObject({
      model: 'other',
      temperature: 1,
    });
    const params = { stream: true, stream_options: {}, messages: [], model: 'x', max_tokens: 5, top_p: 0.1 };
    const merged = await sent({ messages: [user], max_completion_tokens: 9 }, { policy: { ...policy, params } });
    expect(merged).toEqual({
      messages: [system('Baseline prompt.'), user],
      model: 'gpt-4o-mini',
      top_p: 0.1,
      max_completion_tokens: 9,
    });
  });

  test.each(['api_key', 'api_base', 'base_url', 'extra_headers'])('refuses %s', async (name) => {
    const job = await proxy.newSession();
    const answer = await proxy.post(job, '/c', { ...question, [name]: 'x' });
    expect(answer.status).toBe(400);
    expect((await json(answer)).error).toMatchObject({
      type: 'invalid_request_error',
      param: name,
      message: expect.stringContaining(name) as unknown,
    });
    expect(proxy.model.requests).toEqual([]);
  });

  test.each([
    ['no messages', {}, 'messages'],
    ['messages other than a list', { messages: 'hi' }, 'messages'],
    ['a list as body', [], null],
  ])('%s: 400', async (_name, body, param) => {
    const answer = await proxy.post(await proxy.newSession(), '/c', body);
    expect([answer.status, (await json(answer)).error['param']]).toEqual([400, param]);
  });
});

test('a container’s request is sent and recorded without its keys, and else unchanged', async () => {
  const job = await proxy.newSession();
  const rollout = await proxy.newRollout(job, 0, null);
  const ref = { ...job, name: 'container_api_key', origin: 'http://127.0.0.1:9' };
  await proxy.http.db.org(job.orgId, (tx) => putSecret(tx, secretKey, ref, 'canary-of-the-container'));
  const key = proxy.inferenceKey(job, rollout);
  const keys = ['canary-of-the-container', key, Buffer.from(key).toString('base64')];
  const content = `I have ${keys.join(' and ')}`;
  const headers = { authorization: `Bearer ${key}` };
  await proxy.post(job, `/${rollout}`, { messages: [{ role: 'user', content }], logprobs: true }, headers);
  const [{ request } = { request: {} }] = await proxy.calls(job);
  for (const body of [last().body, request]) {
    expect(body).toMatchObject({ logprobs: true });
    expect(JSON.stringify(body)).toMatch(/I have \*\*\* and \*\*\* and \*\*\*/);
    expect(JSON.stringify(body)).not.toContain('canary');
  }
  const other = { messages: [{ role: 'user', content: 'a rip_ key' }], logprobs: true };
  await proxy.post(job, `/${rollout}`, other, headers);
  expect([last().body['logprobs'], last().body.messages.at(-1)]).toEqual([true, other.messages[0]]);
});

describe('authorization', () => {
  test('refuses a missing key, and hides another organization’s session', async () => {
    const job = await proxy.newSession();
    for (const path of ['', '/c', '/c/v1']) {
      const answer = await proxy.post(job, path, question, { authorization: '' });
      expect(answer.status).toBe(401);
      expect(Object.keys(await json(answer))).toEqual(['error']);
      const foreign = await proxy.post(job, path, question, { authorization: `Bearer ${proxy.http.otherKey}` });
      expect([foreign.status, (await json(foreign)).error['code']]).toEqual([404, 'not_found']);
    }
    expect((await proxy.post({ orgId: 'default', jobId: `ses_${'0'.repeat(32)}` }, '/c')).status).toBe(404);
    expect((await proxy.post({ orgId: 'default', jobId: 'ses_%00' }, '/c')).status).toBe(404);
    expect(await proxy.calls(job)).toEqual([]);
  });

  test('a job that is marked for deletion is not found', async () => {
    const job = await proxy.newSession();
    await proxy.setStatus(job, 'completed');
    expect((await proxy.post(job, '/c')).status).toBe(200);
    await proxy.http.db.org(job.orgId, (tx) => hide(tx, job));
    const answer = await proxy.post(job, '/c');
    expect([answer.status, (await json(answer)).error['code']]).toEqual([404, 'not_found']);
  });

  test('an inference key opens only its rollout, and expires with the job', async () => {
    const job = await proxy.newSession();
    const [mine, other] = [await proxy.newRollout(job, 0, 0), await proxy.newRollout(job, 1, 0)];
    const authorization = `Bearer ${proxy.inferenceKey(job, mine)}`;
    const status = async (path: string, ref = job) => (await proxy.post(ref, path, question, { authorization })).status;
    expect(await status(`/${mine}`)).toBe(200);
    expect(await status(`/${mine}/v1`)).toBe(200);
    expect(await status(`/${other}`)).toBe(401);
    expect(await status('')).toBe(401);
    expect(await status(`/${mine}`, await proxy.newSession())).toBe(401);
    await proxy.setStatus(job, 'paused');
    expect(await status(`/${mine}`)).toBe(200);
    for (const ended of ['completed', 'cancelled', 'failed']) {
      await proxy.setStatus(job, ended);
      const answer = await proxy.post(job, `/${mine}`, question, { authorization });
      expect([answer.status, answer.headers.has('www-authenticate')]).toEqual([401, true]);
    }
  });

  test('limits a correlation id to the characters of a header', async () => {
    const job = await proxy.newSession();
    for (const id of ['a%0Ab', 'a%20b', 'a%00b', '%C3%A9', 'x'.repeat(257)]) {
      expect((await proxy.post(job, `/${id}`)).status).toBe(400);
    }
    expect((await proxy.post(job, '/seed:7@run-1.x_y~z')).status).toBe(200);
  });
});

describe('answers and records', () => {
  test('returns the answer byte for byte, its cost in a header, and records all of it', async () => {
    const job = await proxy.newSession();
    const candidate = await proxy.addCandidate(job, 1, 'Candidate one.');
    const rollout = await proxy.newRollout(job, 0, 1);
    const raw =
      '{"id":"x", "model":"gpt-4o-mini","choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":1000,"completion_tokens":10,"total_tokens":1010},"unknown":1.0}';
    proxy.model.reply(() => ({ raw }));
    const answer = await proxy.post(job, `/${rollout}`);
    expect(await answer.text()).toBe(raw);
    expect(Number(answer.headers.get('x-ratchet-cost-usd'))).toBeCloseTo(0.000156);
    expect(await proxy.calls(job)).toMatchObject([
      {
        purpose: 'rollout',
        rollout_id: rollout,
        correlation_id: rollout,
        candidate_id: candidate,
        occurrence: 0,
        served_attempt: 1,
        provider: 'openai',
        model: 'gpt-4o-mini',
        request: last().body,
        response: JSON.parse(raw),
        stream: false,
        http_status: 200,
        prompt_tokens: 1000,
        completion_tokens: 10,
        cost_source: 'table',
        latency_ms: expect.any(Number) as unknown,
      },
    ]);
    await proxy.post(job, '/mine');
    const usage = await proxy.http.db.org('default', (tx) => readUsage(tx, job.jobId));
    expect(usage).toEqual({
      promptTokens: 2000,
      completionTokens: 20,
      totalCostUsd: expect.closeTo(0.000312) as unknown,
      costSource: 'table',
      calls: 2,
      answered: 1,
      cached: 0,
    });
  });

  test('the sum is unknown if the cost of one call is, and without a call', async () => {
    const job = await proxy.newSession();
    const usage = () => proxy.http.db.org('default', (tx) => readUsage(tx, job.jobId));
    expect(await usage()).toMatchObject({
      promptTokens: 0,
      completionTokens: 0,
      totalCostUsd: null,
      costSource: 'unknown',
    });
    await proxy.post(job, '/a');
    const answer = await proxy.post(job, '/b', { ...question, model: 'my-own-model' });
    expect(answer.headers.has('x-ratchet-cost-usd')).toBe(false);
    expect(await usage()).toMatchObject({
      promptTokens: expect.any(Number) as unknown,
      totalCostUsd: null,
      costSource: 'unknown',
    });
  });

  test('records an answer with characters that Postgres rejects', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({ raw: '{"choices":[{"message":{"content":"a\\u0000b\\ud800c"}}]}' }));
    expect((await proxy.post(job, '/c')).status).toBe(200);
    expect((await proxy.calls(job))[0]!.response!.choices![0]!.message.content).toBe('a\ufffdb\ufffdc');
  });

  test.each([
    ['digits', `0.${'1'.repeat(20_000)}`],
    ['an exponent', '1e200000'],
  ])('passes on and records a number that jsonb refuses: %s', async (_, number) => {
    const message = { role: 'assistant', content: 'Yes' };
    const completion = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], score: 0 });
    proxy.model.reply(() => ({ raw: completion.replace('"score":0', `"score":${number}`) }));
    const job = await proxy.newSession();
    const answer = await proxy.post(job, '/a');
    expect([answer.status, (await answer.text()).includes(number)]).toEqual([200, true]);
    expect((await proxy.calls(job))[0]!.response!.choices![0]!.message.content).toBe('Yes');
  });

  const errors: [string, Parameters<TestProxy['model']['reply']>[0], number, Record<string, unknown>][] = [
    [
      'OpenAI’s own',
      () => ({ status: 400, raw: '{"error":{"message":"bad","type":"t","code":"c","param":"p","more":1}}' }),
      400,
      { message: 'bad', type: 't', code: 'c', param: 'p', more: 1 },
    ],
    [
      'Google’s list',
      () => ({ status: 404, raw: '[{"error":{"message":"no model"}}]' }),
      502,
      { message: 'no model', type: 'upstream_error', code: 'model_not_found' },
    ],
    [
      'no JSON',
      () => ({ status: 503, raw: '<html>' }),
      503,
      { message: expect.stringContaining('<html>') as unknown, code: '503' },
    ],
    [
      'our key refused',
      () => ({ status: 401, raw: '{"error":{"message":"Incorrect API key sk-sec***"}}' }),
      502,
      { code: 'provider_refused_key', message: expect.not.stringContaining('sk-sec') as unknown },
    ],
    [
      'our key forbidden',
      () => ({ status: 403, raw: '{"error":{"message":"not in your plan"}}' }),
      502,
      {
        code: 'provider_refused',
        message: expect.stringMatching(/^Provider "openai" .* service's key: not in your plan/) as unknown,
      },
    ],
    ['a redirect', () => ({ status: 302, raw: '' }), 502, { code: '302' }],
    ['200 without JSON', () => ({ raw: 'hello' }), 502, { code: 'upstream_answer_invalid' }],
    ['a reset', () => ({ cutAfter: 0 }), 502, { code: 'upstream_connection_lost' }],
  ];
  test.each(errors)('returns a provider’s error: %s', async (_name, reply, status, error) => {
    const job = await proxy.newSession();
    proxy.model.reply(reply);
    const answer = await proxy.post(job, '/c');
    expect([answer.status, await json(answer)]).toEqual([status, { error: expect.objectContaining(error) as unknown }]);
    // The record keeps the provider's status, by which a failed rollout is explained.
    const recorded =
      { model_not_found: 404, provider_refused: 403, provider_refused_key: 401 }[error['code'] as string] ?? status;
    expect(await proxy.calls(job)).toMatchObject([{ http_status: recorded, response: { error } }]);
  });

  test('429 keeps Retry-After, and a refused call costs nothing', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({
      status: 429,
      raw: '{"error":{"message":"slow down"}}',
      headers: { 'retry-after': '7' },
    }));
    const answer = await proxy.post(job, '/c');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await proxy.calls(job)).toMatchObject([{ cost_usd: 0, cost_source: 'table', prompt_tokens: 0 }]);
  });

  test.each([
    [402, 502, 'provider_refused_account', 'false'],
    [405, 502, 'provider_rejected', 'false'],
    [408, 504, 'upstream_timeout', null],
    [409, 502, 'provider_conflict', null],
    [410, 502, 'model_not_found', 'false'],
    [421, 502, 'provider_rejected', 'false'],
  ])("the provider's %d does not read as ours: %d %s", async (status, expected, code, shouldRetry) => {
    proxy.model.reply(() => ({ status, raw: '{"error":{"message":"no"}}' }));
    const answer = await proxy.post(await proxy.newSession(), '/c');
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([expected, shouldRetry]);
    expect((await json(answer)).error).toMatchObject({ message: 'no', code, provider_status: status });
  });

  test('a refusal that no repetition ends says so, without retry-after', async () => {
    const raw = '{"error":{"message":"no credit","code":"insufficient_quota"}}';
    for (const headers of [{}, { 'x-should-retry': 'false', 'retry-after': '1' }]) {
      proxy.model.reply(() => ({ status: 429, raw, headers }));
      const answer = await proxy.post(await proxy.newSession(), '/c');
      expect([answer.status, answer.headers.get('x-should-retry'), answer.headers.get('retry-after')]).toEqual([
        429,
        'false',
        null,
      ]);
    }
  });

  test.each([
    [429, '1'],
    [503, '1'],
    [500, null],
  ])('%d without Retry-After is returned with retry-after %s', async (status, expected) => {
    proxy.model.reply(() => ({ status, raw: '{"error":{"message":"later"}}' }));
    const answer = await proxy.post(await proxy.newSession(), '/c');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, expected]);
  });

  test('reports a provider without its key', async () => {
    const job = await proxy.newSession({ spec: { policy: { ...policy, provider: 'groq' } } });
    const answer = await proxy.post(job, '/c');
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false']);
    expect((await json(answer)).error).toMatchObject({
      code: 'provider_not_usable',
      message: expect.stringContaining('GROQ_API_KEY') as unknown,
    });
  });

  test('the answers to a refused call are documented', async () => {
    const document = (await proxy.http.call('GET', '/openapi.json')).body;
    const { responses } = document.paths['/api/gepa/v1/{session_id}/chat/completions'].post;
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '413', '415', '422']));
  });

  test('the openai client reads answers and errors', async () => {
    const job = await proxy.newSession();
    const client = proxy.openai(job, '/sdk');
    const completion = await client.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(completion.choices[0]!.message.content).toBe('answer 1 to: hi');
    await proxy.setStatus(job, 'cancelled');
    const refused = client.chat.completions.create({ model: 'm', messages: [] }, { maxRetries: 2 });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.ConflictError);
    await expect(refused).rejects.toMatchObject({ code: 'session_cancelled' });
  });

  test('the local provider answers in the process', async () => {
    const job = await proxy.newSession({ spec: { policy: { provider: 'local', model: 'local', params: {} } } });
    const answer = await proxy.post(job, '/c');
    expect([answer.status, answer.headers.get('x-ratchet-cost-usd')]).toEqual([200, '0']);
    expect(await proxy.calls(job)).toMatchObject([{ cost_usd: 0, cost_source: 'table' }]);
  });
});

test('a deeply nested answer is passed on as it is, and recorded with bounded nesting', async () => {
  const job = await proxy.newSession();
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const raw = `{"choices":[{"message":{"content":"Yes"}}],"usage":{"prompt_tokens":3,"completion_tokens":1},"a":${deep}}`;
  proxy.model.reply(() => ({ raw }));
  const answer = await proxy.post(job, '/deep');
  expect([answer.status, await answer.text()]).toEqual([200, raw]);
  expect(await proxy.calls(job)).toMatchObject([
    { http_status: 200, prompt_tokens: 3, response: { choices: [{ message: { content: 'Yes' } }] } },
  ]);
});
