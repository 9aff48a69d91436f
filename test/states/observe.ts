import assert from 'node:assert/strict';
import { WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import { pathOf as pathOfId } from '../support/jobs-over-http.js';
import { until } from '../support/until.js';
import { leaseSeconds } from '../../activities/rollouts/exchange.js';
import { isDone, type Job } from './model.js';
import { isTerminal, type Status } from '../../src/core/jobs/status.js';
import { type Answer } from './table.js';
import type { Reply, World } from './world.js';

const patience = 90;

export const pathOf = ({ id }: Job): string => pathOfId(id);

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

/** Number of pauses and resumes in the log. */
export async function changes(world: World, job: Job): Promise<{ paused: number; resumed: number }> {
  const types = (await eventsOf(world, job)).map((event) => event.type);
  const count = (type: string) => types.filter((entry) => entry === type).length;
  return { paused: count('paused'), resumed: count('resumed') };
}

export const reached = (world: World, job: Job, status: Status) =>
  until(`${job.id} is ${status}`, async () => (await look(world, job)).status === status, patience);

/**
 * Waits until a job is at rest: a running one has completed, or has as many rollouts at the
 * container as allowed; one without open work has completed; a terminated one is closed. Returns at
 * once without a worker.
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
  // Only the search knows a session's next work: it has rollouts, or has completed.
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

/** Compares the row with the model; an ended job keeps its first seen state. */
export async function atRest(world: World, job: Job): Promise<void> {
  if (job.dying) return;
  const seen = await look(world, job);
  assert.equal(seen.status, job.state.status, `status of ${job.id}`);
  if (!isTerminal(seen.status)) return;
  job.pausedAt = null;
  // The cost of a model call is recorded even after the job's end.
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

/** Sends an operator's signal. A closed workflow ignores it, as the table requires. */
export async function asOperator(job: Job, send: () => Promise<unknown>): Promise<void> {
  await send().catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError && isTerminal(job.state.status))) throw error;
  });
}

/** Code and status of an answer; resolves a slow decision's 202. */
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

/** Every answer has all ids of its job. */
export function assertIds(job: Job, body: Record<string, unknown>): void {
  assert.equal(body['job_id'], job.id);
  assert.equal(body['session_id'], job.kind === 'session' ? job.id : undefined);
}

async function lateAnswer(world: World, job: Job, commandId: string): Promise<Answer> {
  const row = await until(`${commandId} is decided`, () => outcomeOf(world, commandId), patience);
  // Both times come from the database, and the API waits at least this long after writing the
  // command.
  assert.ok(row.seconds > 1.9, `202 for ${commandId} of ${job.id}, which was decided within ${row.seconds} s`);
  return row.answer;
}

/** The workflow's decision on a command, and its duration; null: undecided. */
export async function outcomeOf(world: World, commandId: string) {
  const [row] = await world.sql<{ outcome: string; status: Status; seconds: number }>(
    `select outcome, status_after as status, extract(epoch from settled_at - created_at)::float8 as seconds
       from commands where id = $1 and outcome is not null`,
    [commandId],
  );
  if (!row) return null;
  const answer: Answer = { code: row.outcome === 'accepted' ? 200 : 409, status: row.status };
  return { answer, seconds: row.seconds };
}

/** The status of the job's rollouts in the database. */
export const rolloutsOf = (world: World, job: Job) =>
  world.sql<{ id: string; status: string; reward: number | null; attempt: number; started: boolean }>(
    `select id, status, reward, attempt, started_at is not null as started
       from rollouts where job_id = $1 order by ordinal`,
    [job.id],
  );

/** The container's calls for the job's rollouts. */
export const callsOf = (world: World, job: Job) => world.container.callsOf(job.id);

/** Waits until the runner knows an answered pause and its last calls reached the container. */
export async function quieten(world: World, job: Job): Promise<void> {
  const { pausedAt } = job;
  if (pausedAt === null || job.callsWhenPaused !== null) return;
  await until(
    `the runner of ${job.id} has seen its pause`,
    async () => {
      const [row] = await world.sql<{ free: boolean; seen: number | null }>(
        `select lease_owner is null as free, extract(epoch from lease_expires_at)::float8 * 1000 - $2 as seen
           from job_controls where job_id = $1`,
        [job.id, leaseSeconds * 1_000],
      );
      return row!.free || row!.seen! > pausedAt;
    },
    patience,
  );
  await until(`what ${job.id} had begun has come to the container`, async () => {
    const sent = (await rolloutsOf(world, job)).filter(({ status, started }) => status === 'running' && started);
    const held = world.container.held(job.id);
    return sent.every(({ id }) => held.includes(id));
  });
  job.callsWhenPaused = callsOf(world, job).length;
}

/** The container received no call since the pause. */
export function assertNothingStarted(world: World, job: Job): void {
  if (job.callsWhenPaused === null) return;
  assert.equal(callsOf(world, job).length, job.callsWhenPaused, `${job.id} started a rollout while it was paused`);
}
