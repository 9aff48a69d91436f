import { describe, expect, test } from '@jest/globals';
import { readWebhookSecrets } from '../../../src/access/store/webhook-secret.js';
import {
  createEvaluation,
  createGraphJob,
  evaluationRequest,
  httpOfFile,
  sessionRequest,
} from '../../platform/http/support.js';

const http = httpOfFile();
const url = 'https://hooks.example.com/T0/secret-path?token=secret-query';
const source = { messages: [{ role: 'system', content: 'x' }], policy: { model: 'local', provider: 'local' } };

const creates = [
  ['/api/v1/online/sessions', { policy_optimization: sessionRequest }],
  ['/api/v1/offline/jobs', evaluationRequest],
  ['/api/v1/offline/jobs', { config: evaluationRequest }],
  ['/api/harbor/deployments', { name: 'd', source }],
] as const;

test.each(creates)('POST %s takes a webhook and shows only its origin', async (base, body) => {
  const created = await http.call('POST', base, { ...body, webhook_url: url });
  const id = created.body.job_id ?? created.body.id;
  const shown = await http.call('GET', `${base}/${id}`);
  expect([created.status, shown.body.webhook]).toEqual([
    201,
    { origin: 'https://hooks.example.com', status: 'waiting', attempts: 0, last_error: null, settled_at: null },
  ]);
  for (const answer of [created, shown, await http.call('GET', `${base}?limit=100`)])
    expect(JSON.stringify(answer.body)).not.toContain('secret-');
  expect((await http.call('POST', base, { ...body, webhook_url: null })).status).toBe(201);
});

test('a job without a webhook shows null', async () => {
  for (const [base, id] of [
    ['/api/v1/offline/jobs', await createEvaluation(http)],
    ['/api/graphgen/jobs', await createGraphJob(http)],
  ])
    expect((await http.call('GET', `${base}/${id}`)).body.webhook).toBeNull();
});

test.each(['ftp://x.example', 'not a URL', 'http://u:p@x.example', 'http://169.254.169.254/x', 'http://[fe80::1]/'])(
  '%s is 422, and nothing is stored',
  async (wrong) => {
    const jobs = () => http.db.org('default', (tx) => tx.query('select id from jobs'));
    const before = (await jobs()).length;
    for (const [base, body] of creates) {
      const answer = await http.call('POST', base, { ...body, webhook_url: wrong });
      expect([answer.status, answer.body.errors]).toEqual([
        422,
        [expect.objectContaining({ pointer: '/webhook_url' })],
      ]);
    }
    expect((await jobs()).length).toBe(before);
  },
);

test('each organization has its own secret', async () => {
  const path = '/api/v1/webhooks/secret';
  const own = await http.call('GET', path);
  const other = await http.call('GET', path, undefined, { authorization: `Bearer ${http.otherKey}` });
  expect(own.headers['cache-control']).toBe('no-store');
  for (const { body } of [own, other])
    expect(Buffer.from(String(body.secret).replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
  expect(own.body.secret).not.toBe(other.body.secret);
});

describe('the secret', () => {
  const path = '/api/v1/webhooks/secret';
  const rotate = (body?: object) => http.call('POST', `${path}/rotate`, body ?? {});
  const known = () => http.db.org('default', (tx) => readWebhookSecrets(tx, http.deps.secretKey, 'default'));

  test('is replaced; the previous one signs until its grace ends, and no earlier one', async () => {
    const first = (await http.call('GET', path)).body.secret;
    const rotated = await rotate({ grace_seconds: 60 });
    expect([rotated.status, rotated.headers['cache-control']]).toEqual([200, 'no-store']);
    expect((await http.call('GET', path)).body).toEqual(rotated.body);
    const until = new Date(rotated.body.previous_valid_until);
    expect(await known()).toEqual({ current: rotated.body.secret, previous: { secret: first, until } });
    const again = (await rotate()).body;
    expect((await known()).previous!.secret).toBe(rotated.body.secret);
    expect(new Set([first, rotated.body.secret, again.secret]).size).toBe(3);
    expect((await rotate({ grace_seconds: 0 })).body.previous_valid_until).toBeNull();
    expect((await known()).previous).toBeNull();
  });

  test('of another organization stays, needs admin to change, and the change is in the audit log', async () => {
    const other = { authorization: `Bearer ${http.otherKey}` };
    const before = (await http.call('GET', path, undefined, other)).body;
    await rotate();
    expect((await http.call('GET', path, undefined, other)).body).toEqual(before);
    const log = await http.call('GET', '/api/v1/admin/audit-log?limit=1');
    expect(log.body.data[0]).toMatchObject({ action: `POST ${path}/rotate`, status: 200 });
    expect(JSON.stringify(log.body)).not.toContain('whsec_');
    const { body: key } = await http.call('POST', '/api/v1/admin/keys', { name: 'w', scopes: ['read', 'write'] });
    const refused = await http.call('POST', `${path}/rotate`, {}, { authorization: `Bearer ${key.key}` });
    expect([refused.status, refused.body.code]).toEqual([403, 'missing_scope']);
    expect((await rotate({ grace_seconds: -1 })).status).toBe(422);
  });
});
