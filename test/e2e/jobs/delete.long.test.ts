import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { answers, startFakeContainer } from '../../support/fakes/container.js';
import { startReceiver, type Receiver } from '../../support/fakes/receiver.js';
import { createEvaluation, ended, pathOf, type Evaluation } from '../../support/jobs-over-http.js';
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
  for (const workflowId of [`webhook-${id}`, `evaluation-${id}`])
    await until(
      `the history of ${workflowId} is gone`,
      () =>
        service.temporal.workflow
          .getHandle(workflowId)
          .describe()
          .then(
            () => false,
            (error: Error) => error.name === 'WorkflowNotFoundError',
          ),
      240,
      1_000,
    );
  expect((await service.workflow(other).describe()).status.name).toBe('COMPLETED');
}, 300_000);
