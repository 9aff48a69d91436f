import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { completeChat } from '../../../src/models/client/complete-chat.js';
import { createProviders, type ModelTry, type Providers } from '../../../src/models/client/providers.js';
import type { Message } from '../../../src/core/prompts/message.js';
import { startFakeModel, type FakeModel, type ModelReply } from '../../support/fakes/model.js';

const messages: Message[] = [{ role: 'user', content: 'Write a better prompt.' }];
let model: FakeModel;
let providers: Providers;
const counted: ModelTry[] = [];
const retried: string[] = [];

beforeAll(async () => {
  model = await startFakeModel();
  const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-secret' };
  providers = createProviders(env, {
    observer: { modelCall: (call) => void counted.push(call), retry: (provider) => void retried.push(provider) },
  });
});
beforeEach(() => {
  for (const list of [model.requests, counted, retried]) list.length = 0;
});
afterAll(async () => {
  await providers.close();
  await model.close();
});

function ask(reply: (n: number) => ModelReply | Promise<ModelReply>, more: Record<string, unknown> = {}) {
  model.reply(() => reply(model.requests.length));
  const policy = { provider: 'openai', model: 'gpt-4o-mini', params: { temperature: 1 } };
  return completeChat(providers, { policy, messages, signal: new AbortController().signal, retryBaseMs: 2, ...more });
}

