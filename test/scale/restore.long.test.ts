import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { answers, startFakeContainer, type FakeContainer, type RolloutBody } from '../support/fakes/container.js';
import { startFakeModel, type FakeModel } from '../support/fakes/model.js';
import { gate, type Gate } from '../support/gate.js';
import { createEvaluation, createSession, ended, pathOf, readJob } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { propose } from '../support/worlds/rules.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { workflowIs } from '../support/workflow-is.js';

// The restores of docs/operations.md, with one of the two at an earlier moment than the other:
// nothing hangs, no false event is published, and no recorded call is repeated.

let service: TestService;
let container: FakeContainer;
let model: FakeModel;
/** Gates of a job's first step and of the proposer. */
let probed: Promise<void> | null = null;
let proposed: Promise<void> | null = null;
/** Gate of the second half of a job's rollouts, by the job's id without its prefix. */
const gates = new Map<string, Gate>();
beforeAll(async () => {
  model = await startFakeModel(async (request) => {
    await proposed;
    return { text: propose(request) };
  });
  service = await startTestService({ RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url });
  container = await startFakeContainer({
    prompt: [{ role: 'system', content: 'Answer well.' }],
    health: async (call, response) => {
      await probed;
      await answers.status(200, '{}')(call, response);
    },
    behave: () => async (call, response) => {
      const prompt = promptIn(call.body);
      if (call.seed >= 5 || prompt.includes('rule-')) await gateOf(call.rolloutId.split('_')[1]!).opened;
      await answers.reward(prompt ? 0 : 1, 'needs rule-1.')(call, response);
    },
  });
}, 60_000);
afterAll(async () => {
  await service.stop();
  await container.close();
  await model.close();
}, 60_000);

function gateOf(job: string): Gate {
  const found = gates.get(job) ?? gate();
  gates.set(job, found);
  return found;
}
const open = (id: string) => gateOf(id.slice(4)).open();

const promptIn = (body: RolloutBody) => body.policy.config.prompt_template?.sections[0]?.content ?? '';
const begin = () =>
  createEvaluation(service, {
    container_url: container.url,
    seeds: range(0, 10),
    policy: { provider: 'local', model: 'local' },
    max_concurrent: 2,
  });
const beginSession = () =>
  createSession(service, {
    container_url: container.url,
    policy: { provider: 'fake', model: 'any' },
    // The model's first call must be the proposer's.
    preflight: false,
    gepa: { population_size: 1, generations: 2, minibatch_size: 2, evaluation: { seeds: range(0, 4) } },
  });
const callsOf = (id: string) => container.ledger.filter((entry) => entry.rolloutId.includes(id.slice(4)));
const half = (id: string) => until('half is on record', () => callsOf(id).some((entry) => entry.seed >= 5));
const recorded = async (id: string) =>
  (
    await service.db.org('default', (tx) =>
      tx.query<{ id: string }>(`select id from rollouts where job_id = $1 and status = 'succeeded'`, [id]),
    )
  ).map((row) => row.id);

/** Simulates a restore of Temporal: resets the workflow to an earlier decision. */
async function turnBack(id: string, to: 'the start' | 'its rollouts' = 'the start'): Promise<void> {
  const workflowId = `evaluation-${id}`;
  const { events } = await service.temporal.workflow.getHandle(workflowId).fetchHistory();
  const decisions = events!.filter((event) => event.workflowTaskCompletedEventAttributes);
  const asked = events!.find((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'drive')!;
  const { workflowTaskCompletedEventId } = asked.activityTaskScheduledEventAttributes!;
  const first =
    to === 'the start' ? decisions[0]! : decisions.find((e) => e.eventId!.eq(workflowTaskCompletedEventId!))!;
  await service.temporal.workflowService.resetWorkflowExecution({
    namespace: service.temporal.options.namespace,
    workflowExecution: { workflowId },
    workflowTaskFinishEventId: first.eventId!,
    requestId: `reset-${id}`,
    reason: 'as after a restore',
  });
}

test('Temporal at an earlier moment: recorded answers are not requested again', async () => {
  const id = await begin();
  await half(id);
  const before = await until('half is on record', async () => {
    const ids = await recorded(id);
    return ids.length >= 4 && ids;
  });
  const calls = container.ledger.length;
  await turnBack(id);
  open(id);
  expect(await ended(service, id)).toMatchObject({ status: 'completed' });
  expect(await recorded(id)).toHaveLength(10);
  expect(container.ledger.slice(calls).filter((entry) => before.includes(entry.rolloutId))).toEqual([]);
});

test.each(['the start', 'its rollouts'] as const)(
  'Temporal at an earlier moment, %s: a job that ended since keeps its end',
  async (to) => {
    const id = await begin();
    open(id);
    expect(await ended(service, id)).toMatchObject({ status: 'completed' });
    const calls = container.ledger.length;
    await turnBack(id, to);
    await workflowIs(service.workflow(id), 'COMPLETED');
    expect(await readJob(service, id)).toMatchObject({ status: 'completed', error: null });
    expect(container.ledger.slice(calls)).toEqual([]);
  },
);

test('Postgres at an earlier moment: the loss is reported, and running jobs continue', async () => {
  const done = await begin();
  const going = await begin();
  await half(done);
  await half(going);
  const original = service.config.databaseUrl!;
  const earlier = await backUp(original);
  open(done);
  expect(await ended(service, done)).toMatchObject({ status: 'completed' });
  const young = await begin();
  await half(young);

  service.config.databaseUrl = earlier;
  await service.restart();
  open(going);
  open(young);
  // The back-up lacks its end and its workflow is closed: the job reports that.
  expect(await ended(service, done)).toMatchObject({ status: 'failed', error_details: { code: 'workflow_completed' } });
  expect(await ended(service, going)).toMatchObject({ status: 'completed' });
  const { results } = await service.api.call<{ results: unknown[] }>('GET', `${pathOf(going)}/results`);
  expect(results).toHaveLength(10);
  // The database does not know it; its workflow does not continue without its row.
  await expect(readJob(service, young)).rejects.toThrow('404');
  await workflowIs(service.workflow(young), 'FAILED');
}, 120_000);

test('Postgres at an earlier moment: a job goes on from what the database knows', async () => {
  let probe!: () => void;
  let answer!: () => void;
  probed = new Promise((resolve) => (probe = resolve));
  proposed = new Promise((resolve) => (answer = resolve));
  // The back-up has this session's baseline but not its first candidate, and this evaluation
  // without its rollouts.
  probe();
  const session = await beginSession();
  await until('the proposer is asked', () => model.requests.length > 0);
  probed = new Promise((resolve) => (probe = resolve));
  const evaluation = await begin();
  await until('the evaluation is probed', () => container.probes.filter(({ path }) => path === '/health').length > 4);
  const earlier = await backUp(service.config.databaseUrl!);
  answer();
  probe();
  await half(evaluation);
  await until('the candidate runs', () => callsOf(session).some((entry) => promptIn(entry.body).includes('rule-')));

  service.config.databaseUrl = earlier;
  await service.restart();
  open(session);
  open(evaluation);
  expect(await ended(service, evaluation)).toMatchObject({ status: 'completed' });
  const { results } = await service.api.call<{ results: unknown[] }>('GET', `${pathOf(evaluation)}/results`);
  expect(results).toHaveLength(10);
  expect(await ended(service, session)).toMatchObject({ status: 'completed' });
}, 120_000);

/** Copies the database; connected clients are disconnected and reconnect. */
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
