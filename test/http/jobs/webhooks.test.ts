import { expect, test } from '@jest/globals';
import { createEvaluation, createGraphJob, evaluationRequest, httpOfFile, sessionRequest } from '../support.js';

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
