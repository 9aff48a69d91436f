import assert from 'node:assert/strict';
import { WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import { until } from '../support/until.js';
import { leaseSeconds } from '../../activities/rollouts/exchange.js';
import { isDone, type Job } from './model.js';
import { isTerminal, type Answer, type Status } from './table.js';
import type { Reply, World } from './world.js';

const patience = 90;

export const pathOf = (job: Job): string =>
  `${job.kind === 'evaluation' ? '/api/v1/offline/jobs' : '/api/v1/online/sessions'}/${job.id}`;

export const workflowOf = (world: World, job: Job): WorkflowHandle =>
  world.temporal.workflow.getHandle(`${job.kind}-${job.id}`);

export async function look(world: World, job: Job): Promise<Record<string, unknown> & { status: Status }> {
  const { code, body } = await world.call('GET', pathOf(job));
  assert.equal(code, 200, `GET of ${job.id}: ${JSON.stringify(body)}`);
  return body as Record<string, unknown> & { status: Status };
}

export interface Event {
  seq: number;
  type: string;
  data: { rollout_id?: string | null };
}

export async function eventsOf(world: World, job: Job): Promise<Event[]> {
  const { code, body } = await world.call('GET', `${pathOf(job)}/events?since_seq=0&limit=1000`);
  assert.equal(code, 200, `events of ${job.id}: ${JSON.stringify(body)}`);
  return body['events'] as Event[];
}

/** How often the log says that the job was paused, and resumed. */
export async function changes(world: World, job: Job): Promise<{ paused: number; resumed: number }> {
  const types = (await eventsOf(world, job)).map((event) => event.type);
  const count = (type: string) => types.filter((one) => one === type).length;
  return { paused: count('paused'), resumed: count('resumed') };
}

export const reached = (world: World, job: Job, status: Status) =>
  until(`${job.id} is ${status}`, async () => (await look(world, job)).status === status, patience);

/**
 * Waits until a job is at rest: a running one has as many rollouts at the container as it may have,
 * or has completed; one whose work is done has completed; one that was terminated is closed.
 * Nothing to wait for without a worker.
 */
export async function settle(world: World, job: Job, workerLives: boolean): Promise<void> {
  if (!workerLives) return;
  if (job.dying) {
    await reached(world, job, 'failed');
    job.state = { ...job.state, status: 'failed' };
    job.dying = false;
    job.pausedAt = null;
    const { error_details } = await look(world, job);
    assert.equal((error_details as { code: string }).code, 'workflow_terminated');
  }
  if (job.state.status === 'running') {
    await settleRunning(world, job);
    job.stirred = false;
  }
  await atRest(world, job);
}

async function settleRunning(world: World, job: Job): Promise<void> {
  const inFlight = () => world.container.held(job.id).length + job.awaited.size;
  const open = job.seeds.length - job.outcomes.size;
  if (job.kind === 'evaluation' && open > 0) {
    await until(
      `${job.id} has ${Math.min(job.maxConcurrent, open)} rollouts in flight`,
      () => inFlight() === Math.min(job.maxConcurrent, open),
      patience,
    );
    return;
  }
  // What a session wants next only the search knows, but it wants something, or it has completed.
  const completed = await until(
    `${job.id} goes on`,
    async () => {
      if (!isDone(job) && inFlight() > 0) return 'goes on';
      const { status } = await look(world, job);
      assert.ok(status === 'running' || status === 'completed', `${job.id} ran, and is ${status}`);
      return status === 'completed' && status;
    },
    patience,
  );
  if (completed === 'completed') job.state = { ...job.state, status: 'completed' };
}

/** The row says what the model says; a job that has ended stays as it was first seen then. */
export async function atRest(world: World, job: Job): Promise<void> {
  if (job.dying) return;
  const seen = await look(world, job);
  assert.equal(seen.status, job.state.status, `status of ${job.id}`);
  if (!isTerminal(seen.status)) return;
  job.pausedAt = null;
  // What a call to a model cost is recorded even when the answer comes after the end.
  const { usage: _, ...lasting } = seen;
  job.atEnd ??= lasting;
  assert.deepEqual(lasting, job.atEnd, `${job.id} has changed after its end`);
}

/** Waits until the workflow has decided earlier commands and the row agrees. */
export async function flush(world: World, job: Job): Promise<void> {
  await until(
    `workflow and row of ${job.id} agree`,
    async () => {
      const { status } = await look(world, job);
      return isTerminal(status) || (await askWorkflow(world, job)).status === status;
    },
    patience,
  );
}

export const askWorkflow = (world: World, job: Job) =>
  workflowOf(world, job).query<{ status: Status; generation: number; bestReward: number | null }>('status');

/** Sends an operator's signal. A closed workflow ignores it, as the table says. */
export async function asOperator(job: Job, send: () => Promise<unknown>): Promise<void> {
  await send().catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError && isTerminal(job.state.status))) throw error;
  });
}

