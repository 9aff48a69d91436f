import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkModel } from '../../../src/models/client/model-check.js';
import { createProviders } from '../../../src/models/client/providers.js';
import { startFakeModel, type FakeModel, type ModelReply, type ModelRequest } from '../../support/fakes/model.js';

let model: FakeModel;
beforeAll(async () => {
  model = await startFakeModel();
});
afterAll(() => model.close());
const signal = new AbortController().signal;

const json = (status: number, body: object): ModelReply => ({ status, raw: JSON.stringify(body) });
const refused = (message: string) => json(400, { error: { message, type: 'invalid_request_error' } });
const isJson = (body: ModelRequest['body']) => 'response_format' in body;
const asked = (body: ModelRequest['body']): ModelReply => ({ text: isJson(body) ? '{"ok": true}' : 'ok' });

/** Providers of several characters: what each refuses, and what the check says no to. */
const characters: [string, (request: ModelRequest) => ModelReply, string[], number, string?][] = [
  ['that takes everything', ({ body }) => asked(body), ['tools'], 7],
  [
    'of Azure as it was in 2024',
    ({ body }) => {
      const unknown = ['max_completion_tokens', 'stream_options', 'parallel_tool_calls'].find((name) => name in body);
      if (unknown) return refused(`Unrecognized request argument supplied: ${unknown}`);
      const format = (body['response_format'] as { type: string } | undefined)?.type;
      return format === 'json_schema'
        ? refused("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.")
        : asked(body);
    },
    ['stream_usage', 'tools', 'json_schema'],
    9,
  ],
  [
    'that only reasons',
    ({ body }) => {
      if ('max_tokens' in body)
        return refused(
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        );
      if ('temperature' in body)
        return refused(
          "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        );
      return { ...asked(body), finish: 'length', text: '' };
    },
    ['tools', 'temperature_0'],
    9,
    'as max_completion_tokens',
  ],
  [
    'like llama.cpp with Gemma',
    ({ body }) => {
      if (body.messages.some(({ role }) => role === 'system'))
        return json(500, { error: { code: 500, message: 'System role not supported', type: 'server_error' } });
      return 'tools' in body
        ? json(500, { code: 500, message: 'Unsupported param: tools', type: 'server_error' })
        : asked(body);
    },
    ['system', 'tools'],
    8,
  ],
  [
    'with errors as text',
    ({ body }) =>
      'tools' in body || isJson(body)
        ? { status: 422, raw: 'tools and response_format are not supported' }
        : asked(body),
    ['tools', 'json_schema', 'json_object'],
    // A schema falls back to any object and to text, an object to an open schema.
    -1,
  ],
  [
    'that ignores the limit',
    ({ body }) => ({ ...asked(body), usage: { prompt_tokens: 1, completion_tokens: 999 } }),
    ['max_tokens', 'tools'],
    7,
  ],
];

const part = (name: string) => expect.objectContaining({ part: name }) as unknown;

test.each(characters)('a provider %s', async (_who, reply, no, calls, limit = 'as max_tokens') => {
  model.requests.length = 0;
  model.reply(reply);
  const providers = createProviders({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'k' });
  const report = await checkModel(providers, { provider: 'openai', model: 'gpt-4o-mini' }, signal);
  await providers.close();
  const refusedParts = report.checks.filter(({ takes, detail }) => !takes || /called none/.test(detail));
  expect(refusedParts.map((check) => check.part)).toEqual(no);
  for (const check of report.checks.filter(({ takes }) => !takes)) expect(check.remedy).not.toBeNull();
  if (calls > 0) expect(model.requests).toHaveLength(calls);
  expect(model.requests.length).toBeLessThanOrEqual(16);
  if (!no.includes('max_tokens'))
    expect(report.checks).toContainEqual(expect.objectContaining({ part: 'max_tokens', detail: limit }));
  expect(report.checks.at(-1)).toMatchObject({ part: 'price', takes: true });
  // Without usage a stream's cost is unknown, and so is the sum.
  if (no.includes('stream_usage')) expect(report.cost_usd).toBeNull();
  else expect(report.cost_usd).toBeGreaterThan(0);
});

test.each<[string, ModelReply, RegExp]>([
  ['a 404', json(404, { error: { message: 'The model `m` does not exist' } }), /^404: The model/],
  ['a text', { status: 401, raw: 'no key' }, /^401: no key/],
  ['an error in a 200', { raw: '{"error":{"message":"busy","code":503}}' }, /^503: busy/],
  ['a page', { raw: '<html></html>' }, /no chat completion/],
  ['nothing', { cutAfter: 0 }, /broke/],
])('%s ends the check, at cost 0 where it is one', async (_what, reply, detail) => {
  model.requests.length = 0;
  model.reply(() => reply);
  const providers = createProviders({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'k' });
  const report = await checkModel(providers, { provider: 'openai', model: 'm' }, signal);
  await providers.close();
  expect(report).toMatchObject({
    checks: [{ part: 'answer', takes: false, detail: expect.stringMatching(detail) as unknown }],
    seconds: null,
  });
  expect(report.cost_usd).toBe(/^\d+:/.test(report.checks[0]!.detail) ? 0 : null);
});

test.each<[string, ModelReply, boolean, RegExp]>([
  ['an empty answer', { text: '' }, false, /empty answer/],
  ['thoughts alone', { text: '<think>ok</think>' }, false, /thoughts only/],
  ['a filter', { text: '', finish: 'content_filter' }, false, /content filter/],
  ['a cut', { text: '<think>Let me', finish: 'length' }, true, /no text within 256 tokens/],
])('%s without text', async (_what, reply, takes, detail) => {
  model.reply(() => reply);
  const providers = createProviders({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'k' });
  const { checks } = await checkModel(providers, { provider: 'openai', model: 'm' }, signal);
  await providers.close();
  expect(checks[0]).toMatchObject({ takes, detail: expect.stringMatching(detail) as unknown });
  expect(checks[0]!.remedy).not.toBeNull();
  expect(checks.length > 1).toBe(takes);
});

test('the local model has an answer and a price', async () => {
  const providers = createProviders({});
  const report = await checkModel(providers, { provider: 'local', model: 'local' }, signal);
  await providers.close();
  expect(report).toMatchObject({ checks: [part('answer'), part('price')], cost_usd: 0 });
});
