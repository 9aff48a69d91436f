import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { completeChat } from '../../../src/models/client/complete-chat.js';
import { errorAdvice, errorInside } from '../../../src/models/client/answers/answer-error.js';
import { askProvider } from '../../../src/models/client/ask-provider.js';
import { openAnswer } from '../../../src/models/client/answers/read-answer.js';
import { createProviders, type Providers } from '../../../src/models/client/providers.js';
import { listen } from '../../support/loopback.js';
import { proxyOfFile, question } from './support.js';

const proxy = proxyOfFile({ recordPatienceMs: 200 });
const streamed = { ...question, stream: true };
const message = { role: 'assistant', content: 'hello' };
const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
const whole = {
  id: 'q',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini',
  usage,
  choices: [{ index: 0, message, finish_reason: 'stop' }],
};
const events = [
  { ...whole, usage: undefined, choices: [{ index: 0, delta: message, finish_reason: null }] },
  { ...whole, usage: undefined, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { ...whole, choices: null },
];
const stream = `${events.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('')}data: [DONE]\n\n`;
const jsonType = { 'content-type': 'application/json' };
const streamType = { 'content-type': 'text/event-stream' };

/** An error in a 200, and the status that it stands for. */
const errors: [string, unknown, number][] = [
  ['a code', { error: { message: 'no', code: 503 } }, 503],
  ['a code as text', { error: { message: 'no', code: '429' } }, 429],
  ['a code that is no status', { error: { message: 'no', code: 'strange' } }, 502],
  ['a success as code', { error: { message: 'no', code: 200 } }, 502],
  ['a text', { error: 'no' }, 502],
  ['a detail', { detail: 'no' }, 502],
  ['a list of details', { detail: [{ msg: 'no' }] }, 502],
  ['no choices', { choices: [], error: { message: 'no', code: 500 } }, 500],
  ['null choices', { choices: null, error: { message: 'no' } }, 502],
  ['an error in the choice', { choices: [{ index: 0, message, error: { message: 'no', code: 504 } }] }, 504],
  ['finish_reason error', { choices: [{ index: 0, message, finish_reason: 'error' }] }, 502],
  ['a message beside a code', { message: 'no', code: 500 }, 500],
  ["Google's list", [{ error: { message: 'no', code: 503 } }], 503],
  ['a code with a fraction', { error: { message: 'no', code: '429.0' } }, 429],
  ['a list of errors', { error: [{ message: 'no', code: 503 }] }, 503],
  ['a list in errors', { errors: [{ code: 7009, message: 'no' }], success: false, result: null }, 502],
  ['statusCode', { statusCode: 429, message: 'no' }, 429],
  ['statusCode beside a text', { statusCode: 503, message: 'no', error: 'Service Unavailable' }, 503],
  ['a failure without code', { success: false, message: 'no' }, 502],
  ['a rate limit by type', { type: 'error', error: { type: 'rate_limit_error', message: 'no' } }, 429],
  ['overload by type', { type: 'error', error: { type: 'overloaded_error', message: 'no' } }, 529],
  ['a rate limit by code', { error: { message: 'no', type: 'requests', code: 'rate_limit_exceeded' } }, 429],
  ['a long prompt by code', { error: { message: 'no', code: 'context_length_exceeded' } }, 400],
  ['want of credit by code', { error: { message: 'no', code: 'insufficient_quota' } }, 429],
  ["Google's status", { error: { message: 'no', status: 'UNAVAILABLE' } }, 503],
  ["TGI's type", { error: 'no', error_type: 'overloaded' }, 429],
  ["MiniMax's answer", { choices: null, base_resp: { status_code: 1002, status_msg: 'no' } }, 429],
  ["Baidu's answer", { error_code: 336100, error_msg: 'no' }, 502],
];

describe('an error in a 200', () => {
  test.each(errors)('%s is the answer of its status', async (_name, body, status) => {
    const job = await proxy.newSession();
    const raw = JSON.stringify(body);
    const kinds: [object, string, Record<string, string>][] = [
      [question, raw, jsonType],
      [streamed, raw, jsonType],
      ...(Array.isArray(body)
        ? []
        : [[streamed, `: wait\ndata: ${raw}\n\n`, streamType] as [object, string, Record<string, string>]]),
    ];
    for (const [at, [asked, text, headers]] of kinds.entries()) {
      proxy.model.reply(() => ({ raw: text, headers }));
      const answer = await proxy.post(job, `/a${at}`, asked);
      expect([answer.status, await answer.json()]).toMatchObject([
        status,
        { error: { message: expect.any(String) as unknown } },
      ]);
    }
    expect((await proxy.calls(job)).map((call) => call.http_status)).toEqual(kinds.map(() => status));
  });

  test.each([
    ['null', { error: null }],
    ['empty', { error: {} }],
    ['false', { error: false }],
    ['a detail of an answer', { detail: 'fine' }],
    ['an empty list', { error: [], errors: [] }],
    ['a 0', { error: { code: 0, message: '' } }],
    ['a success of MiniMax', { base_resp: { status_code: 0, status_msg: '' } }],
  ])('an error that is %s is none', (_name, more) => expect(errorInside({ ...whole, ...more })).toBeNull());

  test.each<[string, unknown, string | null]>([
    ["Google's retryDelay", [{ error: { message: 'no', code: 429, details: [{ retryDelay: '34s' }] } }], '34'],
    [
      "the vendor's headers at OpenRouter",
      { error: { message: 'no', metadata: { headers: { 'X-RateLimit-Reset-Tokens': '6m0s' } } } },
      '360',
    ],
    ['a field', { detail: 'no', retry_after: 2.5 }, '2.5'],
    ['the words of Groq', { error: { message: 'Please try again in 14m24s. Need more?' } }, '864'],
    ['the words of Azure', { error: { message: 'Please retry after 26 seconds.' } }, '26'],
    ['minutes in words', { error: { message: 'Please retry after 2 minutes.' } }, null],
    ['nothing', { error: { message: 'no' } }, null],
  ])('a wait is heard in %s', (_name, body, seconds) => expect(errorAdvice(JSON.stringify(body), 0)).toBe(seconds));

  test('is tried again by the service where its status would be', async () => {
    const model = { provider: 'openai', model: 'gpt-4o-mini', params: {} };
    const providers = createProviders({ OPENAI_BASE_URL: proxy.model.url, OPENAI_API_KEY: 'k' });
    const ask = async (code: number, onText?: (piece: string) => void) => {
      proxy.model.requests.length = 0;
      proxy.model.reply(({ n }) => (n === 1 ? { raw: JSON.stringify({ error: { message: 'no', code } }) } : {}));
      const signal = new AbortController().signal;
      const result = await completeChat(providers, {
        policy: model,
        messages: [],
        signal,
        retryBaseMs: 1,
        ...(onText && { onText }),
      });
      return [result.ok, proxy.model.requests.length];
    };
    expect(await ask(502)).toEqual([true, 2]);
    expect(await ask(429, () => undefined)).toEqual([true, 2]);
    expect(await ask(400)).toEqual([false, 1]);
    await providers.close();
  });
});

describe('a stream or none', () => {
  const types = [
    'Text/Event-Stream; charset=UTF-8',
    'text/event-stream;charset=utf-8',
    'text/plain',
    'application/json',
  ];
  test.each(types)('events under %s are a stream to who asked for one, and folded for others', async (type) => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({ raw: stream, headers: { 'content-type': type } }));
    const first = await proxy.post(job, '/a', streamed);
    expect(first.headers.get('content-type')).toContain('text/event-stream');
    const text = await first.text();
    expect(text).toContain('"content":"hello"');
    // The usage chunk was not asked for.
    expect(text).not.toContain('"choices":null');
    const second = await proxy.post(job, '/b', question);
    expect([second.headers.get('content-type'), await second.json()]).toMatchObject([
      expect.stringContaining('application/json') as unknown,
      { object: 'chat.completion', choices: [{ message, finish_reason: 'stop' }], usage },
    ]);
    for (const call of await proxy.calls(job)) expect(call).toMatchObject({ prompt_tokens: 1000, http_status: 200 });
  });

  test.each(['application/json', 'Application/JSON', 'text/event-stream', 'text/plain'])(
    'JSON under %s is a stream to who asked for one',
    async (type) => {
      const job = await proxy.newSession();
      proxy.model.reply(() => ({ raw: JSON.stringify(whole), headers: { 'content-type': type } }));
      const stream = await proxy
        .openai(job, '/a')
        .chat.completions.create({ model: 'gpt-4o-mini', messages: [], stream: true });
      let text = '';
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
      expect(text).toBe('hello');
      expect(await (await proxy.post(job, '/b', question)).json()).toEqual(whole);
      expect(await proxy.calls(job)).toMatchObject([{ prompt_tokens: 1000 }, { prompt_tokens: 1000 }]);
    },
  );

  const deep = '['.repeat(50_000) + ']'.repeat(50_000);
  const choice = JSON.stringify(whole.choices[0]);
  test.each([
    ['an error', `{"error":{"code":400,"details":${deep}}}`],
    ['an error of another name', `{"detail":${deep}}`],
    ['an answer', `{"choices":[${choice}],"more":${deep}}`],
    ['arguments', `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":${deep}}}}]}}]}`],
    ['content', `{"choices":[{"message":{"content":${deep}}}]}`],
    ['a list of chunks', `[{"choices":[{"delta":{"content":"a"}}],"more":${deep}}]`],
    ['lines of chunks', `{"choices":[{"delta":{"content":"a"}}],"more":${deep}}\n{"choices":[]}`],
    ['an event', `data: {"choices":[{"delta":{"content":"a"}}],"more":${deep}}\n\n`],
    ['usage', `{"choices":[${choice}],"usage":{"prompt_tokens":1,"completion_tokens":1,"more":${deep}}}`],
  ])('nested deeply in %s is answered, and not 500', async (_name, raw) => {
    for (const [path, body] of Object.entries({ '/a': question, '/b': streamed })) {
      proxy.model.reply(() => ({ raw, headers: jsonType }));
      const answer = await proxy.post(await proxy.newSession(), path, body);
      await answer.text();
      expect([200, 400, 502]).toContain(answer.status);
    }
  });

  test('what is neither is an invalid answer', async () => {
    const job = await proxy.newSession();
    for (const raw of ['{"choices":[]}', '{"choices":null}', '{}', '<html>', '']) {
      proxy.model.reply(() => ({ raw }));
      for (const asked of [streamed, question]) {
        const answer = await proxy.post(job, '/a', asked);
        expect([answer.status, await answer.json()]).toMatchObject([
          502,
          { error: { code: 'upstream_answer_invalid' } },
        ]);
      }
    }
    for (const call of await proxy.calls(job)) expect(call.http_status).toBe(502);
  });

  test('a stream of [DONE] alone ends with an error, and is recorded as one', async () => {
    const job = await proxy.newSession();
    for (const raw of ['data: [DONE]\n\n', 'data: Error: upstream timed out\n\ndata: [DONE]\n\n']) {
      proxy.model.reply(() => ({ raw, headers: streamType }));
      const text = await (await proxy.post(job, '/a', streamed)).text();
      expect(text).toContain('"code":"upstream_answer_invalid"');
      expect(text).not.toContain('[DONE]');
    }
    for (const call of await proxy.calls(job)) expect(call.http_status).toBe(502);
  });

  const arguing = (args: unknown, id: unknown) => ({ id, type: 'function', function: { name: 'f', arguments: args } });
  const chunks = events.map((item) => JSON.stringify(item));
  test.each<[string, string | Buffer, string]>([
    ['a byte order mark', `\uFEFF${JSON.stringify(whole)}`, 'application/json'],
    ['UTF-16', Buffer.from(`\uFEFF${JSON.stringify(whole)}`, 'utf16le'), 'application/json; charset=utf-16'],
    ['Latin-1', Buffer.from(JSON.stringify({ ...whole, id: 'ü' }), 'latin1'), 'application/json; charset=ISO-8859-1'],
    ['a list of one answer', JSON.stringify([whole]), 'application/json'],
    ['a list of chunks', `[${chunks.join(',')}]`, 'application/json'],
    ['a line for each chunk', `${chunks.join('\n')}\n`, 'application/x-ndjson'],
    [
      'a delta in place of the message',
      JSON.stringify({ ...whole, choices: [{ delta: message }] }),
      'application/json',
    ],
    ['a text in place of the message', JSON.stringify({ ...whole, choices: [{ text: 'hello' }] }), 'application/json'],
  ])('%s is read: whole, as a stream, in the record', async (_name, raw, type) => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({ raw, headers: { 'content-type': type } }));
    const text = await (await proxy.post(job, '/a', streamed)).text();
    expect(text).toMatch(/"content":"hello"[^]*data: \[DONE\]\n\n$/);
    const given = await proxy.post(job, '/b', question);
    expect([given.headers.get('content-type'), await given.json()]).toMatchObject([
      'application/json; charset=utf-8',
      { choices: [{ index: 0, message: { content: 'hello' } }], usage },
    ]);
    expect(await proxy.calls(job)).toMatchObject([{ prompt_tokens: 1000 }, { prompt_tokens: 1000 }]);
  });

  test('tool calls of a whole answer have ids and arguments as text', async () => {
    const job = await proxy.newSession();
    const calls = [arguing({ a: 1 }, 7), arguing('{}', ''), arguing('{}', undefined)];
    const raw = JSON.stringify({ ...whole, choices: [{ index: 0, message: { content: null, tool_calls: calls } }] });
    proxy.model.reply(() => ({ raw }));
    const { choices } = (await (await proxy.post(job, '/a', question)).json()) as typeof whole;
    const fn = (args: string) => ({ function: { arguments: args } });
    const made = expect.stringMatching(/^call_/) as unknown;
    expect(choices[0]!.message).toMatchObject({
      tool_calls: [
        { ...fn('{"a":1}'), id: '7' },
        { ...fn('{}'), id: made },
        { ...fn('{}'), id: made },
      ],
    });
  });
});

