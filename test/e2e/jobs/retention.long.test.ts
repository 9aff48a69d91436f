import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { startRetention, type KeepDays } from '../../../src/platform/temporal/retention.js';
import { all, type RatchetError } from '../../../src/client/index.js';
import { Api } from '../../support/api.js';
import { tables } from '../../support/every-table.js';
import {
  createEvaluation,
  createSession,
  ended,
  pathOf,
  readJob,
  type Evaluation,
} from '../../support/jobs-over-http.js';
import { startReceiver } from '../../support/fakes/receiver.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { startRowsWorld } from '../../support/worlds/rows.js';

const on = serviceOfFile(() => startRowsWorld());

const never = { traces: null, events: null, job: null, audit: null };
/** What a worker does at its start and once an hour. */
async function sweep(keep: Partial<KeepDays>): Promise<ReadonlyMap<string, number>> {
  let sizes: ReadonlyMap<string, number> = new Map();
  const retention = startRetention(on.service.temporal, on.service.db, pino({ level: 'silent' }), {
    keep: { ...never, ...keep },
    everyMs: 3_600_000,
    onSizes: (read) => (sizes = read),
  });
  await retention.sweep();
  await retention.stop();
  return sizes;
}

async function get(path: string): Promise<[status: number, code: string | undefined]> {
  const answer = await fetch(on.service.url + path, { headers: { authorization: `Bearer ${on.service.apiKey}` } });
  const isJson = answer.headers.get('content-type')?.includes('json');
  return [answer.status, isJson ? ((await answer.json()) as { code?: string }).code : undefined];
}

const local = { provider: 'local', model: 'local' };
const evaluation = ({ api }: { api: Api } = on.service, more: object = {}) => {
  const { dataset, scorer, policy } = on.world.job(4) as Record<string, object>;
  const candidate = { messages: [{ role: 'user', content: '{{question}}' }] };
  const fields = { env_name: undefined, dataset, scorer, policy, candidate, preflight: false };
  return createEvaluation({ api }, { ...fields, ...more });
};
const age = (jobId: string, days: number) =>
  on.service.query('update jobs set completed_at = completed_at - make_interval(days => $2) where id = $1', [
    jobId,
    days,
  ]);

test('age takes the traces of closed jobs, then their events, then the jobs', async () => {
  const [old, young] = [await evaluation(), await evaluation()];
  const before = await ended<Evaluation>(on.service, old);
  await ended(on.service, young);
  await age(old, 10);
  const size = (await sweep({})).get('default')!;
  const later = (await sweep({ traces: 9 })).get('default');
  expect(later).toBe(size);
  const traces = [`${pathOf(old)}/traces`, `${pathOf(old)}/traces/x`];
  for (const path of traces) expect(await get(path)).toEqual([410, 'expired']);
  await until('its calls are deleted', async () => {
    const [{ n }] = (await on.service.query<{ n: number }>(
      'select count(*)::int as n from model_calls where job_id = $1',
      [old],
    )) as [{ n: number }];
    return n === 0;
  });
  expect((await sweep({})).get('default')!).toBeLessThan(size);
  expect((await readJob<Evaluation>(on.service, old)).summary).toEqual(before.summary);
  expect(await get(`${pathOf(old)}/events?limit=5`)).toEqual([200, undefined]);
  expect((await get(`${pathOf(young)}/traces`))[0]).toBe(200);

  await sweep({ events: 9 });
  expect(await get(`${pathOf(old)}/events?limit=5`)).toEqual([410, 'expired']);
  expect(await get(`${pathOf(old)}/events`)).toEqual([410, 'expired']);

  await sweep({ job: 9 });
  expect(await get(pathOf(old))).toEqual([404, 'not_found']);
  await until(
    'its row is deleted',
    async () => (await on.service.query('select 1 from jobs where id = $1', [old])).length === 0,
  );
  expect((await readJob<Evaluation>(on.service, young)).status).toBe('completed');
});

test('a worker applies the age limits of its settings when it starts', async () => {
  const id = await evaluation();
  await ended(on.service, id);
  await age(id, 10);
  await on.service.another({ serve: false, work: true }, { keepDays: { ...never, traces: 9 } });
  await until('its traces are expired', async () => (await get(`${pathOf(id)}/traces`))[0] === 410);
  expect((await get(`${pathOf(id)}/events?limit=1`))[0]).toBe(200);
});

test('a session whose traces are gone is not extended', async () => {
  const gepa = { population_size: 2, generations: 1, minibatch_size: 3 };
  const id = await createSession(on.service, { ...on.world.job(12), gepa, budget: { max_rollouts: 30 } });
  await ended(on.service, id);
  await age(id, 10);
  await sweep({ traces: 9 });
  const extended = on.service.api.call('POST', `${pathOf(id)}/extend`, { max_rollouts: 60 });
  await expect(extended).rejects.toMatchObject({ status: 410 });
});

test('an organization ends with its running jobs, in Postgres and Temporal', async () => {
  const { service, world } = on;
  const base = '/api/v1/admin';
  const { org_id: org } = await service.api.call<{ org_id: string }>('POST', `${base}/orgs`, { name: 'Acme' });
  const scopes = ['read', 'write', 'infer', 'admin'];
  const made = await service.api.call<{ key: string }>('POST', `${base}/keys?org_id=${org}`, { name: 'a', scopes });
  const theirs = { api: new Api(service.url, made.key) };
  let answer = () => {};
  const held = new Promise<object>((resolve) => (answer = () => resolve({})));
  world.model.reply(() => held);
  const running = await createSession(theirs, { ...world.job(12), gepa: { population_size: 1, generations: 1 } });
  const calls = world.model.requests.length;
  await until('it calls its model', () => Promise.resolve(world.model.requests.length > calls));
  await theirs.api.call('POST', '/api/v1/datasets', [{ question: 'a' }]);
  const receiver = await startReceiver();
  receiver.answer(...Array.from({ length: 9 }, () => 500));
  const announced = await evaluation(theirs, { webhook_url: receiver.url, policy: local });
  await until('its webhook waits for another attempt', () => Promise.resolve(receiver.requests.length > 0));

  const remove = ({ client }: Api, name: string) => client.orgs.delete(org, name);
  await expect(remove(theirs.api, 'Acme')).rejects.toMatchObject({ status: 403 });
  await expect(remove(service.api, 'Acne')).rejects.toMatchObject({ status: 409 });
  await remove(service.api, 'Acme');
  await until('its key is refused', () =>
    theirs.api.call('GET', pathOf(running)).then(
      () => false,
      (error: RatchetError) => error.status === 401,
    ),
  );
  await service.db.org(org, (tx) => tx.query(`update orgs set deleted_at = deleted_at - interval '1 minute'`));
  await until('it is gone', async () => {
    const orgs = await all(service.api.client.orgs.list());
    return orgs.every(({ org_id }) => org_id !== org);
  });
  for (const table of tables) {
    const column = table === 'orgs' ? 'id' : 'org_id';
    const rows = await service.db.org(org, (tx) => tx.query(`select * from ${table} where ${column} = $1`, [org]));
    expect([table, rows]).toEqual([table, []]);
  }
  answer();
  world.reset();
  await receiver.close();
  for (const workflowId of [`session-${running}`, `webhook-${announced}`]) {
    const status = await service.temporal.workflow
      .getHandle(workflowId)
      .describe()
      .then(
        (run) => run.status.name,
        (error: Error) => error.name,
      );
    expect(['TERMINATED', 'WorkflowNotFoundError']).toContain(status);
  }
});
