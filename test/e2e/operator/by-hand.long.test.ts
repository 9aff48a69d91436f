import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { noFigures } from '../../../src/core/jobs/progress.js';
import { answers } from '../../support/fakes/container.js';
import { payloadOf } from '../../support/operator.js';
import { until } from '../../support/until.js';
import { workflowIs } from '../../support/workflow-is.js';
import { operatorWorldOfFile } from './held-evaluation.js';

// Activities that an operator completes and workflows that one starts are never believed: a job
// goes on from its record, and a workflow without a job fails.

const world = operatorWorldOfFile();
let taskQueue: string;
beforeAll(async () => {
  const [installation] = await world.service.query<{ queue: string }>('select task_queue as queue from installation');
  taskQueue = installation!.queue;
}, 60_000);

const completed = { kind: 'ended', end: { kind: 'completed', stoppedBy: 'completed' } };
const progress = { figures: { ...noFigures, rolloutsCompleted: 4 }, details: 'done', next: 'the end', takes: [] };

test.each([
  [
    'a result that says it is complete',
    { rest: completed, progress, state: { status: 'running', pauses: 0 } },
    undefined,
  ],
  [
    'one that says it was stopped',
    { rest: { kind: 'ended', end: { kind: 'completed', stoppedBy: 'reward_stop' } } },
    undefined,
  ],
  [
    'a state that is not on record',
    { rest: { kind: 'again' }, progress, state: { status: 'paused', pauses: 7 } },
    undefined,
  ],
  [
    'a wait for live traffic',
    { rest: { kind: 'rewards' }, progress, state: { status: 'running', pauses: 0 } },
    undefined,
  ],
  ['no result', undefined, undefined],
  ['garbage', { done: true }, undefined],
  ['null', null, undefined],
  ['a foreign encoding', {}, 'json/protobuf'],
])(
  'work that is completed by hand with %s goes on',
  async (_, result, encoding) => {
    const { handle, shows, calls, open } = await world.evaluation();
    await world.operator.complete(handle, 'drive', result, encoding);
    open();
    await shows('completed');
    expect(new Set(calls()).size).toBe(4);
    expect(calls().length).toBeLessThanOrEqual(6);
  },
  90_000,
);

test('work that is failed by hand fails the job with the name', async () => {
  const { id, handle, shows, open } = await world.evaluation();
  await world.operator.fail(handle, 'drive', { message: 'operator says no', type: 'Op', details: '{no' });
  await shows('failed');
  expect(await world.errorOf(id)).toBe('Op');
  open();
});

const none = payloadOf('[]');
test.each([
  ['nothing', []],
  ['a list', [none]],
  ['null', [payloadOf('null')]],
  ['a list of null', [payloadOf('[null]')]],
  ['undecodable JSON', [payloadOf('{no')]],
  ['a foreign encoding', [payloadOf('{}', 'json/protobuf')]],
  ['ids that are none', [payloadOf('{"orgId":{},"jobId":7}')]],
])(
  'a workflow that is started by hand with %s fails',
  async (_, payloads) => {
    const ofJobs = ['evaluationWorkflow', 'deploymentWorkflow', 'webhookWorkflow'];
    const types = [...ofJobs, 'judgeWorkflow', 'scheduledRunWorkflow', 'noSuchWorkflow'];
    const started = types.map(async (type) => {
      const id = `by-hand-${randomUUID()}`;
      await world.operator.start(id, type, taskQueue, payloads);
      await workflowIs(world.service.temporal.workflow.getHandle(id), 'FAILED');
    });
    await Promise.all(started);
  },
  90_000,
);

test.each([
  ['evaluationWorkflow', { carried: { inbox: 7 } }],
  ['evaluationWorkflow', { gate: {} }],
  ['deploymentWorkflow', {}],
  ['webhookWorkflow', {}],
])('%s of an unknown job, with %j, fails', async (type, more) => {
  const id = `by-hand-${randomUUID()}`;
  const input = payloadOf(JSON.stringify({ orgId: 'default', jobId: 'evl_0', ...more }));
  await world.operator.start(id, type, taskQueue, [input]);
  await workflowIs(world.service.temporal.workflow.getHandle(id), 'FAILED');
});

test('a second workflow of a job fails, and the job goes on', async () => {
  const { id, shows, open, calls } = await world.evaluation();
  const other = `by-hand-${randomUUID()}`;
  await world.operator.start(other, 'evaluationWorkflow', taskQueue, [
    payloadOf(JSON.stringify({ orgId: 'default', jobId: id })),
  ]);
  const handle = world.service.temporal.workflow.getHandle(other);
  await handle.signal('pause');
  await workflowIs(handle, 'FAILED');
  await shows('running');
  open();
  await shows('completed');
  expect(calls()).toHaveLength(4);
}, 90_000);

test('a paused activity stands still until it is unpaused', async () => {
  const { handle, shows, calls, open } = await world.evaluation(400);
  await world.operator.pause(handle, 'drive');
  world.world.container.behave(() => async (call, response) => {
    await delay(50);
    await answers.reward(1)(call, response);
  });
  open();
  await until('the attempt has ended', async () => {
    const activity = await world.operator.pending(handle, 'drive');
    return activity?.paused && activity.lastFailure;
  });
  expect(calls().length).toBeLessThan(400);
  await shows('running');
  world.world.container.behave(() => answers.reward(1));
  await world.operator.unpause(handle, 'drive');
  await shows('completed');
  expect(calls()).toHaveLength(400);
}, 90_000);
