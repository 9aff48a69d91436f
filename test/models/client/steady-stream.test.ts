import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import OpenAI from 'openai';
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import { eventsOf, StreamFold } from '../../../src/models/client/answers/chat-stream.js';
import { foldStream } from '../../../src/models/client/answers/read-answer.js';
import { redactedStream } from '../../../src/models/client/answers/redacted-stream.js';
import { steadyStream } from '../../../src/models/client/answers/steady-stream.js';
import { Redactor } from '../../../src/clients/net/redact.js';

type Json = Record<string, unknown>;

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function* whole(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
async function delivered(text: string, size = 1_000_000): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of steadyStream(inPieces(Buffer.from(text), size))) parts.push(part);
  return Buffer.concat(parts);
}

/** The completion that OpenAI's client makes of the bytes. */
async function byOpenAi(bytes: Buffer): Promise<Json> {
  const answer = () => new Response(new Uint8Array(bytes), { headers: { 'content-type': 'text/event-stream' } });
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1:9/v1', fetch: () => Promise.resolve(answer()) });
  const stream = ChatCompletionStream.createChatCompletion(client, { model: 'm', messages: [], stream: true });
  return (await stream.finalChatCompletion()) as unknown as Json;
}

interface Call {
  id?: string;
  function: { name: string; arguments: string };
}

/** What a caller can see of a completion, in one form. */
function seen(completion: Json | null): unknown {
  const { id, model, choices } = completion as { id: string; model: string; choices: Json[] };
  return {
    id,
    model,
    choices: choices.map(({ index, finish_reason: finish, message, logprobs }) => {
      const { content, refusal, role, tool_calls: calls, audio } = message as Json;
      return {
        index,
        finish,
        role,
        content: content || null,
        refusal: refusal || null,
        audio: audio ?? null,
        logprobs: logprobs ?? null,
        calls: ((calls ?? []) as Call[]).map(({ id, function: { name, arguments: text } }) => ({ id, name, text })),
      };
    }),
  };
}

