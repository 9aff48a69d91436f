import { describe, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { deploy, readDeployment, saying } from '../../support/deployments-over-http.js';
import { answers } from '../../support/fakes/container.js';
import { gate } from '../../support/gate.js';
import { command, createGraphJob, createSession } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { until } from '../../support/until.js';
import { workflowIs } from '../../support/workflow-is.js';
import { graphAnswer, graphDataset } from '../../support/worlds/graph.js';
import { operatorWorldOfFile } from './held-evaluation.js';

// After a reset to any task, with and without its signals, a job of each kind shows one status in
// API and Temporal within seconds, obeys commands, and ends.

/** Seconds until a reset shows; a busy machine takes three times as long as an idle one. */
const soon = 15;

const world = operatorWorldOfFile();

/** Creates a job whose work is held; `open` lets it go on. */
interface Held {
  id: string;
  open(): void;
}

async function heldSession(): Promise<Held> {
  const { opened, open } = gate();
  world.world.container.behave((call) => answers.held(opened, world.world.answer(call)));
  const search = { gepa: { population_size: 2, generations: 2, evaluation: { seeds: range(0, 8) } } };
  const id = await createSession(world.service, { ...world.world.job, ...search });
  await until('rollouts are in flight', () => world.world.container.callsOf(id).length > 0);
  return { id, open };
}

async function heldGraph(): Promise<Held> {
  const { opened, open } = gate();
  const { model } = world.world;
  const before = model.requests.length;
  model.reply(({ body }) => opened.then(() => ({ text: graphAnswer(body.messages) })));
  const fake = (name: string) => ({ model: name, provider: 'fake' });
  const job = { policy_model: 'task', policy_provider: 'fake', proposer: fake('writer'), preflight: false };
  const id = await createGraphJob(world.service, { ...job, dataset: graphDataset(6), rollout_budget: 12 });
  await until('calls are in flight', () => model.requests.length > before);
  return { id, open };
}

const created = { session: heldSession, graph: heldGraph };
const points = ['first', 'middle', 'last'] as const;
const reapplied = ['signals', 'none'] as const;
const resets = points.flatMap((task) => reapplied.map((reapply) => ({ task, reapply })));

const shows = (id: string, status: string) => world.agreed(id, status, soon);

const jobs = (['session', 'graph'] as const).flatMap((kind) => resets.map((reset) => ({ kind, ...reset })));

describe.each(jobs)('a $kind, to the $task task, reapplying $reapply', ({ kind, task, reapply }) => {
  test('while it is paused', async () => {
    const { id, open } = await created[kind]();
    const handle = world.service.workflow(id);
    await command(world.service, id, 'pause');
    await shows(id, 'paused');
    await world.operator.reset(handle, task, reapply);
    await shows(id, 'paused');
    await command(world.service, id, 'resume');
    await shows(id, 'running');
    await command(world.service, id, 'pause');
    await shows(id, 'paused');
    await command(world.service, id, 'resume');
    open();
    await shows(id, 'completed');
    await workflowIs(handle, 'COMPLETED');
  }, 120_000);

  test('while it runs; it is then cancelled', async () => {
    const { id, open } = await created[kind]();
    const handle = world.service.workflow(id);
    await command(world.service, id, 'pause');
    await command(world.service, id, 'resume');
    await shows(id, 'running');
    await world.operator.reset(handle, task, reapply);
    await shows(id, 'running');
    await command(world.service, id, 'cancel');
    await shows(id, 'cancelled');
    await workflowIs(handle, 'CANCELLED');
    open();
    await world.operator.reset(handle, task, reapply);
    await workflowIs(handle, 'CANCELLED');
    await shows(id, 'cancelled');
  }, 120_000);
});

interface HeldDeployment extends Held {
  evaluation: string;
  handle: WorkflowHandle;
}

let names = 0;

/** A deployment whose gate's evaluation is held. */
async function heldDeployment(): Promise<HeldDeployment> {
  const { opened, open } = gate();
  const { container } = world.world;
  container.behave(() => answers.held(opened, answers.reward(0.75)));
  const judged = { container_url: container.url, seeds: [1, 2], min_reward: 0.5, preflight: false };
  const name = `held-${(names += 1)}`;
  const id = await deploy(world.service, { name, source: saying('x'), gate: judged });
  const handle = world.service.workflow(id);
  const evaluation = await until('its gate runs', async () => (await handle.query<Viewed>('status')).evaluation);
  await until('its rollouts are in flight', () => container.callsOf(evaluation).length > 0);
  return { id, open, evaluation, handle };
}

interface Viewed {
  status: string;
  evaluation?: string;
}

const deploymentShows = (id: string, api: string, attribute: string, evaluation?: string) =>
  until(
    `${id} is ${api}`,
    async () => {
      const handle = world.service.workflow(id);
      const seen = await handle.query<Viewed>('status');
      const [{ status }, view] = [await readDeployment(world.service, id), await world.operator.view(handle)];
      const isSo = status === api && seen.status === api && view.attribute === attribute && view.taskAttempt <= 1;
      if (isSo && seen.evaluation === evaluation) return true;
      throw new Error(JSON.stringify({ status, seen, view }));
    },
    soon,
  );

describe.each(resets)('a deployment, to the $task task, reapplying $reapply', ({ task, reapply }) => {
  test('goes on with its evaluation, which obeys commands', async () => {
    const { id, open, evaluation, handle } = await heldDeployment();
    await world.operator.reset(handle, task, reapply);
    await deploymentShows(id, 'building', 'running', evaluation);
    await command(world.service, evaluation, 'pause');
    await shows(evaluation, 'paused');
    await command(world.service, evaluation, 'resume');
    await shows(evaluation, 'running');
    open();
    await deploymentShows(id, 'ready', 'completed');
    await workflowIs(handle, 'COMPLETED');
    const run = await world.operator.reset(handle, task, reapply);
    await until('the new run is closed', async () => {
      const seen = await handle.describe();
      return seen.runId === run && seen.status.name === 'COMPLETED';
    });
    await deploymentShows(id, 'ready', 'completed');
    const child = world.service.workflow(evaluation);
    const childRun = await world.operator.reset(child, task, reapply);
    await until('the new run of the evaluation is closed', async () => {
      const seen = await child.describe();
      return seen.runId === childRun && seen.status.name === 'COMPLETED';
    });
    await shows(evaluation, 'completed');
  }, 120_000);

  test.each(['cancel', 'terminate'] as const)(
    'ends with its evaluation by a %s',
    async (end) => {
      const { id, open, evaluation, handle } = await heldDeployment();
      await world.operator.reset(handle, task, reapply);
      await deploymentShows(id, 'building', 'running', evaluation);
      if (end === 'cancel') await handle.cancel();
      else await handle.terminate('operator: too expensive');
      await until('both have ended', async () => {
        const [{ status }, judged] = [await readDeployment(world.service, id), await world.statusOf(evaluation)];
        if (status === 'failed' && ['cancelled', 'failed'].includes(judged)) return true;
        throw new Error(JSON.stringify({ status, judged }));
      });
      open();
      await workflowIs(handle, end === 'cancel' ? 'CANCELLED' : 'TERMINATED');
      await until('the evaluation is closed', async () => {
        const { status } = await world.service.workflow(evaluation).describe();
        return status.name !== 'RUNNING';
      });
    },
    120_000,
  );

  test('is judged when its evaluation is reset', async () => {
    const { id, open, evaluation } = await heldDeployment();
    await command(world.service, evaluation, 'pause');
    await shows(evaluation, 'paused');
    await world.operator.reset(world.service.workflow(evaluation), task, reapply);
    await shows(evaluation, 'paused');
    await command(world.service, evaluation, 'resume');
    await shows(evaluation, 'running');
    open();
    await deploymentShows(id, 'ready', 'completed');
  }, 120_000);
});
