import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createProviders, type Providers } from '../../../src/models/client/providers.js';
import { startFakeModel, type FakeModel } from '../../support/fakes/model.js';

let model: FakeModel;
let asked: string[];
const signal = new AbortController().signal;
const open: Providers[] = [];

beforeAll(async () => {
  model = await startFakeModel();
});
afterAll(async () => {
  await Promise.all(open.map((providers) => providers.close()));
  await model.close();
});

/** Providers with an empty cache, on the fake; the list is JSON, or text with a status. */
function listing(body: unknown, status = 200): Providers {
  asked = [];
  model.list((request, response) => {
    asked.push(request.headers.authorization ?? '');
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const of = (name: string) => ({ [`${name}_BASE_URL`]: model.url, [`${name}_API_KEY`]: `sk-${name}` });
  const providers = createProviders({ ...of('OPENAI'), ...of('MISTRAL'), ...of('GROQ') });
  open.push(providers);
  return providers;
}

const today = new Date().toISOString().slice(0, 10);

describe('ends in a list of models', () => {
  test('are those of OpenAI', async () => {
    const data = [
      { id: 'a', object: 'model', created: 1, owned_by: 'openai', shutdown_date: '2031-01-14' },
      { id: 'b', object: 'model', created: 1, owned_by: 'openai', shutdown_date: null },
      { id: 'c', object: 'model', created: 1, owned_by: 'openai' },
      ...['soon', '2031-13-40', 7, {}].map((date, at) => ({ id: `bad ${at}`, shutdown_date: date })),
      { shutdown_date: '2031-01-14' },
      null,
    ];
    const list = await listing({ object: 'list', data }).listedEnds('one', 'openai', signal);
    const end = { shutdownDate: '2031-01-14', replacement: null, source: 'the list of models of openai', asOf: today };
    expect(list).toEqual({ ok: true, ends: new Map([['a', end]]) });
    expect(asked).toEqual(['Bearer sk-OPENAI']);
  });

  test('and of Mistral, with a replacement', async () => {
    const data = [{ id: 'a', deprecation: '2031-05-31T12:00:00Z', deprecation_replacement_model: 'b' }];
    const list = await listing({ data }).listedEnds('one', 'mistral', signal);
    expect(list?.ok && list.ends.get('a')).toMatchObject({ shutdownDate: '2031-05-31', replacement: 'b' });
  });

  test('are asked of no other provider', async () => {
    expect(await listing({ data: [] }).listedEnds('one', 'groq', signal)).toBeNull();
    expect(asked).toEqual([]);
  });

  test('are kept for each organization', async () => {
    const providers = listing({ data: [] });
    for (const org of ['one', 'one', 'two', 'one']) await providers.listedEnds(org, 'openai', signal);
    expect(asked).toHaveLength(2);
  });

  test.each<[string, unknown, number, RegExp]>([
    ['a refusal', { error: { message: 'no' } }, 401, /401/],
    ['no JSON', '<html>', 200, /no data/],
    ['another shape', { data: {} }, 200, /no data/],
  ])('are unknown after %s, which is asked once', async (_, body, status, why) => {
    const providers = listing(body, status);
    for (const org of ['one', 'one']) {
      expect(await providers.listedEnds(org, 'openai', signal)).toEqual({ ok: false, why: expect.stringMatching(why) });
    }
    expect(asked).toHaveLength(1);
  });

  test('are unknown of a provider that cannot be reached, and of one without a key', async () => {
    const providers = createProviders({ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' });
    open.push(providers);
    expect(await providers.listedEnds('one', 'openai', signal)).toMatchObject({ ok: false });
    expect(await providers.listedEnds('one', 'mistral', signal)).toMatchObject({ ok: false });
  });

  test('end with the signal', async () => {
    const providers = listing({ data: [] });
    const gone = AbortSignal.abort(new Error('gone'));
    await expect(providers.listedEnds('one', 'openai', gone)).rejects.toThrow('gone');
  });
});
