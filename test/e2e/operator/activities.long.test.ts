import { describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { workflowId } from '../../../src/core/jobs/kinds.js';
import { noFigures } from '../../../src/core/jobs/progress.js';
import { deploy, readDeployment, saying } from '../../support/deployments-over-http.js';
import { answers } from '../../support/fakes/container.js';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import { startReceiver } from '../../support/fakes/receiver.js';
import { gate } from '../../support/gate.js';
import { command, createEvaluation, readJob, type Evaluation } from '../../support/jobs-over-http.js';
import { until } from '../../support/until.js';
import { workflowIs } from '../../support/workflow-is.js';
import { operatorWorldOfFile } from './held-evaluation.js';

// What an operator does to an activity of any kind is honoured or refused, never believed.

const world = operatorWorldOfFile();
const container = containersOfEachTest();

const progress = { figures: noFigures, details: 'done', next: 'the end', takes: ['hint'] };
const garbage: [string, unknown, string][] = [
  ['null', null, 'json/plain'],
  ['nothing', undefined, 'json/plain'],
  ['garbage', [{ done: true }], 'json/plain'],
  ['a foreign encoding', {}, 'json/protobuf'],
];

/** An evaluation whose container answers health checks once it is opened. */
async function probed() {
  const { opened, open } = gate();
  const box = await container({ health: answers.held(opened, answers.status(200, '{}')) });
  const { policy } = world.world.job;
  const id = await createEvaluation(world.service, { container_url: box.url, policy, preflight: false, seeds: [0, 1] });
  await until('it is probed', () => box.probes.length > 0);
  const handle = world.service.workflow(id);
  const shows = (status: string) => world.agreed(id, status);
  return { id, handle, box, open, shows };
}

describe('a preparation', () => {
  test.each([...garbage, ['a made-up result', { leftMs: 1, ...progress }, 'json/plain'] as const])(
    'that is completed with %s is prepared on record before any work',
    async (_, result, encoding) => {
      const { handle, box, open, shows } = await probed();
      await world.operator.complete(handle, 'prepare', result, encoding);
      await shows('running');
      open();
      await shows('completed');
      expect(box.ledger).toHaveLength(2);
    },
    60_000,
  );

  test('that is failed fails the job with the name', async () => {
    const { id, handle, open, shows } = await probed();
    await world.operator.fail(handle, 'prepare', { message: 'operator says no', type: 'Op', details: 'null' });
    await shows('failed');
    expect(await world.errorOf(id)).toBe('Op');
    open();
  });

  test('that is paused or reset goes on, and the job obeys commands', async () => {
    const { id, handle, open, shows } = await probed();
    await world.operator.pause(handle, 'prepare');
    await command(world.service, id, 'pause');
    await shows('paused');
    await world.operator.unpause(handle, 'prepare');
    await world.operator.resetActivity(handle, 'prepare');
    await command(world.service, id, 'resume');
    open();
    await shows('completed');
  }, 60_000);

  test.each(['cancel', 'cancel twice', 'terminate'])('is over after a %s', async (end) => {
    const { id, handle, open } = await probed();
    await world.operator.pause(handle, 'prepare');
    if (end === 'terminate') await handle.terminate('by an operator');
    else await handle.cancel();
    if (end === 'cancel twice') await handle.cancel().catch(() => undefined);
    await until('the job has ended', async () =>
      (end === 'terminate' ? ['failed'] : ['cancelled']).includes(await world.statusOf(id)),
    );
    await workflowIs(handle, end === 'terminate' ? 'TERMINATED' : 'CANCELLED');
    open();
  });
});

test('work that is reset goes on, and each rollout is bought once', async () => {
  const { handle, shows, open, calls } = await world.evaluation();
  await world.operator.resetActivity(handle, 'drive');
  open();
  await shows('completed');
  expect(new Set(calls()).size).toBe(4);
});

let names = 0;
async function heldDeployment() {
  const { opened, open } = gate();
  const box = await container({ behave: () => answers.held(opened, answers.reward(0.75)) });
  const judged = { container_url: box.url, seeds: [1, 2], min_reward: 0.5, preflight: false };
  const id = await deploy(world.service, { name: `by-hand-${(names += 1)}`, source: saying('x'), gate: judged });
  const handle = world.service.workflow(id);
  const evaluation = await until('its gate runs', async () => {
    const { evaluation } = await handle.query<{ evaluation?: string }>('status');
    return box.ledger.length > 0 && evaluation;
  });
  const statusIs = (status: string) =>
    until(`${id} is ${status}`, async () => (await readDeployment(world.service, id)).status === status);
  return { id, handle, evaluation, open, statusIs };
}

describe('a deployment that waits for an evaluation of its earlier run', () => {
  test.each(garbage)(
    'goes on waiting where its wait is completed with %s',
    async (_, result, encoding) => {
      const { handle, open, statusIs } = await heldDeployment();
      await world.operator.reset(handle, 'first', 'signals');
      await world.operator.complete(handle, 'awaitChildJob', result, encoding);
      await until('it waits again', () => world.operator.pending(handle, 'awaitChildJob'));
      open();
      await statusIs('ready');
      await workflowIs(handle, 'COMPLETED');
    },
    60_000,
  );

  test('fails with the name where its wait is failed, and so ends its evaluation', async () => {
    const { id, handle, evaluation, open, statusIs } = await heldDeployment();
    await world.operator.reset(handle, 'first', 'none');
    const failure = { message: 'operator says no', type: 'Op', details: '{no' };
    await world.operator.fail(handle, 'awaitChildJob', failure);
    await statusIs('failed');
    expect((await readDeployment(world.service, id)).error_details!.code).toBe('Op');
    await until('its evaluation is cancelled', async () => (await world.statusOf(evaluation)) === 'cancelled');
    open();
  }, 60_000);

  test('ends by a cancel while its wait is paused', async () => {
    const { handle, evaluation, open, statusIs } = await heldDeployment();
    await world.operator.reset(handle, 'first', 'none');
    await world.operator.pause(handle, 'awaitChildJob');
    await handle.cancel();
    await statusIs('failed');
    await workflowIs(handle, 'CANCELLED');
    expect(await world.statusOf(evaluation)).toBe('cancelled');
    open();
  }, 60_000);
});

const sent: [string, string, string][] = [
  ['pause', '{}', 'json/plain'],
  ['cancel', '{no', 'json/plain'],
  ['relabel', 'x', 'binary/foo'],
  ['__proto__', '{}', 'json/protobuf'],
  ['__temporal_x', 'x', 'binary/encrypted'],
  ['constructor', '\u0001', 'binary/protobuf'],
];

async function sendAll(handle: WorkflowHandle): Promise<void> {
  for (const [name, data, encoding] of sent) await world.operator.signal(handle, name, data, encoding);
  for (const [name, data, encoding] of sent) {
    expect(await world.operator.update(handle, name, data, encoding)).toEqual(expect.any(String));
    await expect(handle.query(name, data)).rejects.toThrow();
  }
}

test('a deployment drops what it does not take, with an event', async () => {
  const { id, handle, open, statusIs } = await heldDeployment();
  await sendAll(handle);
  const ignored = await until('all are in its log', async () => {
    const events = await world.eventsOf(id, 'signal_ignored');
    return events.length >= 5 && events;
  });
  expect(ignored.map(({ signal }) => signal).sort()).toEqual(
    ['pause', 'cancel', '__proto__', '__temporal_x', 'constructor'].sort(),
  );
  open();
  await statusIs('ready');
  await workflowIs(handle, 'COMPLETED');
}, 60_000);

test('a job refuses updates and queries of any name and encoding', async () => {
  const { handle, shows, open } = await world.evaluation();
  for (const [name, data, encoding] of sent) {
    expect(await world.operator.update(handle, name, data, encoding)).toEqual(expect.any(String));
    await expect(handle.query(name, data)).rejects.toThrow();
  }
  await shows('running');
  open();
  await shows('completed');
}, 60_000);

describe('a webhook', () => {
  /** `status`: the answer to the first attempt; 0: none. */
  async function heldWebhook(status = 500) {
    const receiver = await startReceiver();
    receiver.answer(status);
    const { policy } = world.world.job;
    const job = { container_url: (await container()).url, policy, preflight: false, seeds: [0] };
    const id = await createEvaluation(world.service, { ...job, webhook_url: `${receiver.url}/hook` });
    const handle = world.service.temporal.workflow.getHandle(workflowId('webhook', id, 1, ''));
    await until('an attempt was made', () => receiver.requests.length > 0);
    const settled = () =>
      until('it is settled', async () => {
        const { webhook } = await readJob<Evaluation>(world.service, id);
        return webhook?.settled_at != null && webhook.status;
      });
    return { handle, receiver, settled };
  }

  test.each(garbage)(
    'that is completed by hand with %s is delivered',
    async (_, result, encoding) => {
      const { handle, receiver, settled } = await heldWebhook();
      await world.operator.complete(handle, 'deliverWebhook', result, encoding);
      expect(await settled()).toBe('delivered');
      await workflowIs(handle, 'COMPLETED');
      expect(receiver.requests).toHaveLength(2);
      await receiver.close();
    },
    60_000,
  );

  test.each(['fail', 'cancel', 'terminate'])(
    'is given up after a %s',
    async (how) => {
      // Temporal fails by hand only an attempt that is under way.
      const { handle, receiver, settled } = await heldWebhook(how === 'fail' ? 0 : 500);
      await sendAll(handle);
      if (how === 'fail')
        await world.operator.fail(handle, 'deliverWebhook', { message: 'no', type: 'Op', details: '{no' });
      if (how === 'cancel') await handle.cancel();
      if (how === 'terminate') await handle.terminate('by an operator');
      expect(await settled()).toBe('failed');
      await receiver.close();
    },
    60_000,
  );
});
