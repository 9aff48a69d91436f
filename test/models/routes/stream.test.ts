import { describe, expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { until } from '../../support/until.js';
import { policy, proxyOfFile, question, startProxy, type TestProxy } from './support.js';

const proxy = proxyOfFile({ recordPatienceMs: 200 });
const streamed = { ...question, stream: true };
const last = () => proxy.model.requests.at(-1)!;

function dataOf(stream: string): unknown[] {
  return stream
    .split('\n\n')
    .filter(Boolean)
    .map((event) => event.replace(/^data: /, ''))
    .map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as unknown)));
}
const textOf = (chunks: unknown[]) =>
  chunks.map((chunk) => (chunk as OpenAI.ChatCompletionChunk).choices?.[0]?.delta.content ?? '').join('');

describe('a streamed answer', () => {
  test('arrives chunk by chunk in the openai client', async () => {
    const job = await proxy.newSession();
    let go: () => void = () => undefined;
    proxy.model.reply(() => ({ text: 'one two three', hold: new Promise<void>((resolve) => (go = resolve)) }));
    const stream = await proxy
      .openai(job, '/sdk')
      .chat.completions.create({ model: 'gpt-4o-mini', messages: [], stream: true });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) {
      // The first chunk arrives while the model still holds back the rest.
      if (chunks.length === 0) go();
      chunks.push(chunk);
    }
    expect(textOf(chunks)).toBe('one two three');
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('stop');
  });

  test('requests, records and removes usage if the caller did not request it; the rest is byte for byte', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({ text: 'one two' }));
    const bytes = async (path: string, options: object) =>
      (await proxy.post(job, path, { ...streamed, ...options })).text();
    const without = await bytes('/a', {});
    expect(last().body['stream_options']).toEqual({ include_usage: true });
    const off = await bytes('/b', { stream_options: { include_usage: false, x: 1 } });
    expect(last().body['stream_options']).toEqual({ include_usage: false, x: 1 });
    expect((await proxy.calls(job))[1]).toMatchObject({ prompt_tokens: null, cost_usd: null });
    const asked = await bytes('/c', { stream_options: { include_usage: true } });
    const usage = (stream: string) => dataOf(stream).filter((d) => (d as { usage?: unknown }).usage);
    expect([usage(without), usage(off)]).toEqual([[], []]);
    expect(usage(asked)).toMatchObject([{ choices: [], usage: { prompt_tokens: 6 } }]);
    const same = (stream: string) => stream.replaceAll(/chatcmpl-\d/g, '');
    const plain = dataOf(asked).filter((d) => !(d as { usage?: unknown }).usage);
    expect(same(without)).toBe(same(plain.map((d) => `data: ${d === '[DONE]' ? d : JSON.stringify(d)}\n\n`).join('')));
    expect(without.endsWith('data: [DONE]\n\n')).toBe(true);
    for (const call of (await proxy.calls(job)).filter((_, at) => at !== 1)) {
      expect(call).toMatchObject({ stream: true, http_status: 200, prompt_tokens: 6, cost_source: 'table' });
    }
  });

  test('requests no usage of a model that has refused the option', async () => {
    const job = await proxy.newSession({ spec: { policy: { ...policy, model: 'small' } } });
    const raw =
      '{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}';
    proxy.model.reply(({ body }) => ('stream_options' in body ? { status: 422, raw } : {}));
    for (const path of ['/a', '/b']) {
      const before = proxy.model.requests.length;
      expect(await (await proxy.post(job, path, { ...streamed, model: 'small' })).text()).toContain('[DONE]');
      expect(proxy.model.requests.length - before).toBe(path === '/a' ? 2 : 1);
    }
    expect(last().body).not.toHaveProperty('stream_options');
  });

  test('keeps usage in a chunk with choices', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({ fields: { usage: { prompt_tokens: 3, completion_tokens: 1 } }, usage: null }));
    const chunks = dataOf(await (await proxy.post(job, '/a', streamed)).text());
    expect(chunks.filter((c) => (c as { usage?: unknown }).usage).length).toBeGreaterThan(2);
    expect(await proxy.calls(job)).toMatchObject([{ prompt_tokens: 3 }]);
  });

  test('is the same for any chunks of bytes', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({ text: 'größer 😀 besser', sliceBytes: 3 }));
    const chunks = dataOf(await (await proxy.post(job, '/a', streamed)).text());
    expect(textOf(chunks)).toBe('größer 😀 besser');
    expect((await proxy.calls(job))[0]!.response!.choices![0]!.message.content).toBe('größer 😀 besser');
  });

  test('is recorded before its last event', async () => {
    const job = await proxy.newSession();
    const answer = await proxy.post(job, '/a', streamed);
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    while (!seen.includes('[DONE]')) seen += (await reader.read()).value ?? '';
    expect(await proxy.calls(job)).toHaveLength(1);
    await reader.cancel();
  });

  test('with an event over 8 MiB ends with an error, and is on record', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({ text: 'one two', cutAfter: 2, tail: `data: ${'x'.repeat(8_500_000)}\n\n` }));
    const chunks = dataOf(await (await proxy.post(job, '/a', streamed)).text());
    expect(chunks.at(-1)).toMatchObject({ error: { code: 'upstream_answer_too_large' } });
    expect(await proxy.calls(job)).toMatchObject([
      { http_status: 502, response: { error: { code: 'upstream_answer_too_large' } } },
    ]);
  });

  test('with deep nesting is passed on and recorded without it', async () => {
    const job = await proxy.newSession();
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const chunk = `data: {"choices":[{"index":0,"delta":{"x":${deep}},"finish_reason":"stop"}]}\n\n`;
    proxy.model.reply(() => ({ text: 'one two', cutAfter: 2, tail: `${chunk}${chunk}data: [DONE]\n\n` }));
    expect((await (await proxy.post(job, '/a', streamed)).text()).endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await proxy.calls(job)).toMatchObject([{ http_status: 200 }]);
  });

  test('without [DONE] from the model ends with it, once its answer is whole', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({ noDone: true }));
    const stream = await (await proxy.post(job, '/a', streamed)).text();
    expect(stream.match(/data: \[DONE\]\n\n/g)).toHaveLength(1);
    expect(await proxy.calls(job)).toMatchObject([{ http_status: 200 }]);
  });

  test('an error before the first chunk is an ordinary error', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({
      status: 429,
      raw: '{"error":{"message":"slow down"}}',
      headers: { 'retry-after': '3' },
    }));
    const answer = await proxy.post(job, '/a', streamed);
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
      429,
      '3',
      { error: { message: 'slow down', type: 'upstream_error', code: null, param: null } },
    ]);
  });
});

