import { beforeAll, describe, expect, test } from '@jest/globals';
import { createKey } from '../../../../src/access/store/keys.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { secretKey } from '../../../platform/http/support.js';
import { deploymentsOfFile, question, saying } from './support.js';

// Invariants: a reference means the same deployment wherever one is named; a label that a request
// cannot set stays; every change says who, why and between which versions.

const it = deploymentsOfFile();
const url = (ref: string) => `${base}/${ref}`;
const put = (ref: string, label: string, body: object) => it.http.call('PUT', `${url(ref)}/labels/${label}`, body);
const get = (path: string) => it.http.call('GET', path);
const answeredBy = async (ref: string) => {
  const { status, headers } = await it.ask(ref, question);
  return [status, headers.get('x-ratchet-deployment-id'), headers.get('x-ratchet-version')];
};

describe('versions', () => {
  test('are in the answer to a create, in views and in lists, with the creator and the reason', async () => {
    const ids: string[] = [];
    for (const version of [1, 2]) {
      const { body } = await it.create({ name: 'counted', source: saying('a'), reason: `try ${version}` });
      expect(body).toMatchObject({ name: 'counted', version });
      ids.push(body.id as string);
    }
    const creator = { key_id: 'bootstrap_default', key_name: 'bootstrap' };
    expect((await get(url('counted@1'))).body).toMatchObject({ id: ids[0], version: 1, labels: [], reason: 'try 1' });
    const { body } = await get(`${base}?name=counted`);
    expect(body.deployments).toMatchObject([
      { id: ids[1], version: 2, labels: ['production'], created_by: creator, reason: 'try 2' },
      { id: ids[0], version: 1, labels: [], created_by: creator, reason: 'try 1' },
    ]);
  });

  test('are the same for a repeated request', async () => {
    const headers = { 'idempotency-key': 'version-once' };
    const once = () => it.http.call('POST', base, { name: 'once', source: saying('a') }, headers);
    expect([(await once()).body.version, (await once()).body.version]).toEqual([1, 1]);
    expect((await it.create({ name: 'once', source: saying('a') })).body.version).toBe(2);
  });
});

describe('references', () => {
  let first: string;
  let second: string;
  beforeAll(async () => {
    [first, second] = [await it.deploy('support', 'one'), await it.deploy('support', 'two')];
    expect((await put('support', 'staging', { version: 1, reason: 'a trial' })).status).toBe(200);
  });

  test('answer in all places where a model is named', async () => {
    for (const [ref, id, version] of [
      ['support', second, '2'],
      ['support@production', second, '2'],
      ['support@staging', first, '1'],
      ['support@1', first, '1'],
      ['support@2', second, '2'],
      [second, second, '2'],
    ] as const) {
      expect([ref, ...(await answeredBy(ref))]).toEqual([ref, 200, id, version]);
      const init = { method: 'POST', headers: { authorization: `Bearer ${it.http.key}` } };
      const body = JSON.stringify({ ...question, model: ref });
      const headers = { ...init.headers, 'content-type': 'application/json' };
      const asked = await fetch(`${it.url}/v1/chat/completions`, { ...init, headers, body });
      expect([ref, asked.status, asked.headers.get('x-ratchet-version')]).toEqual([ref, 200, version]);
      expect((await get(`/v1/models/${ref}`)).body).toMatchObject({ id: ref, object: 'model' });
      expect((await get(`${url(ref)}/stats`)).body).toMatchObject({ deployment_id: id });
      expect((await get(`${url(ref)}/prompt`)).body).toMatchObject({ deployment_id: id, version: Number(version) });
    }
  });

  test('that name nothing are 404, with what there is', async () => {
    for (const path of [
      url('support@stagin'),
      url('support@3'),
      `${url('support@9')}/prompt`,
      '/v1/models/support@x',
    ]) {
      const { status, body } = await get(path);
      const text = JSON.stringify(body);
      expect([path, status, /labels production, staging\b.*versions 1, 2\b/.test(text)]).toEqual([path, 404, true]);
    }
    for (const ref of ['support@stagin', 'nothing@staging', 'support@', 'support@staging@1', 'support@01']) {
      expect([ref, (await it.ask(ref, question)).status]).toEqual([ref, 404]);
    }
    for (const ref of [`${first}@1`, `${first}@production`]) expect((await get(url(ref))).status).toBe(404);
  });

  test('take feedback: a label for answers of the name, a version for its own', async () => {
    const answer = (await it.ask('support@staging', question)).headers.get('x-ratchet-answer-id');
    const report = (ref: string, key: string) =>
      it.http.call('POST', `${url(ref)}/feedback`, { answer_id: answer, key, reward: 1 });
    expect((await report('support@staging', 'a')).status).toBe(200);
    await put('support', 'staging', { version: 2 });
    expect((await report('support@staging', 'b')).status).toBe(200);
    expect((await report('support@1', 'c')).status).toBe(200);
    expect((await report('support@2', 'd')).body).toMatchObject({ code: 'answer_not_found' });
    await put('support', 'staging', { version: 1 });
  });

  test('change the deployment that they name', async () => {
    expect((await it.http.call('PATCH', url('support@staging'), { notes: 'mine' })).body).toMatchObject({ id: first });
    expect((await it.http.call('POST', `${url('support@staging')}/rollback`)).body).toMatchObject({
      code: 'deployment_not_live',
    });
    const third = await it.deploy('support', 'three');
    expect((await it.http.call('DELETE', url('support@3'))).status).toBe(204);
    expect((await get(url(third))).status).toBe(404);
    await put('support', 'production', { version: 2 });
  });
});

