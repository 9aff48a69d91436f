import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { completeChat } from '../../../src/models/client/complete-chat.js';
import { createProviders, type Providers } from '../../../src/models/client/providers.js';
import { askProvider, type ProviderRequest } from '../../../src/models/client/ask-provider.js';
import { optional } from '../../../src/models/client/quirks/lessons.js';
import { startFakeModel, type FakeModel, type ModelReply } from '../../support/fakes/model.js';

type Json = Record<string, unknown>;
const signal = new AbortController().signal;
const user = { role: 'user', content: 'Hello there' };
const base = { model: 'm', messages: [user] };
let model: FakeModel;
let providers: Providers;

beforeAll(async () => {
  model = await startFakeModel();
});
beforeEach(() => {
  model.reply(() => ({}));
  model.requests.length = 0;
  // Each test starts without lessons.
  providers = createProviders({ OPENAI_BASE_URL: model.url, RATCHET_PROVIDERS: 'far', FAR_BASE_URL: `${model.url}/` });
});
afterAll(() => model.close());

const refused = (message: string, more: ModelReply = {}): ModelReply => ({
  status: 400,
  raw: JSON.stringify({ error: { message, type: 'invalid_request_error' } }),
  ...more,
});
const noField = (name: string) => refused(`Unsupported parameter: '${name}' is not supported with this model.`);
const ask = (body: Json, more: Partial<ProviderRequest> = {}) =>
  askProvider(providers, { provider: 'openai', body: { ...base, ...body }, ...more }, signal);
const sent = () =>
  model.requests.map(({ body }) => Object.fromEntries(Object.entries(body).filter(([k]) => k !== 'model')));
/** What was sent after the last look. */
const taken = () => sent().splice(0, model.requests.splice(0).length);

/** Providers by what they refuse. */
const characters: Record<string, (body: Json & { messages: { role: string }[] }) => ModelReply> = {
  'reasoning-only': (body) => {
    if ('max_tokens' in body)
      return refused(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      );
    if (body['temperature'] !== undefined && body['temperature'] !== 1)
      return refused(
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
      );
    return 'presence_penalty' in body ? noField('presence_penalty') : {};
  },
  'an old Azure': (body) => {
    const unknown = ['max_completion_tokens', 'stream_options', 'parallel_tool_calls'].find((name) => name in body);
    return unknown ? refused(`Unrecognized request argument supplied: ${unknown}`) : {};
  },
  'Gemma at vLLM': ({ messages }) =>
    messages.some(({ role }) => role !== 'user' && role !== 'assistant')
      ? { status: 400, raw: '{"object":"error","message":"System role not supported","code":400}' }
      : {},
  'errors in a 200': (body) =>
    'seed' in body ? { raw: '{"error":{"message":"Provider returned error: seed is not supported","code":400}}' } : {},
  'errors in a stream': (body) =>
    'seed' in body
      ? {
          raw: 'data: {"error":{"message":"seed: Extra inputs are not permitted","code":422}}\n\n',
          headers: { 'content-type': 'text/event-stream' },
        }
      : {},
  'errors as text': (body) =>
    'top_p' in body ? { status: 500, raw: 'ValueError: unexpected keyword argument top_p' } : {},
};