describe('a stream that fails after its first chunk', () => {
  const failures: [string, Parameters<TestProxy['model']['reply']>[0], string][] = [
    ['a broken connection', () => ({ cutAfter: 2 }), 'upstream_connection_lost'],
    ['an early end', () => ({ cutAfter: 2, tail: '' }), 'upstream_connection_lost'],
    ['a chunk cut in the middle', () => ({ cutAfter: 2, tail: 'data: {"choices":[{"del' }), 'upstream_connection_lost'],
    [
      "the provider's own error",
      () => ({ cutAfter: 2, tail: 'data: {"error":{"message":"overloaded"}}\n\ndata: [DONE]\n\n' }),
      'upstream_error',
    ],
  ];
  test.each(failures)('%s: an error event, no [DONE], no recorded answer', async (_name, reply, code) => {
    const job = await proxy.newSession();
    proxy.model.reply(reply);
    const stream = await (await proxy.post(job, '/a', streamed)).text();
    expect(stream).not.toContain('[DONE]');
    const error = JSON.parse(
      stream
        .trim()
        .split('\n\n')
        .at(-1)!
        .replace(/^data: /, ''),
    ) as Record<string, unknown>;
    expect(error).toMatchObject({ error: { message: expect.any(String) as unknown } });
    expect(await proxy.calls(job)).toMatchObject([
      { http_status: 502, response: { error: { code } }, prompt_tokens: null, cost_usd: null, cost_source: 'unknown' },
    ]);
  });

  test('makes the openai client throw', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({ cutAfter: 3 }));
    const stream = await proxy.openai(job, '/a').chat.completions.create({ model: 'm', messages: [], stream: true });
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toThrow('broke');
  });

  test('is not completed if its answer cannot be recorded', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => {
      proxy.failDatabase(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }));
      return {};
    });
    const stream = await (await proxy.post(job, '/a', streamed)).text();
    expect(stream).not.toContain('[DONE]');
    expect(dataOf(stream).at(-1)).toMatchObject({ error: { code: 'not_recorded' } });
    proxy.failDatabase(null);
    const whole = await proxy.post(job, '/a');
    expect(whole.status).toBe(503);
    expect(whole.headers.has('retry-after')).toBe(true);
  });

  test('loses nothing if the database returns in time', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => {
      proxy.failDatabase(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }));
      setTimeout(() => proxy.failDatabase(null), 60);
      return {};
    });
    expect((await proxy.post(job, '/a')).status).toBe(200);
    expect(await proxy.calls(job)).toMatchObject([{ http_status: 200 }]);
  });
});

describe('a disconnecting caller', () => {
  test('during a stream: the answer is read to its end and recorded', async () => {
    const job = await proxy.newSession();
    let go: () => void = () => undefined;
    proxy.model.reply(() => ({ text: 'one two three', hold: new Promise<void>((resolve) => (go = resolve)) }));
    const rollout = await proxy.newRollout(job, 0, 0);
    await proxy.postAndLeave(job, `/${rollout}`, streamed, (first) => first);
    go();
    const [call] = await until('the call is recorded', async () =>
      (await proxy.calls(job)).length > 0 ? proxy.calls(job) : null,
    );
    expect(call).toMatchObject({ http_status: 200, cost_source: 'table' });
    expect(call!.response!.choices![0]!.message.content).toBe('one two three');
    await until('it counts as not given', async () => (await proxy.calls(job))[0]!.served_attempt === 0);
  });

  test('before the answer: it is recorded, too', async () => {
    const job = await proxy.newSession();
    let go: () => void = () => undefined;
    const asked = new Promise<void>((seen) => {
      proxy.model.reply(() => {
        seen();
        return new Promise((resolve) => (go = () => resolve({ text: 'late' })));
      });
    });
    await proxy.postAndLeave(job, '/a', question, () => asked);
    go();
    await until('the call is recorded', async () => (await proxy.calls(job))[0]?.http_status === 200);
  });

  test('during a hanging call: the reading ends after a limit, and a slow call times out', async () => {
    const quick = await startProxy({ lingerMs: 50, callTimeoutMs: 400 });
    try {
      const job = await quick.newSession();
      quick.model.reply(() => new Promise(() => undefined));
      await quick.postAndLeave(job, '/a', question, () => until('asked', () => quick.model.requests.length === 1));
      await until('given up', async () => (await quick.calls(job))[0]?.http_status === 504);
      const slow = await quick.post(job, '/b');
      expect([slow.status, ((await slow.json()) as { error: { code: string } }).error.code]).toEqual([
        504,
        'upstream_timeout',
      ]);
    } finally {
      await quick.close();
    }
  });
});