describe('labels', () => {
  test('name a version or an id, and move; the list begins with what the name serves', async () => {
    const [first, second] = [await it.deploy('labelled', 'one'), await it.deploy('labelled', 'two')];
    expect((await put('labelled', 'a-b_c', { version: 1 })).body).toEqual({
      name: 'labelled',
      label: 'a-b_c',
      version: 1,
      deployment_id: first,
      previous_version: null,
    });
    expect((await put(first, 'a-b_c', { deployment_id: second })).body).toMatchObject({
      version: 2,
      previous_version: 1,
    });
    await put('labelled', 'a', { version: 1 });
    const { body } = await get(`${url('labelled')}/labels`);
    expect(body.name).toBe('labelled');
    expect(body.labels).toMatchObject([
      { label: 'production', version: 2, deployment_id: second, snapshot_id: expect.any(String) },
      { label: 'a', version: 1 },
      { label: 'a-b_c', version: 2 },
    ]);
    expect((await it.http.call('DELETE', `${url('labelled')}/labels/a`)).status).toBe(204);
    expect((await it.http.call('DELETE', `${url('labelled')}/labels/a`)).status).toBe(404);
    await it.http.call('DELETE', url(second));
    expect((await get(`${url('labelled')}/labels`)).body.labels).toEqual([]);
  });

  test('are refused with the field, and nothing changes', async () => {
    await it.deploy('strict');
    const other = await it.deploy('strict-other');
    it.held = true;
    const { body: building } = await it.create({ name: 'strict', source: saying('later') });
    const before = (await get(`${url('strict')}/labels`)).body;
    for (const [label, body, status, pointer] of [
      ['ok', {}, 422, ''],
      ['ok', { version: 1, deployment_id: other }, 422, ''],
      ['ok', { version: 0 }, 422, '/version'],
      ['ok', { version: 1.5 }, 422, '/version'],
      ['ok', { version: 3 }, 422, '/version'],
      ['ok', { deployment_id: other }, 422, '/deployment_id'],
      ['ok', { version: 1, reason: 'x'.repeat(2_001) }, 422, '/reason'],
      ['ok', { version: building.version }, 409, '/version'],
      ['production', { version: building.version }, 409, '/version'],
      ['7', { version: 1 }, 422, '/label'],
      ['No', { version: 1 }, 422, '/label'],
      ['a--b', { version: 1 }, 422, '/label'],
      ['a'.repeat(41), { version: 1 }, 422, '/label'],
    ] as const) {
      const answer = await put('strict', label, body);
      const pointers = answer.body.errors?.map((error: { pointer: string }) => error.pointer);
      expect([label, body, answer.status, pointers]).toEqual([label, body, status, [pointer]]);
    }
    expect((await it.http.call('DELETE', `${url('strict')}/labels/production`)).body).toMatchObject({
      status: 409,
      code: 'label_not_removable',
    });
    expect((await put('unknown', 'ok', { version: 1 })).status).toBe(404);
    expect((await get(`${url('strict')}/labels`)).body).toEqual(before);
  });

  test('production promotes by hand, and a rollback returns', async () => {
    const [first, second] = [await it.deploy('by-hand', 'one'), await it.deploy('by-hand', 'two')];
    const live = (await get(url(first))).body.ready_at;
    expect((await put('by-hand', 'production', { version: 1 })).body).toMatchObject({ previous_version: 2 });
    expect(await answeredBy('by-hand')).toEqual([200, first, '1']);
    expect((await get(url('by-hand'))).body).toMatchObject({ id: first, previous_id: second, ready_at: live });
    expect((await it.http.call('POST', `${url('by-hand')}/rollback`)).body).toMatchObject({ id: second, version: 2 });
    expect(await answeredBy('by-hand')).toEqual([200, second, '2']);
  });
});

test('changes say who, why and between which versions, newest first, in pages', async () => {
  const { key, record } = await it.http.db.org('default', (tx) =>
    createKey(tx, secretKey, { orgId: 'default', name: 'deployer', scopes: ['read', 'write'], expiresAt: null }),
  );
  const as = { authorization: `Bearer ${key}` };
  const made = [];
  for (const text of ['one', 'two'])
    made.push((await it.http.call('POST', base, { name: 'told', source: saying(text), reason: text }, as)).body.id);
  await put('told', 'staging', { version: 1, reason: 'try it' });
  await put('told', 'staging', { version: 1, reason: 'the same' });
  await it.http.call('POST', `${url('told')}/rollback`, { reason: 'too terse' }, as);
  await put('told', 'production', { version: 2 });
  await it.http.call('DELETE', url('told@2'), undefined, as);
  const by = { key_id: record.id, key_name: 'deployer' };
  const expected = [
    { label: 'production', action: 'delete', from_version: 2, to_version: null, by },
    { label: 'production', action: 'label', from_version: 1, to_version: 2, reason: null },
    { label: 'production', action: 'rollback', from_version: 2, to_version: 1, by, reason: 'too terse' },
    { label: 'staging', action: 'label', from_version: null, to_version: 1, reason: 'try it' },
    { label: 'production', action: 'build', from_version: 1, to_version: 2, by, reason: 'two' },
    { label: 'production', action: 'build', from_version: null, to_version: 1, by, reason: 'one' },
  ];
  const all = await get(`${url('told')}/changes`);
  expect(all.body).toMatchObject({ data: expected, next_cursor: null, has_more: false });
  const paged: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await get(`${url('told')}/changes?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    paged.push(...body.data);
    cursor = body.next_cursor;
  }
  expect(paged).toEqual(all.body.data);
});
