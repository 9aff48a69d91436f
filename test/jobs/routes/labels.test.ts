import { describe, expect, test } from '@jest/globals';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  evaluationRequest,
  httpOfFile,
} from '../../platform/http/support.js';
import { sessionRequest } from '../../platform/http/support.js';

const sessions = '/api/v1/online/sessions';
const evaluations = '/api/v1/offline/jobs';
const graphs = '/api/graphgen/jobs';
const deployments = '/api/harbor/deployments';
const http = httpOfFile();

const labels = {
  name: 'Größe 1: intents',
  tags: ['team:search', 'v1.2'],
  metadata: { commit: 'abc', attempt: 2, final: false },
  notes: 'Why: the first try\nforgot négations.',
};
const none = { name: null, tags: [], metadata: {}, notes: null };
const empty = { name: null, tags: null, metadata: null, notes: null };

const session = (beside: object) => http.call('POST', sessions, { policy_optimization: sessionRequest, ...beside });
const source = { messages: [{ role: 'system', content: 'x' }], policy: { model: 'local', provider: 'local' } };
const deployment = (more: object) => http.call('POST', deployments, { name: 'd', source, ...more });

const kinds = [
  ['a session', sessions, async (more: object) => (await session(more)).body.job_id as string],
  ['an evaluation', evaluations, (more: object) => createEvaluation(http, more)],
  [
    'a wrapped evaluation',
    evaluations,
    async (more: object) =>
      (await http.call('POST', evaluations, { config: evaluationRequest, ...more })).body.job_id as string,
  ],
  ['a graph job', graphs, (more: object) => createGraphJob(http, more)],
] as const;

async function shown(base: string, id: string) {
  const { body } = await http.call('GET', `${base}/${id}`);
  const { body: page } = await http.call('GET', `${base}?limit=1000`);
  const listed = page.data.find(({ job_id }: { job_id: string }) => job_id === id);
  const of = ({ name, tags, metadata, notes }: typeof none) => ({ name, tags, metadata, notes });
  expect(of(listed)).toEqual(of(body));
  return of(body);
}

describe.each(kinds)('labels of %s', (kind, base, create) => {
  test('are shown in its status and in its list', async () => {
    expect(await shown(base, await create(labels))).toEqual(labels);
    expect(await shown(base, await create({}))).toEqual(none);
    expect(await shown(base, await create(empty))).toEqual(none);
  });

  test('are replaced by PATCH, each by itself, whatever the status', async () => {
    const id = await create(labels);
    const patch = (body: object) => http.call('PATCH', `${base}/${id}`, body);
    expect(await patch({ name: 'other' })).toMatchObject({ status: 200, body: { job_id: id, status: 'running' } });
    expect(await shown(base, id)).toEqual({ ...labels, name: 'other' });
    await patch({ state: 'cancelled' });
    expect(await patch({ tags: ['x', 'x'] })).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    await patch({ metadata: { a: 1 }, notes: 'n' });
    expect(await shown(base, id)).toEqual({ name: 'other', tags: ['x'], metadata: { a: 1 }, notes: 'n' });
    await patch(empty);
    expect(await shown(base, id)).toEqual(none);
  });

  test('an archived one is in lists only on request', async () => {
    const id = await create({ tags: ['kept'] });
    const patch = (body: object) => http.call('PATCH', `${base}/${id}`, body);
    const listed = async (query: string) =>
      (await http.call('GET', `${base}?limit=1000${query}`)).body.data
        .filter(({ job_id }: { job_id: string }) => job_id === id)
        .map(({ archived }: { archived: boolean }) => archived);
    expect(await patch({ archived: true })).toMatchObject({ status: 200, body: { job_id: id, status: 'running' } });
    expect([await listed(''), await listed('&archived=false'), await listed('&archived=true')]).toEqual([
      [],
      [],
      [true],
    ]);
    expect((await http.call('GET', `${base}/${id}`)).body).toMatchObject({ archived: true, tags: ['kept'] });
    await patch({ archived: false });
    expect([await listed(''), await listed('&archived=true')]).toEqual([[false], [false]]);
    expect((await http.call('GET', `${base}?archived=yes`)).status).toBe(422);
  });

  test('are searched: part of the name in any case, and all tags', async () => {
    const [word, tag] = ['Ärger_50%', `${base.length}/only`];
    const both = await create({ name: `x ${word} x`, tags: [tag, 'shared'] });
    const tagged = await create({ tags: [tag] });
    const named = await create({ name: 'x ärger 500' });
    const found = async (query: string) =>
      (await http.call('GET', `${base}?${query}`)).body.data
        .map(({ job_id }: { job_id: string }) => job_id)
        .filter((id: string) => [both, tagged, named].includes(id));
    expect(await found(`name=${encodeURIComponent(word.toLowerCase())}`)).toEqual([both]);
    expect(await found(`name=${encodeURIComponent('ÄRGER')}`)).toEqual([named, both]);
    expect(await found(`tag=${tag}`)).toEqual([tagged, both]);
    expect(await found(`tag=${tag}&tag=shared`)).toEqual([both]);
    expect(await found(`tag=shared&name=500`)).toEqual([]);
    expect(await found('tag=onl')).toEqual([]);
  });

  test('are searched by metadata', async () => {
    const of = kind;
    const both = await create({ metadata: { of, team: 'search', attempt: 2 } });
    const one = await create({ metadata: { of, team: 'search' } });
    const found = async (metadata: object) =>
      (await http.call('GET', `${base}?metadata=${encodeURIComponent(JSON.stringify(metadata))}`)).body.data.map(
        ({ job_id }: { job_id: string }) => job_id,
      );
    expect(await found({ of, team: 'search' })).toEqual([one, both]);
    expect(await found({ of, team: 'search', attempt: 2 })).toEqual([both]);
    expect(await found({ of, attempt: '2' })).toEqual([]);
  });
});

