import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { answers, startFakeContainer, type FakeContainer } from '../support/fake-container.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// What docs/operations.md says of restoring one of the two at an earlier moment than the other: nothing hangs, nothing is
// told that did not happen, and what is on record is not bought again.

let service: TestService;
let container: FakeContainer;
/** What the second half of a job's rollouts waits for, by the job's id without its prefix. */
const gates = new Map<string, { opened: Promise<void>; open(): void }>();
beforeAll(async () => {
  service = await startTestService();
  container = await startFakeContainer({
    behave: () => async (call, response) => {
      if (call.seed >= 5) await gate(call.rolloutId.split('_')[1]!).opened;
      await answers.reward(1)(call, response);
    },
  });
}, 60_000);
afterAll(async () => {
  await service.stop();
  await container.close();
}, 60_000);

function gate(job: string) {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const found = gates.get(job) ?? { opened, open };
  gates.set(job, found);
  return found;
}
const open = (id: string) => gate(id.slice(4)).open();

const jobs = '/api/v1/offline/jobs';
async function begin(): Promise<string> {
  const body = {
    container_url: container.url,
    app_id: 'a',
    env_name: 'e',
    seeds: Array.from({ length: 10 }, (_, i) => i),
    policy: { provider: 'local', model: 'local' },
    max_concurrent: 2,
  };
  return (await service.api.call<{ job_id: string }>('POST', jobs, body)).job_id;
}
interface Job {
  status: string;
  error_details: { code: string } | null;
}
const ended = (id: string) =>
  until(
    `${id} has ended`,
    async () => {
      const job = await service.api.call<Job>('GET', `${jobs}/${id}`);
      return job.status !== 'running' && job;
    },
    60,
  );
const callsOf = (id: string) => container.ledger.filter((entry) => entry.rolloutId.includes(id.slice(4)));
const half = (id: string) => until('half is on record', () => callsOf(id).some((entry) => entry.seed >= 5));
const recorded = async (id: string) =>
  (
    await service.db.org('default', (tx) =>
      tx.query<{ id: string }>(`select id from rollouts where job_id = $1 and status = 'succeeded'`, [id]),
    )
  ).map((row) => row.id);

test('Temporal at an earlier moment: what is on record is not asked for again', async () => {
  const id = await begin();
  await half(id);
  const before = await until('half is on record', async () => {
    const ids = await recorded(id);
    return ids.length >= 4 && ids;
  });
  const calls = container.ledger.length;
  // As after a restore: the workflow stands at its first decision again.
  const workflowId = `evaluation-${id}`;
  const { events } = await service.temporal.workflow.getHandle(workflowId).fetchHistory();
  const first = events!.find((event) => event.workflowTaskCompletedEventAttributes)!;
  await service.temporal.workflowService.resetWorkflowExecution({
    namespace: service.temporal.options.namespace,
    workflowExecution: { workflowId },
    workflowTaskFinishEventId: first.eventId!,
    requestId: `reset-${id}`,
    reason: 'as after a restore',
  });
  open(id);
  expect(await ended(id)).toMatchObject({ status: 'completed' });
  expect(await recorded(id)).toHaveLength(10);
  expect(container.ledger.slice(calls).filter((entry) => before.includes(entry.rolloutId))).toEqual([]);
});

test('Postgres at an earlier moment: what was lost with it is said, and jobs that still run go on', async () => {
  const done = await begin();
  const going = await begin();
  await half(done);
  await half(going);
  const original = service.config.databaseUrl!;
  const earlier = await backUp(original);
  open(done);
  expect(await ended(done)).toMatchObject({ status: 'completed' });
  const young = await begin();
  await half(young);

  service.config.databaseUrl = earlier;
  await service.restart();
  open(going);
  open(young);
  // Its end is not in the back-up, and its workflow is closed: it says so.
  expect(await ended(done)).toMatchObject({ status: 'failed', error_details: { code: 'workflow_completed' } });
  expect(await ended(going)).toMatchObject({ status: 'completed' });
  const { results } = await service.api.call<{ results: unknown[] }>('GET', `${jobs}/${going}/results`);
  expect(results).toHaveLength(10);
  // Nobody knows it here; its workflow does not go on without its row.
  await expect(service.api.call('GET', `${jobs}/${young}`)).rejects.toThrow('404');
  await until('the workflow without a row has ended', async () => {
    const { status } = await service.temporal.workflow.getHandle(`evaluation-${young}`).describe();
    return status.name === 'FAILED';
  });
}, 120_000);

/** A copy of the database as it is now, beside it. Whoever is connected is cut off and comes again. */
async function backUp(url: string): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  const admin = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href });
  await admin.connect();
  await admin.query(`alter database "${name}" allow_connections false`);
  await until('nobody is connected', async () => {
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    await admin.query(`create database "${name}_earlier" template "${name}"`);
    return true;
  });
  await admin.query(`alter database "${name}" allow_connections true`);
  await admin.end();
  return Object.assign(new URL(url), { pathname: `/${name}_earlier` }).href;
}
