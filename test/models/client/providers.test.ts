import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { withTimeout } from '../../../src/clients/net/bounded.js';
import { presets } from '../../../src/models/client/addresses/presets.js';
import { createProviders, ProviderError, type Providers } from '../../../src/models/client/providers.js';
import { startFakeModel, type FakeModel } from '../../support/fakes/model.js';

const signal = new AbortController().signal;
const messages = [{ role: 'user', content: 'Hello there' }];
let model: FakeModel;
let providers: Providers;

beforeAll(async () => {
  model = await startFakeModel();
  providers = createProviders({ OPENAI_BASE_URL: `${model.url}/`, OPENAI_API_KEY: 'sk-secret' });
});
beforeEach(() => model.reply(() => ({})));
afterAll(async () => {
  await providers.close();
  await model.close();
});

const usable = (env: Record<string, string>) =>
  Object.fromEntries(
    createProviders(env)
      .list()
      .map(({ name, usable, reason }) => [name, usable ? 'usable' : reason]),
  );

describe('available providers', () => {
  test('has local and the servers of this machine without settings; the rest name what they lack', () => {
    const lacking = (names: string[], what: string) =>
      names.map((name) => [name, expect.stringContaining(`${name.toUpperCase()}_${what}`) as unknown] as const);
    const own = Object.entries(presets).filter(([, { baseUrl }]) => baseUrl === null);
    const keyed = Object.entries(presets).filter(([, { baseUrl, needsKey }]) => baseUrl !== null && needsKey);
    const free = Object.entries(presets).filter(([, { needsKey }]) => !needsKey);
    expect(usable({})).toEqual({
      local: 'usable',
      ...Object.fromEntries(free.map(([name]) => [name, 'usable'])),
      ...Object.fromEntries(
        lacking(
          keyed.map(([name]) => name),
          'API_KEY',
        ),
      ),
      ...Object.fromEntries(
        lacking(
          own.map(([name]) => name),
          'BASE_URL',
        ),
      ),
    });
  });

  test('accepts a provider with a key or a custom address, and treats blank as absent', () => {
    expect(usable({ OPENAI_API_KEY: 'k', GROQ_BASE_URL: 'http://127.0.0.1:1', MISTRAL_API_KEY: ' ' })).toMatchObject({
      openai: 'usable',
      groq: 'usable',
      mistral: expect.stringContaining('MISTRAL_API_KEY') as unknown,
    });
  });

  test('adds providers by configuration', () => {
    const env = { RATCHET_PROVIDERS: 'my-vllm, other,local,Bad!', MY_VLLM_BASE_URL: 'http://127.0.0.1:1/v1' };
    expect(usable(env)).toMatchObject({
      'my-vllm': 'usable',
      local: 'usable',
      other: expect.stringContaining('OTHER_BASE_URL') as unknown,
      'bad!': expect.stringContaining('not a name') as unknown,
    });
    expect(usable({ OPENAI_BASE_URL: 'ftp://x' })).toMatchObject({ openai: expect.stringContaining('URL') as unknown });
  });

  test("takes the variable of a vendor's own clients where ours is not set", async () => {
    const base = { QWEN_BASE_URL: model.url };
    for (const [env, key] of [
      [{ DASHSCOPE_API_KEY: 'sk-vendor' }, 'sk-vendor'],
      [{ DASHSCOPE_API_KEY: 'sk-vendor', QWEN_API_KEY: 'sk-ours' }, 'sk-ours'],
    ] as const) {
      const own = createProviders({ ...base, ...env });
      await own.send('qwen', { model: 'm', messages }, signal);
      await own.close();
      expect(model.requests.at(-1)!.headers.authorization).toBe(`Bearer ${key}`);
    }
    expect(usable({ DASHSCOPE_API_KEY: 'k', HF_TOKEN: 'k', GEMINI_API_KEY: 'k' })).toMatchObject({
      qwen: 'usable',
      huggingface: 'usable',
      google: 'usable',
      groq: expect.stringContaining('GROQ_API_KEY') as unknown,
    });
  });

  test('reports invalid settings', () => {
    expect(providers.check('openai')).toBeNull();
    expect(providers.check('nobody')).toContain('not found');
    expect(providers.check('constructor')).toContain('not found');
    expect(providers.check('groq')).toMatch(/GROQ_API_KEY/);
  });
});