const event = (chunk: unknown, end = '\n') => `data: ${JSON.stringify(chunk)}${end}${end}`;
const head = { id: 'q', object: 'chat.completion.chunk', created: 1, model: 'm' };
const chunk = (delta: Json | null, more: Json = {}, top: Json = {}) => ({
  ...head,
  ...top,
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const stream = (...chunks: unknown[]) => `${chunks.map((item) => event(item)).join('')}data: [DONE]\n\n`;
const stop = chunk({}, { finish_reason: 'stop' });
const call = (name: string, text: string, more: Json = {}) => ({
  type: 'function',
  function: { name, arguments: text },
  ...more,
});

/** Our fold of the delivered bytes, after checking that OpenAI's and every replay give the same. */
async function agreed(text: string, size?: number): Promise<Json> {
  const bytes = await delivered(text, size);
  const ours = (await foldStream(whole(bytes)))!;
  expect(seen(ours)).toEqual(seen(await byOpenAi(bytes)));
  const replayed = Buffer.concat([...eventsOf(structuredClone(ours), true)]);
  expect(seen(await byOpenAi(replayed))).toEqual(seen(ours));
  expect(seen(await foldStream(whole(replayed)))).toEqual(seen(ours));
  // The record, as a whole answer, is read from JSON.
  expect(seen(JSON.parse(JSON.stringify(ours)) as Json)).toEqual(seen(ours));
  return ours;
}
const messageOf = ({ choices }: Json) => (choices as { message: Json }[])[0]!.message;
const callsOf = (completion: Json) =>
  (messageOf(completion)['tool_calls'] as Call[]).map(({ id, function: fn }) => [id, fn.name, fn.arguments]);

describe('a stream of a provider with ways of its own', () => {
  const a = call('look', '{"city":"Bonn"}', { id: 'a' });
  const b = call('look', '{"city":"Rome"}', { id: 'b' });
  const two = [
    ['a', 'look', '{"city":"Bonn"}'],
    ['b', 'look', '{"city":"Rome"}'],
  ];
  const role = { role: 'assistant' };
  const calls = (...items: unknown[]) => chunk({ ...role, tool_calls: items });
  const end = chunk({}, { finish_reason: 'tool_calls' });
  const piece = (index: number | undefined, text: string) => ({ index, function: { arguments: text } });

  test.each<[string, unknown[], unknown[]?]>([
    ['index 0 for both', [calls({ index: 0, ...a }), calls({ index: 0, ...b })]],
    ['index 0 for both in one chunk', [calls({ index: 0, ...a }, { index: 0, ...b })]],
    ['no index', [calls(a), calls(b)]],
    ['no index in one chunk', [calls(a, b)]],
    [
      'a new id with arguments, its name later',
      [
        calls({ index: 0, ...a }),
        calls({ index: 0, id: 'b', function: { arguments: b.function.arguments } }),
        calls({ index: 0, id: 'b', function: { name: 'look' } }),
      ],
    ],
    [
      'no index in one chunk, arguments later',
      [
        calls(call('look', '', { id: 'a' }), call('look', '', { id: 'b' })),
        calls({ id: 'a', function: { arguments: a.function.arguments } }),
        calls({ id: 'b', function: { arguments: b.function.arguments } }),
      ],
    ],
    ['indices from 1', [calls({ index: 1, ...a }), calls({ index: 2, ...b })]],
    ['an index as text', [calls({ index: '0', ...a }), calls({ index: '1', ...b })]],
    [
      'pieces under one index',
      [
        calls({ index: 0, ...call('look', '', { id: 'a' }) }),
        calls(piece(0, '{"city":')),
        calls(piece(0, '"Bonn"}')),
        calls({ index: 0, ...call('look', '', { id: 'b' }) }),
        calls(piece(0, '{"city":"Rome"}')),
      ],
    ],
    [
      'pieces without index',
      [
        calls(call('look', '{"city":', { id: 'a' })),
        calls(piece(undefined, '"Bonn"}')),
        calls(call('look', '{"city":"Rome"', { id: 'b' })),
        calls(piece(undefined, '}')),
      ],
    ],
    [
      'pieces that name the call by its id',
      [
        calls(
          { index: 0, ...call('look', '{"city":', { id: 'a' }) },
          { index: 0, ...call('look', '{"city":"Rome"', { id: 'b' }) },
        ),
        calls({ index: 0, ...call('look', '"Bonn"}', { id: 'a' }) }, { index: 0, ...call('look', '}', { id: 'b' }) }),
      ],
    ],
    [
      'a whole call again at the end',
      [calls({ index: 0, ...a }), calls({ index: 1, ...b }), calls({ index: 0, ...a })],
    ],
    [
      'arguments as an object',
      [calls({ index: 0, ...a, function: { name: 'look', arguments: { city: 'Bonn' } } }, { index: 1, ...b })],
    ],
    ['numbers as ids', [calls({ index: 0, ...a, id: 1 }), calls({ index: 1, ...b, id: 2 })], ['1', '2']],
    [
      'no ids',
      [calls({ index: 0, ...a, id: undefined }), calls({ index: 1, ...b, id: '' })],
      [expect.stringMatching(/^call_\w{10}/), expect.stringMatching(/^call_\w{10}/)],
    ],
    [
      'one id for both',
      [calls({ index: 0, ...a }), calls({ index: 1, ...b, id: 'a' })],
      ['a', expect.stringMatching(/^call_\w{10}/)],
    ],
    ['an object in place of the list', [chunk({ ...role, tool_calls: a }), chunk({ tool_calls: b })]],
    [
      'a whole message without delta',
      [
        {
          ...head,
          choices: [{ index: 0, message: { ...role, content: null, tool_calls: [a, b] }, finish_reason: null }],
        },
      ],
    ],
  ])('two tool calls with %s stay two', async (_name, chunks, ids = ['a', 'b']) => {
    const given = callsOf(await agreed(stream(...chunks, end)));
    expect(given).toEqual(two.map(([, ...rest], at) => [ids[at], ...rest]));
    expect(new Set(given.map(([id]) => id)).size).toBe(2);
  });

  const hel = chunk({ ...role, content: 'hel' });
  test.each<[string, string]>([
    [
      'the message so far beside each delta',
      stream(
        chunk({ content: 'hel' }, { message: { ...role, content: 'hel' } }, {}),
        chunk({ ...role, content: 'lo' }, { message: { ...role, content: 'hello' } }),
        stop,
      ),
    ],
    [
      'the message so far in place of deltas',
      stream(
        ...['hel', 'hello', 'hello'].map((content) => ({
          ...head,
          choices: [{ index: 0, message: { ...role, content } }],
        })),
        stop,
      ),
    ],
    [
      'the whole message at the end',
      stream(
        hel,
        chunk({ content: 'lo' }),
        chunk({}, { message: { ...role, content: 'hello' }, finish_reason: 'stop' }),
      ),
    ],
    ['a byte order mark', `\uFEFF${stream(hel, chunk({ content: 'lo' }), stop)}`],
    [
      'CRLF',
      [hel, chunk({ content: 'lo' }), stop].map((item) => event(item, '\r\n')).join('') + 'data: [DONE]\r\n\r\n',
    ],
    [
      'comments and other fields',
      `: hi\n\nretry: 3\n\n${event(hel)}: ping\n\nid: 4\n${stream(chunk({ content: 'lo' }), stop)}`,
    ],
    [
      'data of several lines',
      `data: {"id":"q","model":"m",\ndata: "choices":[{"index":0,"delta":{"role":"assistant","content":"hello"},\ndata: "finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`,
    ],
    [
      'a repeated role, empty texts and nulls',
      stream(
        chunk({ role: 'assistant', content: '' }),
        chunk({ role: 'assistant', content: 'hel', refusal: null, tool_calls: null }),
        chunk({ role: '', content: 'lo', function_call: null }),
        chunk(null),
        chunk({ content: '' }, { finish_reason: 'stop' }),
        chunk({ content: null }, { finish_reason: '' }),
      ),
    ],
    ['choices that are null or absent', stream(hel, { ...head, choices: null }, head, chunk({ content: 'lo' }), stop)],
    [
      'choices without index',
      stream({ ...head, choices: [{ delta: { ...role, content: 'hello' }, finish_reason: 'stop' }] }),
    ],
    [
      'pieces in message in place of deltas',
      stream(
        ...['hel', 'lo'].map((content) => ({ ...head, choices: [{ index: 0, message: { ...role, content } }] })),
        stop,
      ),
    ],
    ['pieces in text', stream(...['hel', 'lo'].map((text) => ({ ...head, choices: [{ index: 0, text }] })), stop)],
    [
      'a choice in place of the list',
      stream(...[hel, chunk({ content: 'lo' }), stop].map((item) => ({ ...item, choices: item.choices[0] }))),
    ],
    ['no blank line between events', stream(hel, chunk({ content: 'lo' }), stop).replaceAll('\n\n', '\n')],
    [
      'no blank line at the end',
      [hel, chunk({ content: 'lo' }), stop]
        .map((item) => event(item))
        .join('')
        .trimEnd(),
    ],
    ['[DONE] without a line end', stream(hel, chunk({ content: 'lo' }), stop).trimEnd()],
    ['events that are no JSON', `${event(hel)}data: ping\n\n${stream(chunk({ content: 'lo' }), stop)}`],
  ])('%s: the text is what the provider said', async (_name, text) => {
    for (const size of [1_000_000, 7]) expect(messageOf(await agreed(text, size))['content']).toBe('hello');
  });

  test('says role, id and name once: OpenAI’s Python client joins what is repeated', async () => {
    const again = (text: string) => calls({ index: 0, ...call('look', text, { id: 'a' }) });
    const text = (
      await delivered(stream(again('{"city":'), again('"Bonn"}'), again('{"city":"Bonn"}'), end))
    ).toString();
    for (const once of ['"role"', '"id":"a"', '"name"']) expect(text.split(once)).toHaveLength(2);
  });

  test('passes byte for byte where it has the form of OpenAI', async () => {
    const text = `: hi\n\n${stream(hel, chunk({ tool_calls: [{ index: 0, ...a }] }), chunk({ reasoning: 'hm' }), stop)}`;
    expect((await delivered(text)).toString()).toBe(text);
  });

  test('keeps what OpenAI does not know: reasoning, annotations, audio, lists of content', () => {
    const fold = new StreamFold();
    const note = { type: 'url_citation', url_citation: { url: 'https://a' } };
    const part = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] };
    for (const delta of [
      { reasoning_content: 'ha', reasoning_details: [{ index: 0, type: 'reasoning.text', format: 'f', text: 'ha' }] },
      { reasoning_content: 'ha', reasoning_details: [{ index: 0, type: 'reasoning.text', format: 'f', text: 'ha' }] },
      { annotations: [note], content: [part] },
      { annotations: [note, { ...note, x: 1 }], content: 'yes', audio: { id: 'u', data: 'QQ' } },
      { audio: { id: 'u', data: '==', expires_at: 3 } },
    ])
      fold.add(chunk(delta));
    expect(messageOf(fold.completion()!)).toEqual({
      reasoning_content: 'haha',
      reasoning_details: [{ index: 0, type: 'reasoning.text', format: 'f', text: 'haha' }],
      annotations: [note, { ...note, x: 1 }],
      content: [part, { type: 'text', text: 'yes' }],
      audio: { id: 'u', data: 'QQ==', expires_at: 3 },
    });
  });
});