describe('a model that refuses fields', () => {
  test.each<[keyof typeof characters & string, Json, Json, string[], number]>([
    [
      'reasoning-only',
      { max_tokens: 16, temperature: 0, presence_penalty: 0.5 },
      { max_completion_tokens: 16 },
      ['temperature', 'presence_penalty'],
      4,
    ],
    ['reasoning-only', { max_tokens: 16, temperature: 1 }, { max_completion_tokens: 16, temperature: 1 }, [], 2],
    ['an old Azure', { max_completion_tokens: 16, parallel_tool_calls: true }, { max_tokens: 16 }, [], 3],
    ['errors in a 200', { seed: 7, temperature: 0 }, { temperature: 0 }, ['seed'], 2],
    ['errors in a stream', { seed: 7, temperature: 0 }, { temperature: 0 }, ['seed'], 2],
    ['errors as text', { top_p: 0.5, temperature: 0 }, { temperature: 0 }, ['top_p'], 2],
  ])('%s gets %j as %j', async (who, asked, got, left, calls) => {
    model.reply(({ body }) => characters[who]!(body));
    const reply = await ask(asked);
    expect([reply.opened.kind, reply.left]).toEqual(['whole', left]);
    expect(model.requests).toHaveLength(calls);
    expect(taken().at(-1)).toEqual({ messages: [user], ...got });
    // Remembered: no call is refused.
    await ask(asked);
    expect(taken()).toEqual([{ messages: [user], ...got }]);
    // Of another model nothing is known.
    await ask({ ...asked, model: 'other' });
    expect(taken()).toHaveLength(calls);
  });

  test('is known by its address, whatever the name of its provider', async () => {
    model.reply(({ body }) => characters['reasoning-only']!(body));
    await ask({ max_tokens: 16 });
    taken();
    expect((await ask({ max_tokens: 16 }, { provider: 'far' })).status).toBe(200);
    expect(taken()).toEqual([{ messages: [user], max_completion_tokens: 16 }]);
  });

  test('that changes its mind about the limit is heard again', async () => {
    const names = ['max_tokens', 'max_completion_tokens'];
    for (const accepted of [0, 1, 0]) {
      model.reply(({ body }) => (names[1 - accepted]! in body ? noField(names[1 - accepted]!) : {}));
      expect((await ask({ max_tokens: 16 })).status).toBe(200);
      expect(taken().at(-1)).toEqual({ messages: [user], [names[accepted]!]: 16 });
    }
    model.reply(({ body }) => noField('max_tokens' in body ? 'max_tokens' : 'max_completion_tokens'));
    const both = await ask({ max_tokens: 16 });
    expect([both.status, taken().length]).toEqual([400, 2]);
  });

  test('any of them, one by one, ends answered with the others kept', async () => {
    const values: Json = { temperature: 0, top_p: 0.5, presence_penalty: 1, frequency_penalty: 1, seed: 7, n: 2 };
    const all: Json = {
      ...values,
      logprobs: true,
      top_logprobs: 2,
      parallel_tool_calls: false,
      tools: [],
      max_tokens: 9,
    };
    await fc.assert(
      fc.asyncProperty(fc.subarray([...optional, 'max_tokens']), fc.boolean(), fc.uuid(), async (bad, isCode, name) => {
        taken();
        model.reply(({ body }) => {
          const unwanted = bad.find((field) => field in body);
          if (unwanted === undefined) return {};
          if (!isCode) return noField(unwanted);
          const error = { message: 'Bad request', param: unwanted, code: 'unsupported_parameter' };
          return { status: 400, raw: JSON.stringify({ error }) };
        });
        const reply = await ask({ ...all, model: name });
        expect(reply.status).toBe(200);
        const { max_tokens: limit, ...others } = all;
        const kept = Object.entries(others).filter(
          ([field]) => !bad.includes(field as 'n') && !(field === 'top_logprobs' && bad.includes('logprobs')),
        );
        const limitName = bad.includes('max_tokens') ? 'max_completion_tokens' : 'max_tokens';
        expect(taken().at(-1)).toEqual({ messages: [user], [limitName]: limit, ...Object.fromEntries(kept) });
        await ask({ ...all, model: name });
        expect(taken()).toHaveLength(1);
      }),
      { numRuns: 40 },
    );
  });
});

describe('roles', () => {
  const instruction = (role: string) => ({ role, content: 'Be short.' });
  test.each<[string, object[], object[]]>([
    ['developer', [instruction('developer'), user], [instruction('system'), user]],
    ['system', [instruction('system'), user], [{ role: 'user', content: 'Be short.\n\nHello there' }]],
    ['system', [instruction('system')], [instruction('user')]],
    [
      'system',
      [instruction('developer'), { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,x' } }] }],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Be short.' },
            { type: 'image_url', image_url: { url: 'data:,x' } },
          ],
        },
      ],
    ],
    [
      'system',
      [user, { role: 'assistant', content: 'Hi' }, instruction('system'), instruction('system'), user],
      [user, { role: 'assistant', content: 'Hi' }, { role: 'user', content: 'Be short.\n\nBe short.\n\nHello there' }],
    ],
  ])('without %s: %j', async (role, messages, got) => {
    model.reply(({ body }) =>
      role === 'developer'
        ? body.messages.some((message) => message.role === 'developer')
          ? refused("developer is not one of ['system', 'assistant', 'user', 'tool'] - 'messages.0.role'")
          : {}
        : body.messages.some((message) => message.role === 'developer')
          ? refused("Unsupported value: 'messages[0].role' does not support 'developer' with this model.")
          : characters['Gemma at vLLM']!(body),
    );
    expect((await ask({ messages }, { callers: new Set(['messages']) })).status).toBe(200);
    expect(taken().at(-1)).toEqual({ messages: got });
  });
});

