import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import { nameAttribute, statusQuery, tagsAttribute } from '../../../workflows/messages.js';
import { answers, startFakeContainer, type FakeContainer } from '../../support/fakes/container.js';
import { startGraphWorld, type GraphWorld } from '../../support/worlds/graph.js';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  ended,
  eventsOf,
  pathOf,
  readJob,
  type Session,
} from '../../support/jobs-over-http.js';
import { startTestService, type TestService } from '../../support/service.js';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { workflowIs } from '../../support/workflow-is.js';

// Effects of commands over HTTP and from the Temporal UI on the real workflow of each kind of job;
// test/states compares their answers with the table.

let service: TestService;
let box: FakeContainer;
let world: GraphWorld;
/** Another key than the service's own. */
let nightly: string;
beforeAll(async () => {
  world = await startGraphWorld();
  service = await startTestService(world.env);
  nightly = (
    await service.api.call<{ key: string }>('POST', '/api/v1/admin/keys', {
      name: 'nightly',
      scopes: ['read', 'write'],
    })
  ).key;
  box = await startFakeContainer({ prompt: [{ role: 'system', content: 'Say yes.' }] });
}, 60_000);
afterAll(async () => {
  await box.close();
  await service.stop();
  await world.close();
}, 60_000);
afterEach(() => behave('reward'));

type Kind = 'evaluation' | 'session' | 'graph';

/** Makes containers and models reward all rollouts once `opened`, refuse the key, or hang. */
function behave(how: 'reward' | 'refuse' | 'hang', opened: Promise<unknown> = Promise.resolve()): void {
  const reward = answers.held(opened, answers.reward(1));
  box.behave(() => ({ reward, refuse: answers.refuseKey(401), hang: answers.hang() })[how]);
  world.model.reply(async (request) => {
    if (how === 'hang') await new Promise(() => undefined);
    await opened;
    return how === 'refuse' ? { status: 401, raw: '{}' } : world.answer(request);
  });
}

/** The calls for a job's rollouts, and whether each has ended. */
function callsOf(id: string): { over: boolean }[] {
  const asked = world.model.requests.filter(({ body }) => body.model === models.get(id));
  return [
    ...box.callsOf(id).map(({ out }) => ({ over: out !== null })),
    ...asked.map(({ closed }) => ({ over: closed })),
  ];
}
/** A model for each graph job, by job id: requests to models do not name their job. */
const models = new Map<string, string>();
type CommandName = 'pause' | 'resume' | 'cancel' | 'reward' | 'stop';
const policy = { provider: 'local', model: 'local' };