describe('a proposer call', () => {
  test('returns text, finish reason, tokens and cost', async () => {
    expect(await ask(() => ({ text: 'Be precise.' }))).toEqual({
      ok: true,
      text: 'Be precise.',
      thoughts: null,
      refusal: null,
      finishReason: 'stop',
      promptTokens: 4,
      completionTokens: 2,
      costUsd: expect.any(Number) as unknown,
      costSource: 'table',
      responseModel: 'gpt-4o-mini',
      latencyMs: expect.any(Number) as unknown,
      left: [],
    });
    expect(model.requests[0]!.body).toEqual({ temperature: 1, model: 'gpt-4o-mini', messages, stream: false });
  });

  test('is counted with each of its tries', async () => {
    await ask((n) => (n < 2 ? { status: 500, raw: 'oops' } : { text: 'ok' }), { asker: 'judge' });
    expect(counted).toMatchObject([
      { provider: 'openai', model: 'gpt-4o-mini', purpose: 'judge', status: 500, costUsd: 0 },
      { provider: 'openai', model: 'gpt-4o-mini', purpose: 'judge', status: 200, promptTokens: 4, completionTokens: 1 },
    ]);
    expect(retried).toEqual(['openai']);
  });

  test.each<[string, ModelReply]>([
    ['429', { status: 429, raw: '{}', headers: { 'retry-after': '0' } }],
    ['500', { status: 500, raw: 'oops' }],
    ['503', { status: 503, raw: '' }],
    ['500 without a body', { status: 500, raw: '' }],
    ['a reset', { cutAfter: 0 }],
    ['an incomplete body', { cutBody: true }],
  ])('succeeds after two failures: %s', async (_name, fault) => {
    expect(await ask((n) => (n < 3 ? fault : { text: 'ok' }))).toMatchObject({ ok: true, text: 'ok' });
    expect(model.requests).toHaveLength(3);
  });

  test.each<[string, ModelReply, Record<string, unknown>, RegExp]>([
    ['a whole answer over 8 MiB', { text: 'x'.repeat(8 * 1024 * 1024) }, {}, /RATCHET_MAX_ANSWER_MIB/],
    ['an event over 8 MiB', { text: 'x'.repeat(8 * 1024 * 1024) }, { onText: () => undefined }, /event of more than/],
  ])('pays once for %s', async (_name, reply, more, said) => {
    const message = expect.stringMatching(said) as unknown;
    expect(await ask(() => reply, more)).toMatchObject({ ok: false, code: 'upstream_answer_too_large', message });
    expect(model.requests).toHaveLength(1);
  });

  test('fails after three tries', async () => {
    const answer = await ask(() => ({ status: 500, raw: 'oops' }));
    expect(answer).toMatchObject({
      ok: false,
      code: 'proposer_refused',
      message: expect.stringContaining('oops') as unknown,
    });
    expect(model.requests).toHaveLength(3);
  });

  test.each([
    [429, true, 1],
    [503, true, 1],
    [500, true, 0],
    [404, true, 0],
    [400, false, 0],
    [413, false, 0],
  ])(
    '%d: classifies the error, names the caller, and reports a pushback',
    async (status, infrastructure, pushbacks) => {
      const heard: string[] = [];
      const reply = { status, raw: 'no', headers: { 'retry-after': '3600' } };
      const answer = await ask(() => reply, { asker: 'judge', onPushback: (because: string) => heard.push(because) });
      expect(answer).toMatchObject({ ok: false, code: 'judge_refused', infrastructure });
      expect(heard).toEqual(
        Array<string>(pushbacks).fill(`The provider "openai" answered the judge with ${status}: no`),
      );
    },
  );

  test('hides keys that the provider quotes', async () => {
    const answer = await ask(() => ({ status: 403, raw: 'bad key sk-abc' }));
    expect(answer).toMatchObject({ ok: false });
    expect(JSON.stringify(answer)).not.toContain('sk-abc');
  });

  test('names the setting of the refused key for 401', async () => {
    expect(await ask(() => ({ status: 401, raw: 'no such key' }), { asker: 'step' })).toMatchObject({
      ok: false,
      code: 'provider_refused_key',
      message: 'The provider "openai" answered the step with 401: no such key. Check OPENAI_API_KEY.',
      infrastructure: true,
    });
  });

  test('waits for Retry-After, but not beyond the limit', async () => {
    const at: number[] = [];
    await ask((n) => (at.push(Date.now()), n === 1 ? { status: 429, raw: '', headers: { 'retry-after': '0.2' } } : {}));
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(190);
    const answer = await ask(() => ({ status: 429, raw: '', headers: { 'retry-after': '3600' } }));
    expect(answer).toMatchObject({ ok: false });
    expect(model.requests).toHaveLength(3);
  });

  test('reports the begin and end of a wait for budget or provider', async () => {
    const heard: string[] = [];
    const said = (what: string) => heard.push(what);
    const meter = {
      open: async (body: Record<string, unknown>) => Promise.resolve({ body }).finally(() => said('paid')),
      close: () => Promise.resolve(),
    };
    await ask((n) => (said('asked'), n === 1 ? { status: 429, raw: '', headers: { 'retry-after': '0' } } : {}), {
      meter,
      onWait: () => (said('waits'), () => said('goes on')),
    });
    const paying = ['waits', 'paid', 'goes on', 'asked'];
    expect(heard).toEqual([...paying, 'waits', 'goes on', ...paying]);
  });

  test('reports a time-out after three hanging tries', async () => {
    const answer = await ask(() => new Promise(() => undefined), { tryTimeoutMs: 50 });
    expect(answer).toMatchObject({ ok: false, code: 'upstream_timeout' });
    expect(model.requests).toHaveLength(3);
  });

  test('accepts a date as Retry-After', async () => {
    const at: number[] = [];
    // An HTTP date has whole seconds.
    const date = () => new Date(Date.now() + 2_000).toUTCString();
    await ask(
      (n) => (at.push(Date.now()), n === 1 ? { status: 429, raw: '', headers: { 'retry-after': date() } } : {}),
    );
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(900);
  });

  test('starts no try or wait after the deadline', async () => {
    const busy: ModelReply = { status: 429, raw: '', headers: { 'retry-after': '5' } };
    expect(await ask(() => busy, { deadline: performance.now() + 3_000 })).toMatchObject({ code: 'proposer_refused' });
    expect(model.requests).toHaveLength(1);
    const hangs = ask(() => new Promise(() => undefined), { deadline: performance.now() + 200 });
    expect(await hangs).toMatchObject({ code: 'upstream_timeout' });
    expect(model.requests).toHaveLength(2);
  });

  test.each<[string, unknown, string]>([
    ['null, all tokens spent on thinking', null, ''],
    [
      'parts',
      [
        { type: 'text', text: 'Be ' },
        { type: 'text', text: 'kind.' },
      ],
      'Be kind.',
    ],
  ])('reads a text from a content of %s', async (_name, content, text) => {
    const choices = [{ message: { role: 'assistant', content }, finish_reason: 'length' }];
    expect(await ask(() => ({ fields: { choices } }))).toMatchObject({ ok: true, text, finishReason: 'length' });
  });

  test.each<[string, ModelReply]>([
    ['400', { status: 400, raw: '{"error":{"message":"no such model"}}' }],
    ['401', { status: 401, raw: '' }],
    ['no choices', { raw: '{"choices":[]}' }],
    ['no JSON', { raw: '<html>' }],
  ])('does not retry %s', async (_name, reply) => {
    expect(await ask(() => reply)).toMatchObject({ ok: false });
    expect(model.requests).toHaveLength(1);
  });

  test('refuses a provider without a key', async () => {
    const policy = { provider: 'groq', model: 'm', params: {} };
    expect(await ask(() => ({}), { policy })).toMatchObject({ ok: false, code: 'provider_not_usable' });
  });

  test('rejects with the abort reason', async () => {
    const abort = new AbortController();
    const work = ask(
      () => {
        abort.abort(new Error('cancelled'));
        return new Promise(() => undefined);
      },
      { signal: abort.signal },
    );
    await expect(work).rejects.toThrow('cancelled');
  });

  describe('a streamed proposer call', () => {
    const streamed = async (reply: (n: number) => ModelReply, more: Record<string, unknown> = {}) => {
      const pieces: string[] = [];
      const answer = await ask(reply, { onText: (piece: string) => pieces.push(piece), ...more });
      return { answer, pieces };
    };

    test('forwards chunks and returns the same result as an unstreamed answer', async () => {
      const { answer, pieces } = await streamed(() => ({ text: 'Be very precise.' }));
      expect(pieces).toEqual(['Be ', 'very ', 'precise.']);
      const latencyMs = expect.any(Number) as unknown;
      expect(answer).toEqual({ ...(await ask(() => ({ text: 'Be very precise.' }))), latencyMs });
      const { stream, stream_options: options } = model.requests[0]!.body;
      expect([stream, options]).toEqual([true, { include_usage: true }]);
    });

    test.each<[string, ModelReply]>([
      ['refused', { status: 503, raw: '' }],
      ['reset', { cutAfter: 1 }],
      ['ended half-way', { cutAfter: 1, tail: '' }],
      ['ended with an error', { cutAfter: 0, tail: 'data: {"error":{"message":"overloaded"}}\n\n' }],
    ])('retries a stream that is %s before its first piece, but not after it', async (_name, fault) => {
      const again = await streamed((n) => (n === 1 ? fault : { text: 'ok' }));
      expect([again.answer, again.pieces]).toMatchObject([{ ok: true, text: 'ok' }, ['ok']]);
      model.requests.length = 0;
      if (fault.cutAfter === undefined) return;
      const { answer, pieces } = await streamed(() => ({ ...fault, text: 'ok then', cutAfter: 2 }));
      expect([answer, pieces]).toMatchObject([{ ok: false, infrastructure: true }, ['ok ']]);
      expect(model.requests).toHaveLength(1);
    });

    test('meters each try', async () => {
      const costs: (number | null)[] = [];
      const meter = {
        open: (body: Record<string, unknown>) => Promise.resolve({ body }),
        close: ({ costUsd }: { costUsd: number | null }) => Promise.resolve(void costs.push(costUsd)),
      };
      const faults: ModelReply[] = [
        { cutAfter: 0, tail: 'data: {"error":{}}\n\n' },
        { status: 500, raw: '' },
      ];
      await streamed((n) => faults[n - 1] ?? { usage: { prompt_tokens: 1, completion_tokens: 1, cost: 0.5 } }, {
        meter,
      });
      expect(costs).toEqual([null, 0, 0.5]);
    });
  });
});