/** Code and status of an answer; resolves a 202 of a slow outcome. */
export async function answerTo(world: World, job: Job, reply: Reply): Promise<Answer> {
  const { code, body } = reply;
  if (code === 202) {
    assertIds(job, body);
    return lateAnswer(world, job, String(body['command_id']));
  }
  assert.ok(code === 200 || code === 409, `${job.id} was answered ${code}: ${JSON.stringify(body)}`);
  if (code === 200) {
    assertIds(job, body);
    return { code, status: body['status'] as Status };
  }
  assert.match(String(reply.headers.get('content-type')), /problem\+json/);
  assert.equal(typeof body['detail'], 'string');
  return { code, status: body['current_status'] as Status };
}

/** Every answer names its job by all the names it has. */
export function assertIds(job: Job, body: Record<string, unknown>): void {
  assert.equal(body['job_id'], job.id);
  assert.equal(body['session_id'], job.kind === 'session' ? job.id : undefined);
}

async function lateAnswer(world: World, job: Job, commandId: string): Promise<Answer> {
  const row = await until(`${commandId} is decided`, () => outcomeOf(world, commandId), patience);
  // Both times are the database's, and the API waits for longer than this from the moment it has
  // written the command.
  assert.ok(row.seconds > 1.9, `202 for ${commandId} of ${job.id}, which was decided within ${row.seconds} s`);
  return row.answer;
}

/** What the workflow decided of a command, and how long it took; null as long as it has not. */
export async function outcomeOf(world: World, commandId: string) {
  const [row] = await world.rows<{ outcome: string; status: Status; seconds: number }>(
    `select outcome, status_after as status, extract(epoch from settled_at - created_at)::float8 as seconds
       from commands where id = $1 and outcome is not null`,
    commandId,
  );
  if (!row) return null;
  const answer: Answer = { code: row.outcome === 'accepted' ? 200 : 409, status: row.status };
  return { answer, seconds: row.seconds };
}

/** How the job's rollouts stand in the database. */
export const rolloutsOf = (world: World, job: Job) =>
  world.rows<{ id: string; status: string; reward: number | null; attempt: number; started: boolean }>(
    `select id, status, reward, attempt, started_at is not null as started
       from rollouts where job_id = $1 order by ordinal`,
    job.id,
  );

/** How often the container was asked for the job's rollouts. */
export const callsOf = (world: World, job: Job) =>
  world.container.ledger.filter(({ rolloutId }) => rolloutId.startsWith(`rol_${job.id.slice(4)}_`));

/** Waits until the runner knows an answered pause and its last calls reached the container. */
export async function quieten(world: World, job: Job): Promise<void> {
  const { pausedAt } = job;
  if (pausedAt === null || job.callsWhenPaused !== null) return;
  await until(
    `the runner of ${job.id} has seen its pause`,
    async () => {
      const [row] = await world.rows<{ free: boolean; seen: number | null }>(
        `select lease_owner is null as free, extract(epoch from lease_expires_at)::float8 * 1000 - $2 as seen
           from job_controls where job_id = $1`,
        job.id,
        leaseSeconds * 1_000,
      );
      return row!.free || row!.seen! > pausedAt;
    },
    patience,
  );
  await until(`what ${job.id} had begun has come to the container`, async () => {
    const begun = (await rolloutsOf(world, job)).filter(({ status, started }) => status === 'running' && started);
    const held = world.container.held(job.id);
    return begun.every(({ id }) => held.includes(id));
  });
  job.callsWhenPaused = callsOf(world, job).length;
}

/** Since the pause the container has not been asked again. */
export function assertNothingStarted(world: World, job: Job): void {
  if (job.callsWhenPaused === null) return;
  assert.equal(callsOf(world, job).length, job.callsWhenPaused, `${job.id} started a rollout while it was paused`);
}
