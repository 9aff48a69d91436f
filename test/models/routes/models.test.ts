import { beforeAll, expect, test } from '@jest/globals';
import type { APIError } from 'openai';
import OpenAI from 'openai';
import { deploymentsOfFile, question, saying } from '../../kinds/deployment/routes/support.js';

// OpenAI's own client needs a base URL and a key, and nothing else.

const it = deploymentsOfFile();
let served: string;
beforeAll(async () => {
  served = await it.deploy('queues', 'I am served.');
});

const client = (apiKey = it.http.key) => new OpenAI({ apiKey, baseURL: `${it.url}/v1`, maxRetries: 0 });
const ask = (model: string, openai = client()) =>
  openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'Where is my card?' }] }).withResponse();
const keyWith = async (...scopes: string[]): Promise<string> =>
  (await it.http.call('POST', '/api/v1/admin/keys', { name: 'k', scopes })).body.key;

/** The status and code with which a call fails. */
async function failure(call: Promise<unknown>) {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown as APIError,
  );
  return error && [error.status, error.code, error.param];
}

test.each([
  ['name', () => 'queues'],
  ['id', () => served],
])('model is the %s of a deployment', async (_, model) => {
  const { data, response } = await ask(model());
  expect(data.choices[0]!.message.content).toContain('Where is my card?');
  expect(response.headers.get('x-ratchet-deployment-id')).toBe(served);
  const { model: asked, messages } = it.model.requests.at(-1)!.body;
  expect([asked, messages[0]]).toEqual(['gpt-4o-mini', { role: 'system', content: 'I am served.' }]);
});

test('a stream', async () => {
  const stream = await client().chat.completions.create({
    model: 'queues',
    stream: true,
    messages: [{ role: 'user', content: 'a' }],
  });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  expect(text).not.toBe('');
});

test('the models are the names that deployments serve', async () => {
  await it.deploy('another');
  const gone = await it.deploy('gone');
  await it.http.call('DELETE', `/api/harbor/deployments/${gone}`);
  it.held = true;
  const { id: pending } = (await it.create({ name: 'pending', source: saying('a') })).body as { id: string };

  const names: string[] = [];
  for await (const model of client().models.list()) names.push(model.id);
  expect(names).toEqual(['another', 'queues']);

  const { ready_at: readyAt } = (await it.status(served)).body as { ready_at: string };
  const model = { object: 'model', created: Math.floor(Date.parse(readyAt) / 1_000), owned_by: 'ratchet' };
  expect(await client().models.retrieve('queues')).toEqual({ id: 'queues', ...model });
  expect(await client().models.retrieve(served)).toEqual({ id: served, ...model });

  for (const unknown of ['gone', gone, 'none', 'x'.repeat(200)]) {
    expect(await failure(client().models.retrieve(unknown))).toEqual([404, 'model_not_found', 'model']);
    expect(await failure(ask(unknown))).toEqual([404, 'model_not_found', 'model']);
  }
  for (const building of ['pending', pending]) {
    expect(await failure(client().models.retrieve(building))).toEqual([404, 'model_not_found', 'model']);
    expect(await failure(ask(building))).toEqual([409, 'not_ready', null]);
  }
});

test.each([undefined, null, '', 7])('a request with the model %p is refused', async (model) => {
  const before = it.model.requests.length;
  expect(await failure(client().post('/chat/completions', { body: { ...question, model } }))).toEqual([
    400,
    'invalid_request',
    'model',
  ]);
  expect(it.model.requests.length).toBe(before);
});

test('a key needs the scope infer, or read for the models', async () => {
  const [infer, read, others] = [
    client(await keyWith('infer')),
    client(await keyWith('read')),
    client(await keyWith('write', 'admin')),
  ];
  expect((await ask('queues', infer!)).response.status).toBe(200);
  for (const reader of [infer!, read!]) {
    expect((await reader.models.list()).data.length).toBeGreaterThan(0);
    expect((await reader.models.retrieve('queues')).id).toBe('queues');
  }
  await Promise.all(
    [others!.models.list(), others!.models.retrieve('queues'), ask('queues', others!), ask('queues', read!)].map(
      async (call) => expect(await failure(call)).toEqual([403, 'missing_scope', null]),
    ),
  );
});

test('another organization has none of them', async () => {
  const other = client(it.http.otherKey);
  expect((await other.models.list()).data).toEqual([]);
  for (const model of ['queues', served])
    expect(await failure(ask(model, other))).toEqual([404, 'model_not_found', 'model']);
});

test('what else OpenAI has below /v1 is 404 in its shape', async () => {
  expect(await failure(client().embeddings.create({ model: 'queues', input: 'a' }))).toEqual([404, 'not_found', null]);
});