describe('a provider of bytes', () => {
  let answer: (response: ServerResponse, body: { stream?: boolean; stream_options?: object }) => void;
  let providers: Providers;
  let close: () => Promise<unknown>;
  let asked: { stream_options?: object }[] = [];
  beforeAll(async () => {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(parts).toString()) as { stream_options?: object };
        asked.push(body);
        answer(response, body);
      });
    });
    const listening = await listen(server);
    close = listening.close;
    providers = createProviders(
      { RATCHET_PROVIDERS: 'odd', ODD_BASE_URL: `${listening.url}/v1`, OPENAI_BASE_URL: `${listening.url}/v2` },
      { maxAnswerBytes: 100_000 },
    );
  });
  afterAll(async () => {
    await providers.close();
    await close();
  });
  const send = (body: Record<string, unknown>, name = 'odd') =>
    providers.send(name, { messages: [], ...body }, new AbortController().signal);
  const body = Buffer.from(JSON.stringify(whole));

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['deflate, gzip', (bytes) => gzipSync(deflateSync(bytes))],
    ['identity', (bytes) => bytes],
    ['none', (bytes) => bytes],
    ['utf-8', (bytes) => bytes],
    // Some send deflate without its header, or name an encoding and send none.
    ['deflate', deflateRawSync],
    ['gzip', (bytes) => bytes],
    ['deflate', (bytes) => bytes],
  ])('%s is undone, in answers, streams and refusals', async (encoding, encode) => {
    const headers = { 'content-encoding': encoding };
    answer = (response) => response.writeHead(200, { ...jsonType, ...headers }).end(encode(body));
    expect(await openAnswer(await send({}), false)).toMatchObject({ kind: 'whole', completion: whole });
    answer = (response) =>
      response.writeHead(429, { ...jsonType, ...headers }).end(encode(Buffer.from('{"error":{"message":"slow"}}')));
    expect(await openAnswer(await send({}), false)).toMatchObject({
      status: 429,
      text: '{"error":{"message":"slow"}}',
    });
    answer = (response) => response.writeHead(200, { ...streamType, ...headers }).end(encode(Buffer.from(stream)));
    expect(await openAnswer(await send({ stream: true }), false)).toMatchObject({
      completion: { choices: [{ message }] },
    });
  });

  test('a bomb and an unknown encoding are named', async () => {
    answer = (response) =>
      response.writeHead(200, { ...jsonType, 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1_000_000)));
    await expect((await send({})).read()).rejects.toMatchObject({ code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' });
    answer = (response) => response.writeHead(200, { ...jsonType, 'content-encoding': 'zstd' }).end(body);
    await expect(send({})).rejects.toMatchObject({
      code: 'upstream_answer_invalid',
      message: expect.stringContaining('content-encoding "zstd"') as unknown,
    });
  });

  test('that refuses stream_options is asked once without, and remembered by its address', async () => {
    const open = (body: Record<string, unknown>, provider = 'odd') =>
      askProvider(providers, { provider, body: { messages: [], ...body } }, new AbortController().signal);
    const drained = async (body: Record<string, unknown>, provider?: string) => {
      const { opened } = await open(body, provider);
      if (opened.kind === 'stream') for await (const _ of opened.bytes);
      return opened.kind;
    };
    asked = [];
    answer = (response, { stream_options: options }) =>
      options
        ? response
            .writeHead(400, jsonType)
            .end('{"error":{"message":"Unrecognized request argument supplied: stream_options"}}')
        : response.writeHead(200, streamType).end(stream);
    for (let call = 0; call < 3; call += 1) expect(await drained({ stream: true })).toBe('stream');
    expect(asked.map((sent) => sent.stream_options)).toEqual([
      { include_usage: true },
      undefined,
      undefined,
      undefined,
    ]);
    // What the caller asks for goes on as it is, and so does the refusal.
    expect((await open({ stream: true, stream_options: { include_usage: true } })).status).toBe(400);
    asked = [];
    answer = (response) => response.writeHead(200, streamType).end(stream);
    await drained({ stream: true, stream_options: { include_usage: false } }, 'openai');
    await drained({ stream: true }, 'openai');
    expect(asked.map((sent) => sent.stream_options)).toEqual([{ include_usage: false }, { include_usage: true }]);
    asked = [];
    answer = (response) => response.writeHead(400, jsonType).end('{"error":{"message":"no such role"}}');
    expect((await open({ stream: true }, 'openai')).status).toBe(400);
    expect(asked).toHaveLength(1);
  });
});
