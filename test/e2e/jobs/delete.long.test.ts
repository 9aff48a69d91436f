import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { answers, startFakeContainer } from '../../support/fakes/container.js';
import { startReceiver, type Receiver } from '../../support/fakes/receiver.js';
import {
  createEvaluation,
  createSession,
  ended,
  pathOf,
  type Evaluation,
  type Session,
} from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';

const on = serviceOfFile(async () => {
  const container = await startFakeContainer({ behave: () => answers.reward(1) });
  return { container, env: {}, close: () => container.close() };
});
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

/** Waits until Temporal has no history of a workflow. */
const gone = (workflowId: string) =>
  until(
    `the history of ${workflowId} is gone`,
    () =>
      on.service.temporal.workflow
        .getHandle(workflowId)
        .describe()
        .then(
          () => false,
          (error: Error) => error.name === 'WorkflowNotFoundError',
        ),
    240,
    1_000,
  );

// Temporal deletes a history about a minute after its workflow has closed.
test('the histories of a deleted job and of its webhook are deleted in Temporal', async () => {
  const { service, world } = on;
  receiver.answer(...Array.from({ length: 9 }, () => 500));
  const scored = { container_url: world.container.url, seeds: [0], policy: { model: 'local', provider: 'local' } };
  const id = await createEvaluation(service, { ...scored, webhook_url: receiver.url });
  const other = await createEvaluation(service, scored);
  for (const job of [id, other]) await ended<Evaluation>(service, job);
  await until('an attempt is made', () => Promise.resolve(receiver.requests.length > 0));
  const headers = { authorization: `Bearer ${service.apiKey}` };
  expect((await fetch(`${service.url}${pathOf(id)}`, { method: 'DELETE', headers })).status).toBe(204);
  await gone(`webhook-${id}`);
  await gone(`evaluation-${id}`);
  expect((await service.workflow(other).describe()).status.name).toBe('COMPLETED');
}, 300_000);

test('so are the histories of all runs of an extended session', async () => {
  const { service, world } = on;
  world.container.behave(() => answers.reward(0.5));
  const policy = { model: 'local', provider: 'local' };
  const id = await createSession(service, {
    container_url: world.container.url,
    policy,
    proposer: policy,
    gepa: { population_size: 1, generations: 1, train_seeds: [0, 1, 2], evaluation: { seeds: [3, 4, 5] } },
  });
  await ended<Session>(service, id);
  await service.api.call('POST', `${pathOf(id)}/extend`, { generations: 2 });
  await ended<Session>(service, id);
  const headers = { authorization: `Bearer ${service.apiKey}` };
  expect((await fetch(`${service.url}${pathOf(id)}`, { method: 'DELETE', headers })).status).toBe(204);
  await gone(`session-${id}`);
  await gone(`session-${id}-2`);
}, 600_000);
