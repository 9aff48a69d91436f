import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import { answers, startFakeContainer, type FakeContainer } from '../support/fake-container.js';
import { startTestService, type TestService } from '../support/service.js';
import { gate } from '../support/gate.js';
import { until } from '../support/until.js';

// The transition table of every job over HTTP, through the real workflow, cell by cell; and the same commands from the
// Temporal UI. An evaluation and a session share the machinery, so each runs the whole table.

let service: TestService;
let box: FakeContainer;
beforeAll(async () => {
  service = await startTestService();
  box = await startFakeContainer({ prompt: [{ role: 'system', content: 'Say yes.' }] });
}, 60_000);
afterAll(async () => {
  await box.close();
  await service.stop();
}, 60_000);
afterEach(() => box.behave(() => answers.reward(1)));

type Kind = 'evaluation' | 'session';
const kinds: Kind[] = ['evaluation', 'session'];
const commands = ['pause', 'resume', 'cancel', 'reward', 'stop'] as const;
type CommandName = (typeof commands)[number];
const base = { evaluation: '/api/v1/offline/jobs', session: '/api/v1/online/sessions' };
const policy = { provider: 'local', model: 'local' };

async function create(kind: Kind, atOnce = 1): Promise<string> {
  const body =
    kind === 'evaluation'
      ? { container_url: box.url, app_id: 'a', env_name: 'e', seeds: [0, 1, 2], policy, max_concurrent: atOnce }
      : {
          policy_optimization: {
            algorithm: 'gepa',
            container_url: box.url,
            policy,
            gepa: { population_size: 1, generations: 1, evaluation: { seeds: [0, 1, 2] } },
            max_concurrent: atOnce,
          },
        };
  const { job_id: id } = await service.api.call<{ job_id: string }>('POST', base[kind], body);
  return id;
}
async function command(
  kind: Kind,
  id: string,
  name: CommandName,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const path = name === 'stop' ? 'reward' : name;
  const body = name === 'reward' ? { reward: 0.5 } : name === 'stop' ? { reward: 0.5, stop: true } : {};
  const response = await fetch(`${service.url}${base[kind]}/${id}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const statusOf = async (kind: Kind, id: string) =>
  (await service.api.call<{ status: string }>('GET', `${base[kind]}/${id}`)).status;
const reached = (kind: Kind, id: string, status: string) =>
  until(`${id} is ${status}`, async () => (await statusOf(kind, id)) === status);
const workflow = (kind: Kind, id: string) => service.temporal.workflow.getHandle(`${kind}-${id}`);

/** A job in that status, by the ways that lead there. */
async function jobIn(kind: Kind, status: string): Promise<string> {
  if (status === 'failed') {
    box.behave(() => answers.refuseKey(401));
    const id = await create(kind);
    await reached(kind, id, 'failed');
    return id;
  }
  box.behave(() => (status === 'completed' ? answers.reward(1) : answers.hang()));
  const id = await create(kind);
  if (status === 'running')
    await until('a rollout is in flight', () => box.ledger.some((entry) => entry.rolloutId.includes(id.slice(4))));
  if (status === 'completed') await reached(kind, id, 'completed');
  if (status === 'paused') expect(await command(kind, id, 'pause')).toMatchObject({ status: 200 });
  if (status === 'cancelled') expect(await command(kind, id, 'cancel')).toMatchObject({ status: 200 });
  return id;
}

const refused = 409;
const table: Record<string, Record<CommandName, [code: number, status: string]>> = {
  running: {
    pause: [200, 'paused'],
    resume: [200, 'running'],
    cancel: [200, 'cancelled'],
    reward: [200, 'running'],
    stop: [200, 'completed'],
  },
  paused: {
    pause: [200, 'paused'],
    resume: [200, 'running'],
    cancel: [200, 'cancelled'],
    reward: [200, 'paused'],
    stop: [200, 'completed'],
  },
  completed: {
    pause: [refused, 'completed'],
    resume: [refused, 'completed'],
    cancel: [refused, 'completed'],
    reward: [refused, 'completed'],
    stop: [refused, 'completed'],
  },
  failed: {
    pause: [refused, 'failed'],
    resume: [refused, 'failed'],
    cancel: [refused, 'failed'],
    reward: [refused, 'failed'],
    stop: [refused, 'failed'],
  },
  cancelled: {
    pause: [refused, 'cancelled'],
    resume: [refused, 'cancelled'],
    cancel: [200, 'cancelled'],
    reward: [refused, 'cancelled'],
    stop: [refused, 'cancelled'],
  },
};

describe.each(kinds)('%s: the transition table', (kind) => {
  const cells = Object.entries(table).flatMap(([from, row]) =>
    commands.map((name) => [from, name, ...row[name]] as const),
  );
  test.each(cells)('%s, %s: %i, %s', async (from, name, code, after) => {
    const id = await jobIn(kind, from);
    const answer = await command(kind, id, name);
    expect(answer.status).toBe(code);
    if (code === refused) expect(answer.body).toMatchObject({ current_status: after, detail: expect.any(String) });
    else expect(answer.body).toMatchObject({ job_id: id, status: after });
    expect(await statusOf(kind, id)).toBe(after);
    if (!['running', 'paused'].includes(after)) return;
    await command(kind, id, 'cancel');
  });
});

describe.each(kinds)('%s: what commands do', (kind) => {
  test('once a pause is answered nothing starts; what is in flight finishes and counts; a resume goes on', async () => {
    const { opened, open } = gate();
    box.behave(() => answers.held(opened, answers.reward(1)));
    const id = await create(kind);
    const mine = () => box.ledger.filter((entry) => entry.rolloutId.includes(id.slice(4)));
    await until('one is in flight', () => mine().length === 1);
    expect((await command(kind, id, 'pause')).status).toBe(200);
    open();
    await until('what was in flight counts', async () => {
      const rows = await service.db.org('default', (tx) =>
        tx.query(`select 1 from rollouts where job_id = $1 and status = 'succeeded'`, [id]),
      );
      return rows.length === 1;
    });
    // The workflow itself says that nothing runs: no activity waits through the pause.
    await until('no activity is pending', async () => {
      const { raw } = await workflow(kind, id).describe();
      return (raw.pendingActivities ?? []).length === 0;
    });
    expect(mine()).toHaveLength(1);
    const view = await workflow(kind, id).query<Record<string, unknown>>('status');
    expect(view['status']).toBe('paused');
    expect((await command(kind, id, 'resume')).status).toBe(200);
    await reached(kind, id, 'completed');
    expect(mine().length).toBeGreaterThanOrEqual(3);
  });

  test('a job whose last rollout ends while it is paused stays paused until it is resumed', async () => {
    const { opened, open } = gate();
    box.behave(() => answers.held(opened, answers.reward(1)));
    const id = await create(kind, 3);
    await until(
      'all are in flight',
      () => box.ledger.filter((call) => call.rolloutId.includes(id.slice(4))).length === 3,
    );
    expect((await command(kind, id, 'pause')).status).toBe(200);
    open();
    await until('all have ended, and nothing runs', async () => {
      const rows = await service.db.org('default', (tx) =>
        tx.query(`select 1 from rollouts where job_id = $1 and status = 'succeeded'`, [id]),
      );
      const { raw, status } = await workflow(kind, id).describe();
      return rows.length === 3 && ((raw.pendingActivities ?? []).length === 0 || status.name !== 'RUNNING');
    });
    expect(await statusOf(kind, id)).toBe('paused');
    expect(await command(kind, id, 'resume')).toMatchObject({ status: 200, body: { status: 'running' } });
    await reached(kind, id, 'completed');
  });

  test('a cancel tells what is in flight to stop, closes the workflow CANCELED and the row cancelled', async () => {
    const id = await jobIn(kind, 'running');
    const entry = box.ledger.find((one) => one.rolloutId.includes(id.slice(4)))!;
    expect((await command(kind, id, 'cancel')).status).toBe(200);
    await until('the container was told', () => entry.out !== null);
    await expect(workflow(kind, id).result()).rejects.toThrow(WorkflowFailedError);
    expect((await workflow(kind, id).describe()).status.name).toBe('CANCELLED');
    const events = await service.api.call<{ events: { type: string }[] }>(
      'GET',
      `${base[kind]}/${id}/events${kind === 'evaluation' ? '/stream' : ''}?since_seq=0&limit=100`,
    );
    expect(events.events.at(-1)!.type).toBe(kind === 'evaluation' ? 'eval.policy.job.cancelled' : 'job_cancelled');
  });

  test.each(['pause', 'cancel'])(
    'an operator’s signal %s from the Temporal UI, without arguments, works too',
    async (name) => {
      const id = await jobIn(kind, 'running');
      await workflow(kind, id).signal(name);
      await reached(kind, id, name === 'pause' ? 'paused' : 'cancelled');
      if (name === 'pause') {
        await workflow(kind, id).signal('resume');
        await reached(kind, id, 'running');
        await workflow(kind, id).signal('reward', { stop: true });
        await reached(kind, id, 'completed');
        await workflow(kind, id).result();
      } else {
        await until('it is closed', async () => (await workflow(kind, id).describe()).status.name === 'CANCELLED');
      }
    },
  );

  test('Temporal’s own cancel does the same', async () => {
    const id = await jobIn(kind, 'running');
    await workflow(kind, id).cancel();
    await reached(kind, id, 'cancelled');
    await until('it is closed', async () => (await workflow(kind, id).describe()).status.name === 'CANCELLED');
  });

  test('a terminated workflow: the reconciler closes the row as failed, with the reason', async () => {
    const id = await jobIn(kind, 'running');
    await workflow(kind, id).terminate('by hand');
    await reached(kind, id, 'failed');
    const row = await service.api.call<{ error: string }>('GET', `${base[kind]}/${id}`);
    expect(row.error).toMatch(/terminated/);
  });

  test('the query and the row say the same at rest', async () => {
    for (const status of ['paused', 'completed']) {
      const id = await jobIn(kind, status);
      const view = await workflow(kind, id).query<{
        status: string;
        generation: number;
        bestReward: number | null;
        bestCandidate: string | null;
        rolloutsCompleted: number;
      }>('status');
      const [row] = await service.db.org('default', (tx) =>
        tx.query<{ status: string; projection: Record<string, unknown> }>(
          'select status, projection from jobs where id = $1',
          [id],
        ),
      );
      expect(view.status).toBe(row!.status);
      if (kind === 'session' && status === 'completed') {
        expect(row!.projection).toMatchObject({
          generation: view.generation,
          bestReward: view.bestReward,
          bestCandidateId: view.bestCandidate,
          rolloutsCompleted: view.rolloutsCompleted,
        });
      }
    }
  });

  test('operators find it: search attributes, summary, an id that holds ours, and FAILED with the reason', async () => {
    const id = await jobIn(kind, 'failed');
    const description = await until('the workflow is closed', async () => {
      const seen = await workflow(kind, id).describe();
      return seen.status.name === 'FAILED' && seen;
    });
    expect(await description.staticSummary()).toContain(id);
    const query = `RatchetStatus = 'failed' and RatchetOrg = 'default' and RatchetKind = '${kind}' and WorkflowId = '${kind}-${id}'`;
    await until('it is listed', async () => {
      for await (const found of service.temporal.workflow.list({ query })) return found.workflowId === `${kind}-${id}`;
      return false;
    });
    await expect(workflow(kind, id).result()).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/refused/) },
    });
  });
});

test('no worker to answer: 202 with the pending command, which takes effect when one returns', async () => {
  const alone = await startTestService({}, { serve: true, work: false });
  try {
    const { job_id: id } = await alone.api.call<{ job_id: string }>('POST', base.evaluation, {
      container_url: box.url,
      app_id: 'a',
      env_name: 'e',
      seeds: [0],
      policy,
    });
    const response = await fetch(`${alone.url}${base.evaluation}/${id}/pause`, {
      method: 'POST',
      headers: { authorization: `Bearer ${alone.apiKey}` },
    });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ job_id: id, status: 'running', pending_command: expect.anything() });
    await alone.another({ serve: false, work: true });
    await until(
      'the pause took effect',
      async () => (await alone.api.call<{ status: string }>('GET', `${base.evaluation}/${id}`)).status === 'paused',
    );
  } finally {
    await alone.stop();
  }
}, 90_000);

test('a pause in a stage’s last rollouts: what follows from them is decided and stands in row and log', async () => {
  const { opened, open } = gate();
  box.behave(() => answers.held(opened, answers.reward(0.25)));
  const { job_id: id } = await service.api.call<{ job_id: string }>('POST', base.session, {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: box.url,
      policy,
      gepa: { population_size: 1, generations: 1, evaluation: { seeds: [0, 1, 2] } },
      max_concurrent: 3,
    },
  });
  const mine = () => box.ledger.filter((entry) => entry.rolloutId.includes(id.slice(4)));
  await until('the whole baseline is in flight', () => mine().length === 3);
  expect((await command('session', id, 'pause')).status).toBe(200);
  open();
  const rowOf = () => service.api.call<{ best_reward: number | null }>('GET', `${base.session}/${id}`);
  await until('the row knows the baseline’s reward', async () => (await rowOf()).best_reward === 0.25);
  expect(await workflow('session', id).query('status')).toMatchObject({ status: 'paused', bestReward: 0.25 });
  const { events } = await service.api.call<{ events: { type: string }[] }>(
    'GET',
    `${base.session}/${id}/events?since_seq=0&limit=100`,
  );
  expect(events.map(({ type }) => type)).toContain('generation_complete');
  expect(mine()).toHaveLength(3);
  expect((await command('session', id, 'cancel')).status).toBe(200);
});

test('commands that waited for a worker take effect in the order in which they were sent', async () => {
  const alone = await startTestService({}, { serve: true, work: false });
  try {
    box.behave(() => answers.hang());
    const { job_id: id } = await alone.api.call<{ job_id: string }>('POST', base.evaluation, {
      container_url: box.url,
      app_id: 'a',
      env_name: 'e',
      seeds: [0],
      policy,
    });
    const at = `${base.evaluation}/${id}`;
    for (const [path, body] of [
      ['pause', undefined],
      ['reward', { stop: true }],
      ['cancel', undefined],
    ] as const) {
      expect(await alone.api.call('POST', `${at}/${path}`, body)).toMatchObject({ pending_command: expect.anything() });
    }
    await alone.another({ serve: false, work: true });
    const ended = await until('it has ended', async () => {
      const job = await alone.api.call<{ status: string; stopped_by: string }>('GET', at);
      return ['completed', 'cancelled', 'failed'].includes(job.status) && job;
    });
    expect(ended).toMatchObject({ status: 'completed', stopped_by: 'reward_stop' });
    const outcomes = await alone.db.org('default', (tx) =>
      tx.query('select kind, outcome from commands where job_id = $1 order by created_at', [id]),
    );
    expect(outcomes).toEqual([
      { kind: 'pause', outcome: 'accepted' },
      { kind: 'stop', outcome: 'accepted' },
      { kind: 'cancel', outcome: 'refused' },
    ]);
  } finally {
    await alone.stop();
  }
}, 90_000);