test('a deployment has the other labels', async () => {
  const { name: _, ...given } = labels;
  const { status, body } = await deployment(given);
  expect(status).toBe(201);
  await deployment({});
  expect((await http.call('GET', `${deployments}/${body.id}`)).body).toMatchObject({ name: 'd', ...given });
  const patch = (change: object) => http.call('PATCH', `${deployments}/${body.id}`, change);
  expect(await patch({ notes: 'n', tags: ['team:search', 'v1.2'] })).toMatchObject({
    status: 200,
    body: { id: body.id },
  });
  expect((await http.call('GET', `${deployments}/${body.id}`)).body).toMatchObject({ ...given, notes: 'n' });
  for (const wrong of [{}, { name: 'x' }]) expect((await patch(wrong)).status).toBe(422);
  const ids = async (query: string) =>
    (await http.call('GET', `${deployments}?${query}`)).body.deployments.map(({ id }: { id: string }) => id);
  expect(await ids('tag=team:search&tag=v1.2')).toEqual([body.id]);
  expect(await ids('tag=team:search&tag=v1.3')).toEqual([]);
  expect(await ids('metadata={"commit":"abc","attempt":2}')).toEqual([body.id]);
  expect(await ids('metadata={"commit":"abc","attempt":3}')).toEqual([]);
  await patch({ archived: true });
  expect(await ids('tag=v1.2')).toEqual([]);
  expect(await ids('tag=v1.2&archived=true')).toEqual([body.id]);
});

describe('metadata of the existing client', () => {
  const unusual = ['x', 5, [1], { deep: { a: 1 } }, { list: [] }, { n: null }, { long: 'x'.repeat(4_086) }];

  test.each(kinds.filter(([kind]) => kind !== 'an evaluation'))(
    'is never refused, and not kept with a warning: %s',
    async (_kind, base, create) => {
      for (const metadata of unusual) {
        const id = await create({ metadata, tags: ['kept'] });
        expect(await shown(base, id)).toEqual({ ...none, tags: ['kept'] });
        const { body } = await http.call('GET', `${base}/${id}`);
        expect(body.warnings.filter((text: string) => text.startsWith('metadata '))).toHaveLength(1);
      }
      const most = { long: 'x'.repeat(4_085) };
      expect(await shown(base, await create({ metadata: most }))).toEqual({ ...none, metadata: most });
    },
  );

  test('elsewhere it is 422', async () => {
    for (const metadata of unusual) {
      const id = await createSession(http);
      for (const answer of [
        await http.call('POST', evaluations, { ...evaluationRequest, metadata }),
        await deployment({ metadata }),
        await http.call('PATCH', `${sessions}/${id}`, { metadata }),
      ])
        expect([answer.status, answer.body.errors[0].pointer]).toEqual([
          422,
          expect.stringMatching(/^\/metadata(\/(deep|list|n))?$/),
        ]);
    }
  });
});

test.each([
  [{ name: '' }, '/name'],
  [{ name: ' ' }, '/name'],
  [{ name: 'x'.repeat(201) }, '/name'],
  [{ name: 'two\nlines' }, '/name'],
  [{ notes: 'x'.repeat(4_001) }, '/notes'],
  [{ tags: 'x' }, '/tags'],
  [{ tags: [''] }, '/tags/0'],
  [{ tags: ['ok', 'ü'] }, '/tags/1'],
  [{ tags: ['x'.repeat(51)] }, '/tags/0'],
  [{ tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, '/tags'],
])('%j is 422', async (wrong, pointer) => {
  for (const answer of [await session(wrong), await http.call('POST', evaluations, { ...evaluationRequest, ...wrong })])
    expect([answer.status, answer.body.errors]).toEqual([422, [expect.objectContaining({ pointer })]]);
});

test('PATCH with both a state and labels, or with neither, changes nothing', async () => {
  const id = await createSession(http);
  for (const body of [{ state: 'cancelled', name: 'x' }, { reason: 'x' }, {}]) {
    const answer = await http.call('PATCH', `${sessions}/${id}`, body);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, '/state']);
  }
  const { body } = await http.call('GET', `${sessions}/${id}`);
  expect(body).toMatchObject({ status: 'running', name: null });
});

test('labels of another organization are out of reach', async () => {
  const { body } = await session(labels);
  const foreign = { authorization: `Bearer ${http.otherKey}` };
  expect((await http.call('PATCH', `${sessions}/${body.job_id}`, { name: 'x' }, foreign)).status).toBe(404);
  expect((await http.call('GET', `${sessions}?tag=v1.2`, undefined, foreign)).body.data).toEqual([]);
});