describe('sending', () => {
  test('sends the body unchanged, with the configured key only', async () => {
    const body = { model: 'm', messages, x_unknown: { a: [1, null, { b: '\u0000' }] }, temperature: 0 };
    const answer = await providers.send('openai', body, signal);
    expect(JSON.parse(String(await answer.read()))).toMatchObject({ object: 'chat.completion' });
    const { body: received, headers } = model.requests.at(-1)!;
    expect(received).toEqual(body);
    expect(headers).toMatchObject({ authorization: 'Bearer sk-secret', 'accept-encoding': 'identity' });
  });

  test('returns an error’s status, body and Retry-After without the key', async () => {
    const error = '{"error":{"message":"slow down, sk-secret","code":"rate_limit"}}';
    model.reply(() => ({ status: 429, raw: error, headers: { 'retry-after': '7' } }));
    const answer = await providers.send('openai', { model: 'm', messages }, signal);
    expect(answer).toMatchObject({ status: 429, retryAfter: '7' });
    expect(String(await answer.read())).toBe(error.replace('sk-secret', '***'));
  });

  test('returns a redirect as an answer', async () => {
    model.reply(() => ({ status: 307, raw: '', headers: { location: 'http://127.0.0.1:1' } }));
    expect((await providers.send('openai', { model: 'm', messages }, signal)).status).toBe(307);
  });

  const fault = async (work: Promise<unknown>) => {
    const error = await work.catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ProviderError);
    return (error as ProviderError).code;
  };
  test('reports why no answer arrived', async () => {
    const gone = createProviders({ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' });
    expect(await fault(gone.send('openai', { messages }, signal))).toBe('upstream_unreachable');
    expect(await fault(gone.send('groq', { messages }, signal))).toBe('provider_not_usable');
    expect(await fault(gone.send('nobody', { messages }, signal))).toBe('provider_not_usable');
    model.reply(() => ({ cutAfter: 0 }));
    expect(await fault(providers.send('openai', { model: 'm', messages }, signal))).toBe('upstream_connection_lost');
    await gone.close();
  });

  test('ends at the abort signal', async () => {
    model.reply(() => new Promise(() => undefined));
    const work = withTimeout(50, signal, (bounded) => providers.send('openai', { model: 'm', messages }, bounded));
    await expect(work).rejects.toThrow('no full answer within 50 ms');
  });
});

describe('the local provider', () => {
  const ask = async (body: Record<string, unknown>) => {
    const answer = await providers.send('local', body, signal);
    return { ...answer, text: String(await answer.read()) };
  };
  const events = (stream: string) =>
    stream
      .split('\n\n')
      .filter(Boolean)
      .map((event) => event.replace(/^data: /, ''));

  test('answers like an endpoint, and streams the same words', async () => {
    const whole = await ask({ model: 'local', messages });
    const said = (JSON.parse(whole.text) as { choices: { message: { content: string } }[] }).choices[0]!.message
      .content;
    expect(whole).toMatchObject({ status: 200, contentType: 'application/json' });
    const streamed = await ask({ model: 'local', messages, stream: true, stream_options: { include_usage: false } });
    expect(streamed.contentType).toBe('text/event-stream');
    const chunks = events(streamed.text);
    expect(chunks.pop()).toBe('[DONE]');
    const parsed = chunks.map((c) => JSON.parse(c) as { choices: { delta: { content?: string } }[]; usage?: object });
    expect(parsed.map((c) => c.choices[0]?.delta.content ?? '').join('')).toBe(said);
    expect(parsed.some((c) => c.usage)).toBe(false);
  });

  test('includes usage in a stream whose caller says nothing of it', async () => {
    const { text: stream } = await ask({ messages, stream: true });
    const last = JSON.parse(events(stream).at(-2)!) as Record<string, unknown>;
    expect(last).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) as unknown } });
  });

  test('reports a request without messages as the caller’s fault', async () => {
    const answer = await ask({ model: 'local', messages: [] });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { type: 'invalid_request_error', param: 'messages' } });
  });
});