describe('the form of an answer', () => {
  const schema = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object', properties: {} } } };
  const object = { type: 'json_object' };
  const asking = [{ role: 'user', content: 'Answer in JSON.' }];
  const only = (...types: string[]) =>
    model.reply(({ body }) => {
      const type = (body['response_format'] as { type: string } | undefined)?.type;
      return type === undefined || types.includes(type) ? {} : refused('This response_format type is unavailable now');
    });
  const got = () => taken().at(-1)!['response_format'];

  test('a schema falls back to any object, and to text, where the service asks', async () => {
    only('json_object');
    expect((await ask({ messages: asking, response_format: schema })).left).toEqual(['response_format']);
    expect(got()).toEqual(object);
    // Providers refuse json_object without the word.
    expect((await ask({ response_format: schema })).left).toEqual(['response_format']);
    expect(got()).toBeUndefined();
    only();
    await ask({ messages: asking, response_format: schema, model: 'plain' });
    expect([model.requests.length, got()]).toEqual([3, undefined]);
  });

  test('any object is asked for by an open schema, for everybody', async () => {
    only('json_schema');
    const callers = new Set(['response_format']);
    const reply = await ask({ messages: asking, response_format: object }, { callers });
    expect([reply.status, reply.left, got()]).toEqual([
      200,
      [],
      { type: 'json_schema', json_schema: { name: 'object', schema: { type: 'object' } } },
    ]);
  });

  test('of a caller is kept, and so is the refusal', async () => {
    only('json_object');
    const reply = await ask({ messages: asking, response_format: schema }, { callers: new Set(['response_format']) });
    expect([reply.status, taken().length]).toEqual([400, 1]);
  });
});

describe('a refusal', () => {
  test('of what a caller asks for passes, and a field that means nothing goes', async () => {
    model.reply(({ body }) =>
      ['temperature', 'presence_penalty'].some((name) => name in body) ? noField('temperature') : {},
    );
    const callers = new Set(['temperature']);
    expect([(await ask({ temperature: 0 }, { callers })).status, taken().length]).toEqual([400, 1]);
    model.reply(({ body }) => ('presence_penalty' in body ? noField('presence_penalty') : {}));
    const empty = await ask({ presence_penalty: 0 }, { callers: new Set(['presence_penalty']) });
    expect([empty.status, empty.left]).toEqual([200, []]);
  });

  test('that teaches nothing comes back as it came', async () => {
    model.reply(() => noField('temperature'));
    const reply = await ask({ temperature: 0 });
    expect([reply.status, model.requests.length]).toEqual([400, 2]);
    taken();
    // Not remembered: the model did not answer without it.
    model.reply(() => ({}));
    await ask({ temperature: 0 });
    expect(taken()).toEqual([{ messages: [user], temperature: 0 }]);
  });

  test('after a lesson is told, where it is for another reason', async () => {
    model.reply(({ body }) => ('temperature' in body ? noField('temperature') : refused('Too long.', { status: 413 })));
    expect((await ask({ temperature: 0 })).status).toBe(413);
  });

  test('that was paid for is not asked for again', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 1 };
    model.reply(() => ({
      raw: JSON.stringify({ error: { message: 'temperature is not supported', code: 400 }, usage }),
    }));
    await ask({ temperature: 0 });
    expect(model.requests).toHaveLength(1);
  });

  test('without a name leaves out, once, what the service adds', async () => {
    model.reply(({ body }) =>
      'temperature' in body || 'stream_options' in body ? refused('Invalid request data') : {},
    );
    const added = ['temperature'] as const;
    const reply = await ask({ temperature: 1, stream: true }, { added });
    expect([reply.opened.kind, reply.left]).toEqual(['stream', []]);
    expect(taken()).toHaveLength(2);
    // Where the field was taken before, it is not at fault.
    model.reply(({ n }) => (n === 1 ? {} : refused('Too long.')));
    await ask({ temperature: 1, model: 'other' }, { added });
    await ask({ temperature: 1, model: 'other' }, { added });
    expect(taken()).toHaveLength(2);
  });

  test('of a stream is met by a whole answer in the form of a stream', async () => {
    model.reply(({ body }) =>
      body.stream
        ? {
            status: 400,
            raw: '{"error":{"message":"Your organization must be verified to stream this model.","param":"stream","code":"unsupported_value"}}',
          }
        : {},
    );
    const reply = await ask({ stream: true }, { callers: new Set(['stream']) });
    expect([reply.opened.kind, taken().map((body) => 'stream' in body)]).toEqual(['stream', [true, false]]);
    // It holds for an account: another key may stream.
    await ask({ stream: true });
    expect(taken()).toHaveLength(2);
  });

  test('costs nothing and is no retry: one reservation, three tries of a call that fails', async () => {
    model.reply(({ body }) => ('max_tokens' in body ? noField('max_tokens') : { status: 503, raw: 'busy' }));
    const costs: (number | null)[] = [];
    const retries: string[] = [];
    const observed = createProviders(
      { OPENAI_BASE_URL: model.url },
      { observer: { modelCall: ({ costUsd }) => costs.push(costUsd), retry: (name) => retries.push(name) } },
    );
    const policy = { provider: 'openai', model: 'm', params: { max_tokens: 16 } };
    const result = await completeChat(observed, { policy, messages: [], signal, retryBaseMs: 1 });
    expect([result.ok, costs, retries.length, model.requests.length]).toEqual([false, [0, 0, 0], 2, 6]);
    await observed.close();
  });
});
