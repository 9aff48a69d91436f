import assert from 'node:assert/strict';
import { statusAttribute } from '../../workflows/messages.js';
import type { Job, Model } from './model.js';
import {
  askWorkflow,
  assertNothingStarted,
  atRest,
  callsOf,
  changes,
  eventsOf,
  look,
  pathOf,
  rolloutsOf,
  workflowOf,
} from './observe.js';
import { isTerminal, type Status } from '../../src/core/jobs/status.js';
import type { World } from './world.js';
import { workflowIs } from '../support/workflow-is.js';

/** Compares row, log, rollouts, inbox, container and workflow of a job at rest. */
export async function checkJob(world: World, model: Model, job: Job): Promise<void> {
  assertNothingStarted(world, job);
  await atRest(world, job);
  await checkEvents(world, job);
  await checkRollouts(world, model, job);
  await checkInbox(world, job);
  await checkCounts(world, job);
  await checkWorkflow(world, job);
}

const terminalTypes: Record<Job['kind'], Partial<Record<Status, string>>> = {
  evaluation: {
    completed: 'eval.policy.job.completed',
    failed: 'eval.policy.job.failed',
    cancelled: 'eval.policy.job.cancelled',
  },
  session: { completed: 'job_complete', failed: 'job_failed', cancelled: 'job_cancelled' },
};

async function checkEvents(world: World, job: Job): Promise<void> {
  const events = await eventsOf(world, job);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, i) => i + 1),
    `seq of ${job.id}`,
  );
  const { paused, resumed } = job.state;
  assert.deepEqual(await changes(world, job), { paused, resumed }, `pauses in the log of ${job.id}`);
  const types = events.map(({ type }) => type);
  const rewards = types.filter((type) => type === 'reward_received').length;
  assert.equal(rewards, job.inbox.filter(({ counted }) => counted).length, `reward_received of ${job.id}`);

  const ends = Object.values(terminalTypes[job.kind]);
  const end = terminalTypes[job.kind][job.state.status];
  assert.deepEqual(
    types.filter((type) => ends.includes(type)),
    end ? [end] : [],
    `terminal events of ${job.id}`,
  );
  if (end) assert.equal(types.at(-1), end, `the last event of ${job.id}`);
  if (end === 'job_failed') assert.equal(types.at(-2), 'error');

  const outcome = job.kind === 'evaluation' ? 'eval.policy.seed.completed' : 'rollout_completed';
  const ended = events.filter(({ type }) => type === outcome).map(({ data }) => data.rollout_id);
  assert.deepEqual(ended.toSorted(), [...job.outcomes.keys()].sort(), `outcomes in the log of ${job.id}`);
}

async function checkRollouts(world: World, model: Model, job: Job): Promise<void> {
  const rows = await rolloutsOf(world, job);
  const ended = rows.filter(({ status }) => status === 'succeeded');
  assert.deepEqual(
    new Map(ended.map(({ id, reward }) => [id, reward])),
    new Map(rows.flatMap(({ id }) => (job.outcomes.has(id) ? [[id, job.outcomes.get(id)!]] : []))),
    `rewards of ${job.id}`,
  );
  assert.equal(ended.length, job.outcomes.size);
  if (isTerminal(job.state.status)) {
    const open = rows.filter(({ status }) => ['queued', 'running', 'awaiting_reward'].includes(status));
    assert.deepEqual(open, [], `rollouts of ${job.id}, which has ended`);
  }
  const calls = callsOf(world, job);
  for (const { id, attempt } of rows) {
    const asked = calls.filter(({ rolloutId }) => rolloutId === id).length;
    assert.ok(asked <= attempt, `${id} was claimed ${attempt} times and asked for ${asked} times`);
    assert.ok(asked <= 1 + model.kills, `${id} was asked for ${asked} times over ${model.kills} kills`);
  }
  assert.ok(world.container.peak(job.id) <= job.maxConcurrent, `${job.id} had more than max_concurrent in flight`);
}

async function checkInbox(world: World, job: Job): Promise<void> {
  const rows = await world.sql<{ rollout: string | null; reward: number; counted: boolean }>(
    'select rollout_id as rollout, reward, counted from rewards where job_id = $1',
    [job.id],
  );
  const sorted = (entries: object[]) => entries.map((entry) => JSON.stringify(entry)).sort();
  assert.deepEqual(sorted(rows), sorted(job.inbox), `inbox of ${job.id}`);
}

async function checkCounts(world: World, job: Job): Promise<void> {
  const seen = await look(world, job);
  if (job.kind === 'session') return;
  const { progress, summary } = seen as unknown as {
    progress: { completed: number; total: number };
    summary: { num_successful: number; num_failed: number; mean_reward: number | null };
  };
  const rewards = [...job.outcomes.values()];
  assert.deepEqual([progress.completed, progress.total], [rewards.length, job.seeds.length]);
  assert.deepEqual([summary.num_successful, summary.num_failed], [rewards.length, 0]);
  const { body } = await world.call('GET', `${pathOf(job)}/results`);
  assert.equal((body['results'] as unknown[]).length, rewards.length);
  const mean = rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  if (mean === null) assert.equal(summary.mean_reward, null);
  else
    assert.ok(Math.abs(summary.mean_reward! - mean) < 1e-9, `mean of ${job.id}: ${summary.mean_reward}, not ${mean}`);
}

const closedAs: Partial<Record<Status, string>> = { completed: 'COMPLETED', failed: 'FAILED', cancelled: 'CANCELLED' };

/** Waits until the workflow closes after its row; both must agree. */
async function checkWorkflow(world: World, job: Job): Promise<void> {
  const { status } = job.state;
  const due = job.wasTerminated ? 'TERMINATED' : (closedAs[status] ?? 'RUNNING');
  const description = await workflowIs(workflowOf(world, job), due);
  if (due === 'TERMINATED') return;
  assert.equal(description.typedSearchAttributes.get(statusAttribute), status, `search attribute of ${job.id}`);
  const view = await askWorkflow(world, job);
  assert.equal(view.status, status, `what the workflow of ${job.id} says`);
  if (job.kind !== 'session' || status !== 'completed') return;
  const seen = await look(world, job);
  const { generation, best_reward } = seen['progress'] as { generation: number; best_reward: number | null };
  assert.deepEqual([view.generation, view.bestReward], [generation, best_reward]);
}