describe('any stream', () => {
  const word = fc.string({ unit: 'grapheme', maxLength: 6 });
  const text = fc.array(word, { maxLength: 5 });
  const args = fc
    .dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 1 }))
    .map((value) => JSON.stringify(value));
  const cut = fc.array(fc.nat(40), { maxLength: 3 });
  const style = fc.record({
    index: fc.constantFrom('own', 'zero', 'none', 'text', 'from one'),
    again: fc.constantFrom('never', 'name', 'id and name'),
    message: fc.constantFrom('never', 'beside', 'at the end'),
    nulls: fc.boolean(),
    bom: fc.boolean(),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    comments: fc.boolean(),
    done: fc.boolean(),
    size: fc.constantFrom(1, 3, 50, 1_000_000),
  });
  const answer = fc.record({
    content: text,
    refusal: text,
    calls: fc.array(fc.tuple(args, cut), { maxLength: 3 }),
    logprobs: fc.array(word, { maxLength: 3 }),
  });

  function render({ content, refusal, calls, logprobs }: Answer, style: Style): string {
    const chunks: Json[] = [chunk({ role: 'assistant', ...(style.nulls && { content: '', tool_calls: null }) })];
    let said = '';
    for (const piece of content) {
      said += piece;
      const beside = style.message === 'beside' && { message: { role: 'assistant', content: said } };
      chunks.push(chunk({ content: piece, ...(style.nulls && { role: '', refusal: null }) }, beside || {}));
    }
    for (const piece of refusal) chunks.push(chunk({ refusal: piece }));
    for (const token of logprobs) chunks.push(chunk({}, { logprobs: { content: [{ token, logprob: -1 }] } }));
    for (const [at, [whole, cuts]] of calls.entries()) {
      const marks = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((x, y) => x - y), whole.length];
      const pieces = marks.slice(1).map((end, i) => whole.slice(marks[i], end));
      for (const [i, piece] of pieces.entries()) {
        const isNamed = i === 0 || style.again === 'id and name';
        const index = { own: at, zero: 0, none: undefined, text: String(at), 'from one': at + 1 }[style.index];
        chunks.push(
          chunk({
            tool_calls: [
              {
                ...(index !== undefined && { index }),
                ...(isNamed && { id: `call_${at}`, type: 'function' }),
                function: { ...((isNamed || style.again === 'name') && { name: 'f' }), arguments: piece },
              },
            ],
          }),
        );
      }
    }
    const last = style.message === 'at the end' && { message: { role: 'assistant', content: said } };
    chunks.push(chunk({}, { finish_reason: 'stop', ...(last || {}) }));
    const events = chunks.map(
      (item) => (style.comments ? `: ping${style.end}${style.end}` : '') + event(item, style.end),
    );
    return (style.bom ? '\uFEFF' : '') + events.join('') + (style.done ? `data: [DONE]${style.end}${style.end}` : '');
  }
  type Answer = typeof answer extends fc.Arbitrary<infer T> ? T : never;
  type Style = typeof style extends fc.Arbitrary<infer T> ? T : never;

  test('folds to what the provider said: ours, by OpenAI’s client, and every replay', async () => {
    await fc.assert(
      fc.asyncProperty(answer, style, async (given, style) => {
        const ours = await agreed(render(given, style), style.size);
        expect(messageOf(ours)['content'] ?? '').toBe(given.content.join(''));
        expect(messageOf(ours)['refusal'] ?? '').toBe(given.refusal.join(''));
        const calls = given.calls.map(([text], at) => [`call_${at}`, 'f', text]);
        expect(messageOf(ours)['tool_calls'] ? callsOf(ours) : []).toEqual(calls);
      }),
    );
  }, 120_000);

  test('is the same with secrets hidden: delivered, recorded and replayed', async () => {
    const secret = 'sk-canary-4a7f2b9c';
    const redactor = new Redactor([secret]);
    await fc.assert(
      fc.asyncProperty(answer, style, cut, async (given, style, cuts) => {
        const marks = [0, ...cuts.map((at) => at % secret.length).sort((x, y) => x - y), secret.length];
        const pieces = marks.slice(1).map((end, i) => secret.slice(marks[i], end));
        const hostile = { ...given, logprobs: [], content: [...given.content, ...pieces, ' end'] };
        const parts: Buffer[] = [];
        const steady = steadyStream(inPieces(Buffer.from(render(hostile, style)), style.size));
        for await (const part of redactedStream(steady, redactor)) parts.push(part);
        const bytes = Buffer.concat(parts);
        const ours = (await foldStream(whole(bytes)))!;
        expect(seen(ours)).toEqual(seen(await byOpenAi(bytes)));
        expect(JSON.stringify(ours)).not.toContain(secret);
        expect(seen(await byOpenAi(Buffer.concat([...eventsOf(structuredClone(ours), false)])))).toEqual(seen(ours));
      }),
    );
  }, 120_000);
});
