import { expect, test } from '@jest/globals';
import { insertDeployment } from '../../../src/kinds/deployment/store/deployments.js';
import { byService, deleteDeployment } from '../../../src/kinds/deployment/store/names.js';
import { readMarked } from '../../../src/retention/store/marks.js';
import { finishJob } from '../../../src/jobs/store/decisions/record.js';
import { createEvaluation, createGraphJob, createSession, finish, httpOfFile } from '../../platform/http/support.js';

const http = httpOfFile();
const kinds = [
  ['/api/v1/online/sessions', () => createSession(http)],
  ['/api/v1/offline/jobs', () => createEvaluation(http)],
  ['/api/graphgen/jobs', () => createGraphJob(http)],
] as const;

const end = (jobId: string) => http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId }, 'completed'));
const remove = async (base: string, id: string) => http.call('DELETE', `${base}/${id}`);

test.each(kinds)('DELETE %s: once it has ended, and no second time', async (base, create) => {
  const id = await create();
  const refused = await remove(base, id);
  expect([refused.status, refused.body.code, refused.body.current_status]).toEqual([409, 'invalid_state', 'running']);
  await end(id);
  const foreign = await http.call('DELETE', `${base}/${id}`, undefined, { authorization: `Bearer ${http.otherKey}` });
  expect(foreign.status).toBe(404);
  expect((await remove(base, id)).status).toBe(204);
  expect(http.commander.forgotten).toContain(id);
  expect([(await remove(base, id)).status, (await http.call('GET', `${base}/${id}`)).status]).toEqual([404, 404]);
});

test.each([
  ['unreachable', () => Promise.reject(new Error('away'))],
  ['silent', () => new Promise<never>(() => {})],
])(
  'while Temporal is %s, the job is gone for its owner, and its rows wait for a worker',
  async (_state, onForget) => {
    const [id, other] = [await createSession(http), await createSession(http)];
    await end(id);
    http.commander.onForget = onForget;
    expect((await remove('/api/v1/online/sessions', id)).status).toBe(204);
    http.commander.onForget = async () => {};
    expect((await http.call('GET', `/api/v1/online/sessions/${id}`)).status).toBe(404);
    const { body } = await http.call('GET', '/api/v1/online/sessions?archived=true');
    const listed = (body.data as { session_id: string }[]).map(({ session_id }) => session_id);
    expect([listed.includes(id), listed.includes(other)]).toEqual([false, true]);
    const marked = await http.db.worker((tx) => readMarked(tx, 10));
    expect(marked.filter(({ jobId }) => jobId === id)).toEqual([{ orgId: 'default', jobId: id, what: 'job' }]);
    const rows = await http.db.org('default', (tx) => tx.query('select 1 from job_controls where job_id = $1', [id]));
    expect(rows).toHaveLength(1);
  },
  20_000,
);

test('the answer to its create is forgotten, too', async () => {
  const body = { app_id: 'a', container_url: 'http://127.0.0.1:9', env_name: 'e', seeds: [0] };
  const request = { ...body, policy: { model: 'gpt-4o-mini', provider: 'openai' } };
  const create = () => http.call('POST', '/api/v1/offline/jobs', request, { 'idempotency-key': 'deleted' });
  const { body: created } = await create();
  expect((await create()).body.job_id).toBe(created.job_id);
  await end(created.job_id);
  await remove('/api/v1/offline/jobs', created.job_id);
  const again = await create();
  expect([again.status, again.body.job_id === created.job_id]).toEqual([201, false]);
});

test('a job that a deployment or an evaluation uses stays', async () => {
  const path = '/api/v1/online/sessions';
  const session = await createSession(http);
  await end(session);
  const evaluation = await createEvaluation(http);
  const gateRun = await createEvaluation(http);
  await http.db.org('default', async (tx) => {
    const candidate = (frozen: object) =>
      JSON.stringify({ sessionId: session, candidateId: 'c', messages: [], ...frozen });
    const set = `update jobs set spec = jsonb_set(spec, '{candidate}', $2) where id = $1`;
    await tx.query(set, [evaluation, candidate({})]);
    await tx.query(set, [gateRun, candidate({ frozen: true })]);
  });
  const byEvaluation = await remove(path, session);
  expect([byEvaluation.status, byEvaluation.body.code, byEvaluation.body.used_by]).toEqual([409, 'in_use', evaluation]);
  await end(evaluation);
  expect((await remove('/api/v1/offline/jobs', evaluation)).status).toBe(204);

  const id = `dep_${gateRun.slice(4, 32)}ffff`;
  await http.db.org('default', async (tx) => {
    await tx.query(
      `insert into jobs (id, org_id, kind, status, workflow_id, spec) values ($1, 'default', 'deployment', 'running', 'w', $2)`,
      [id, JSON.stringify({ kind: 'deployment', name: 'd', gate: null, source: { kind: 'session', jobId: session } })],
    );
    await tx.query(`insert into job_controls (job_id, org_id) values ($1, 'default')`, [id]);
    await insertDeployment(tx, { orgId: 'default', jobId: id }, { name: 'd', reason: null });
    const closed = { status: 'completed', stoppedBy: null, error: null, events: [], accepted: [] } as const;
    await finishJob(tx, { orgId: 'default', jobId: id }, { ...closed, events: [], accepted: [] });
  });
  await end(gateRun);
  for (const [base, needed] of [[path, session] as const, ['/api/v1/offline/jobs', gateRun] as const]) {
    const answer = await remove(base, needed);
    expect([answer.status, answer.body.used_by]).toEqual([409, id]);
  }
  await http.db.org('default', (tx) => deleteDeployment(tx, id, byService));
  expect((await remove(path, session)).status).toBe(204);
  expect((await remove('/api/v1/offline/jobs', gateRun)).status).toBe(204);
});