async function create(kind: Kind, atOnce = 1, at = service): Promise<string> {
  const common = { container_url: box.url, policy, max_concurrent: atOnce };
  if (kind === 'graph') {
    const model = `task-${models.size}`;
    const { dataset, ...job } = world.job(12, { policy_model: model, max_concurrent: atOnce, rollout_budget: 30 });
    // It has every rule from the start.
    const known = { ...(dataset as object), initial_prompt: 'There is rule-0, rule-1, rule-2.' };
    const id = await createGraphJob(at, { ...job, dataset: known });
    models.set(id, model);
    return id;
  }
  const seeds = [0, 1, 2];
  return kind === 'evaluation'
    ? createEvaluation(at, { ...common, seeds })
    : createSession(at, { ...common, gepa: { population_size: 1, generations: 1, evaluation: { seeds } } });
}
async function command(id: string, name: CommandName, at: Pick<TestService, 'url' | 'apiKey'> = service) {
  const path = name === 'stop' ? 'reward' : name;
  const body = name === 'reward' ? { reward: 0.5 } : name === 'stop' ? { reward: 0.5, stop: true } : {};
  const response = await fetch(`${at.url}${pathOf(id)}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${at.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const lastCommand = async (id: string) => (await readJob(service, id)).last_command;
const statusOf = async (id: string, at = service) => (await readJob(at, id)).status;
const reached = (id: string, status: string, at = service) =>
  until(`${id} is ${status}`, async () => (await statusOf(id, at)) === status);

/** Whether a search by attributes finds the job. */
async function listed(kind: Kind, id: string, status: string): Promise<boolean> {
  const query = `RatchetStatus = '${status}' and RatchetOrg = 'default' and WorkflowType = '${kind}Workflow' and WorkflowId = '${kind}-${id}'`;
  for await (const found of service.temporal.workflow.list({ query })) return found.workflowId === `${kind}-${id}`;
  return false;
}

/** Brings a job into that status. */
async function jobIn(kind: Kind, status: string): Promise<string> {
  if (status === 'failed') {
    behave('refuse');
    const id = await create(kind);
    await reached(id, 'failed');
    return id;
  }
  behave(status === 'completed' ? 'reward' : 'hang');
  const id = await create(kind);
  if (status === 'running') await until('a rollout is in flight', () => callsOf(id).length > 0);
  if (status === 'completed') await reached(id, 'completed');
  if (status === 'paused') expect(await command(id, 'pause')).toMatchObject({ status: 200 });
  return id;
}

describe('a pending graph job', () => {
  const waiting = async () => {
    const { dataset, ...job } = world.job(12, { rollout_budget: 30, auto_start: false });
    const known = { ...(dataset as object), initial_prompt: 'There is rule-0, rule-1, rule-2.' };
    return createGraphJob(service, { ...job, dataset: known });
  };
  test('cancelled before its start says who did it', async () => {
    const id = await waiting();
    expect((await command(id, 'cancel')).status).toBe(200);
    expect(await lastCommand(id)).toMatchObject({ command: 'cancel', by: { key_name: 'bootstrap' } });
  });

  test('keeps a reward before the start; a start answers the status of a started or paused job, and 409 after the end', async () => {
    const id = await waiting();
    expect(await command(id, 'reward')).toMatchObject({ status: 200, body: { counted: true } });
    const start = () => service.api.call<{ status: string }>('POST', `${pathOf(id)}/start`);
    behave('hang');
    expect([(await start()).status, (await start()).status]).toEqual(['running', 'running']);
    await until('its workflow decides', () => service.workflow(id).query(statusQuery));
    expect((await command(id, 'pause')).status).toBe(200);
    expect((await start()).status).toBe('paused');
    expect(await service.workflow(id).query(statusQuery)).toMatchObject({ status: 'paused' });
    expect((await command(id, 'cancel')).status).toBe(200);
    await expect(start()).rejects.toThrow(/409/);
    const types = (await eventsOf(service, id)).map(({ type }) => type);
    expect(types).toEqual(['reward_received', 'job_started', 'paused', 'job_cancelled']);
  });
});

/** Waits until the rollout in flight is recorded and no activity is pending. */
async function restsAfterOneRollout(id: string): Promise<void> {
  await until('the rollout in flight counts', async () => {
    const rows = await service.query(`select 1 from rollouts where job_id = $1 and status = 'succeeded'`, [id]);
    return rows.length === 1;
  });
  await until('no activity is pending', async () => {
    const { raw } = await service.workflow(id).describe();
    return (raw.pendingActivities ?? []).length === 0;
  });
}

describe('effects of commands', () => {
  test('starts nothing after a pause, counts rollouts in flight, and continues after a resume', async () => {
    const { opened, open } = gate();
    behave('reward', opened);
    const id = await create('session');
    const mine = () => callsOf(id);
    await until('one is in flight', () => mine().length === 1);
    expect((await command(id, 'pause')).status).toBe(200);
    open();
    await restsAfterOneRollout(id);
    expect(mine()).toHaveLength(1);
    const view = await service.workflow(id).query<Record<string, unknown>>('status');
    expect(view['status']).toBe('paused');
    expect((await command(id, 'resume')).status).toBe(200);
    await reached(id, 'completed');
    expect(mine().length).toBeGreaterThanOrEqual(3);
  });

  test('stays paused when its last rollout ends, until the resume', async () => {
    const { opened, open } = gate();
    behave('reward', opened);
    const id = await create('session', 3);
    await until('all are in flight', () => callsOf(id).length === 3);
    expect((await command(id, 'pause')).status).toBe(200);
    open();
    await until('all have ended, and nothing runs', async () => {
      const rows = await service.query(`select 1 from rollouts where job_id = $1 and status = 'succeeded'`, [id]);
      const { raw, status } = await service.workflow(id).describe();
      return rows.length === 3 && ((raw.pendingActivities ?? []).length === 0 || status.name !== 'RUNNING');
    });
    expect(await statusOf(id)).toBe('paused');
    expect(await command(id, 'resume')).toMatchObject({ status: 200, body: { status: 'running' } });
    await reached(id, 'completed');
  });

  test('aborts rollouts in flight at a cancel, and closes workflow and row', async () => {
    const id = await jobIn('session', 'running');
    expect((await command(id, 'cancel')).status).toBe(200);
    await until('whoever was asked was told', () => callsOf(id)[0]!.over);
    await expect(service.workflow(id).result()).rejects.toThrow(WorkflowFailedError);
    expect((await service.workflow(id).describe()).status.name).toBe('CANCELLED');
    const events = await eventsOf(service, id);
    expect(events.at(-1)!.type).toBe('job_cancelled');
  });

  test.each(['pause', 'cancel'])(
    'accepts an operator’s signal %s from the Temporal UI, without arguments',
    async (name) => {
      const id = await jobIn('session', 'running');
      await service.workflow(id).signal(name);
      await reached(id, name === 'pause' ? 'paused' : 'cancelled');
      expect(await lastCommand(id)).toEqual({ command: name, by: null, at: expect.any(String) });
      if (name === 'pause') {
        await service.workflow(id).signal('resume');
        await reached(id, 'running');
        await service.workflow(id).signal('reward', { stop: true });
        await reached(id, 'completed');
        await service.workflow(id).result();
      } else {
        await workflowIs(service.workflow(id), 'CANCELLED');
      }
    },
  );

  test('handles Temporal’s own cancel the same way', async () => {
    const id = await jobIn('session', 'running');
    await service.workflow(id).cancel();
    await reached(id, 'cancelled');
    await workflowIs(service.workflow(id), 'CANCELLED');
  });

  test('closes the row of a terminated workflow as failed, with the reason', async () => {
    const id = await jobIn('session', 'running');
    await service.workflow(id).terminate('on call: bad deploy');
    await reached(id, 'failed');
    expect(await readJob(service, id)).toMatchObject({
      error_details: {
        code: 'workflow_terminated',
        message: expect.stringContaining(': on call: bad deploy. Results so far are kept.'),
      },
    });
  });

  test('reports the same from query and row at rest', async () => {
    for (const status of ['paused', 'completed']) {
      const id = await jobIn('session', status);
      const view = await service.workflow(id).query(statusQuery);
      const [row] = await service.query<{ status: string; projection: Record<string, unknown> }>(
        'select status, projection from jobs where id = $1',
        [id],
      );
      expect(view.status).toBe(row!.status);
      if (status === 'completed') {
        expect(row!.projection).toMatchObject({
          generation: view.generation,
          bestReward: view.bestReward,
          bestCandidateId: view.bestCandidate,
        });
        const { progress } = await readJob<Session>(service, id);
        expect(progress.rollouts_completed).toBe(view.rolloutsCompleted);
      }
    }
  });

  test('is searchable: search attributes, summary, an id that contains the job id, and FAILED with the reason', async () => {
    const id = await jobIn('session', 'failed');
    const description = await workflowIs(service.workflow(id), 'FAILED');
    expect(await description.staticSummary()).toContain(id);
    await until('it is listed', () => listed('session', id, 'failed'));
    await expect(service.workflow(id).result()).rejects.toMatchObject({ cause: { type: 'container_refused_key' } });
  });
});

test('labels are in Temporal: in the memo, as search attributes and, cut, in the summary', async () => {
  const most = {
    name: '\u{1F600}'.repeat(100),
    tags: Array.from({ length: 20 }, (_, i) => String(i).padStart(50, 'x')),
    metadata: { team: 'search' },
  };
  const seeds = [0];
  const id = await createEvaluation(service, { container_url: box.url, policy, seeds, ...most });
  const description = await service.workflow(id).describe();
  expect(description.memo).toMatchObject(most);
  expect(description.typedSearchAttributes.get(nameAttribute)).toBe(most.name);
  expect(await service.workflow(id).result()).toMatchObject({ name: most.name, verdict: null, rollouts: 1 });
  expect(await description.staticSummary()).toContain(`${id}: \u{1F600}`);
  expect(description.typedSearchAttributes.get(tagsAttribute)).toEqual(most.tags);
  const query = `RatchetTags = '${most.tags[7]}' and RatchetTags = '${most.tags[19]}'`;
  await until('it is listed', async () => {
    for await (const found of service.temporal.workflow.list({ query })) return found.workflowId === `evaluation-${id}`;
    return false;
  });
});

test.each([
  ['evaluation', 'eval.policy.job.cancelled'],
  ['graph', 'job_cancelled'],
] as const)('%s: pause, resume and cancel take effect', async (kind, lastEvent) => {
  let release = gate();
  behave('reward', release.opened);
  const id = await create(kind);
  await until('one is in flight', () => callsOf(id).length === 1);
  expect(await command(id, 'pause', { ...service, apiKey: nightly })).toMatchObject({
    status: 200,
    body: { job_id: id, status: 'paused' },
  });
  release.open();
  await restsAfterOneRollout(id);
  expect(callsOf(id)).toHaveLength(1);
  expect(await service.workflow(id).query(statusQuery)).toMatchObject({ status: 'paused' });
  const pause = await lastCommand(id);
  expect(pause).toMatchObject({ command: 'pause', by: { key_name: 'nightly' } });
  // A second pause changes nothing.
  expect((await command(id, 'pause')).status).toBe(200);
  expect(await lastCommand(id)).toEqual(pause);

  release = gate();
  behave('reward', release.opened);
  expect(await command(id, 'resume')).toMatchObject({ status: 200, body: { status: 'running' } });
  await until('another is in flight', () => callsOf(id).length === 2);
  expect(await lastCommand(id)).toMatchObject({ command: 'resume', by: { key_name: 'bootstrap' } });
  expect(await command(id, 'cancel')).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  await until('whoever was asked was told', () => callsOf(id)[1]!.over);
  release.open();
  await workflowIs(service.workflow(id), 'CANCELLED');
  expect((await eventsOf(service, id)).at(-1)!.type).toBe(lastEvent);
  expect(await lastCommand(id)).toMatchObject({ command: 'cancel', by: { key_name: 'bootstrap' } });
  await until('it is listed', () => listed(kind, id, 'cancelled'));
  expect(await command(id, 'pause')).toMatchObject({ status: 409, body: { current_status: 'cancelled' } });
});

test('decides and records a stage whose last rollouts end during a pause', async () => {
  const { opened, open } = gate();
  box.behave(() => answers.held(opened, answers.reward(0.25)));
  const id = await create('session', 3);
  const mine = () => box.callsOf(id);
  await until('the whole baseline is in flight', () => mine().length === 3);
  expect((await command(id, 'pause')).status).toBe(200);
  open();
  const rewardOf = async () => (await readJob<Session>(service, id)).best_reward;
  await until('the row knows the baseline’s reward', async () => (await rewardOf()) === 0.25);
  expect(await service.workflow(id).query('status')).toMatchObject({ status: 'paused', bestReward: 0.25 });
  const events = await eventsOf(service, id);
  expect(events.map(({ type }) => type)).toContain('generation_complete');
  expect(mine()).toHaveLength(3);
  expect((await command(id, 'cancel')).status).toBe(200);
});

test('answers 202 with the pending command without a worker, and applies all in their order when one returns', async () => {
  const alone = await startTestService({}, { serve: true, work: false });
  try {
    box.behave(() => answers.hang());
    const [paused, stopped] = [await create('evaluation', 1, alone), await create('evaluation', 1, alone)];
    const pending = { status: 202, body: { status: 'running', pending_command: expect.anything() } };
    expect(await command(paused, 'pause', alone)).toMatchObject(pending);
    for (const name of ['pause', 'stop', 'cancel'] as const)
      expect(await command(stopped, name, alone)).toMatchObject(pending);
    await alone.another({ serve: false, work: true });
    await reached(paused, 'paused', alone);
    expect(await ended(alone, stopped)).toMatchObject({ status: 'completed', stopped_by: 'reward_stop' });
    const outcomes = await alone.query('select kind, outcome from commands where job_id = $1 order by created_at', [
      stopped,
    ]);
    expect(outcomes).toEqual([
      { kind: 'pause', outcome: 'accepted' },
      { kind: 'stop', outcome: 'accepted' },
      { kind: 'cancel', outcome: 'refused' },
    ]);
  } finally {
    await alone.stop();
  }
}, 90_000);
