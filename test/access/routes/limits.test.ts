import { expect, test } from '@jest/globals';
import { httpOfFile } from '../../platform/http/support.js';

const http = httpOfFile();
const admin = '/api/v1/admin';
const none = {
  requests_per_minute: null,
  calls_in_flight: null,
  open_jobs: null,
  stored_bytes: null,
  spend_usd_per_day: null,
};
const used = { open_jobs: 0, stored_bytes: 0, spend_usd_per_day: 0 };

const newOrg = async (): Promise<string> => (await http.call('POST', `${admin}/orgs`, { name: 'Acme' })).body.org_id;
const newKey = async (org: string): Promise<{ key_id: string; key: string }> =>
  (await http.call('POST', `${admin}/keys?org_id=${org}`, { name: 'a', scopes: ['admin', 'read'] })).body;

test('are none at first, are set as a whole, and are removed by leaving them out', async () => {
  const org = await newOrg();
  const path = `${admin}/limits?org_id=${org}`;
  expect((await http.call('GET', path)).body).toEqual({ org_id: org, key_id: null, limits: none, used });
  const set = { org_id: org, key_id: null, limits: { ...none, requests_per_minute: 600 }, used };
  expect((await http.call('PUT', path, { requests_per_minute: 600 })).body).toEqual(set);
  expect((await http.call('GET', path)).body).toEqual(set);
  expect((await http.call('PUT', path, {})).body.limits).toEqual(none);
  expect(await http.db.org(org, (tx) => tx.query('select * from limits'))).toEqual([]);
});

test('of an organization are set by operators alone, and read by its admins', async () => {
  const org = await newOrg();
  await http.call('PUT', `${admin}/limits?org_id=${org}`, { requests_per_minute: 600 });
  const own = { authorization: `Bearer ${(await newKey(org)).key}` };
  expect((await http.call('GET', `${admin}/limits`, undefined, own)).body.limits.requests_per_minute).toBe(600);
  const refused = await http.call('PUT', `${admin}/limits`, {}, own);
  expect([refused.status, refused.body.code]).toEqual([403, 'not_operator']);
});

test('of a key are set by its organization, and unknown to another one', async () => {
  const org = await newOrg();
  const { key_id: id, key } = await newKey(org);
  const path = `${admin}/keys/${id}/limits`;
  const own = { authorization: `Bearer ${key}` };
  const set = await http.call('PUT', path, { requests_per_minute: 60 }, own);
  expect(set.body).toMatchObject({ org_id: org, key_id: id, limits: { requests_per_minute: 60 } });
  expect((await http.call('GET', path, undefined, own)).body).toEqual(set.body);
  const stranger = { authorization: `Bearer ${http.otherKey}` };
  for (const method of ['GET', 'PUT'] as const) {
    const { status } = await http.call(method, path, method === 'PUT' ? {} : undefined, stranger);
    expect([method, status]).toEqual([method, 404]);
  }
});

test('go with a rotation to the new key', async () => {
  const { key_id: id } = await newKey('default');
  await http.call('PUT', `${admin}/keys/${id}/limits`, { requests_per_minute: 60 });
  const { body } = await http.call('POST', `${admin}/keys/${id}/rotate`, {});
  const { limits } = (await http.call('GET', `${admin}/keys/${body.key_id}/limits`)).body;
  expect(limits).toEqual({ ...none, requests_per_minute: 60 });
});

test.each([
  ['zero', { requests_per_minute: 0 }, '/requests_per_minute'],
  ['a fraction', { requests_per_minute: 1.5 }, '/requests_per_minute'],
  ['an unknown limit', { requests: 1 }, '/requests'],
])('%s is 422 and names the field', async (_name, body, pointer) => {
  const refused = await http.call('PUT', `${admin}/limits`, body);
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, pointer]);
});
