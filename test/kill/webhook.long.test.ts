import { beforeAll, expect, test } from '@jest/globals';
import { answers, startFakeContainer } from '../support/fakes/container.js';
import { startReceiver } from '../support/fakes/receiver.js';
import { createEvaluation, readJob, type Evaluation } from '../support/jobs-over-http.js';
import { until } from '../support/until.js';
import { workerOfFile } from '../harness/worlds/processes.js';

// kill -9 of the worker while the receiver holds the first attempt: another worker sends the same
// message again.

const on = workerOfFile(async () => {
  const container = await startFakeContainer({ behave: () => answers.reward(1) });
  const receiver = await startReceiver();
  return {
    container,
    receiver,
    env: {},
    async close() {
      await receiver.close();
      await container.close();
    },
  };
});
beforeAll(() => on.worker.start(), 60_000);

test('a webhook survives the death of its worker', async () => {
  const { container, receiver } = on.world;
  receiver.answer(0);
  const policy = { model: 'local', provider: 'local' };
  const scored = { container_url: container.url, seeds: [0], policy, webhook_url: receiver.url };
  const id = await createEvaluation(on.service, scored);
  await until('the first attempt is in flight', () => Promise.resolve(receiver.requests.length === 1));
  await on.worker.kill();
  await on.worker.start();
  const webhook = await until(
    'the webhook is delivered',
    async () => {
      const { webhook } = await readJob<Evaluation>(on.service, id);
      return webhook?.status === 'delivered' && webhook;
    },
    120,
  );
  // The attempt that died with the worker left no record.
  expect(webhook).toMatchObject({ attempts: 1, last_error: null });
  expect(receiver.requests).toHaveLength(2);
  const [first, second] = receiver.requests;
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  expect(second!.body).toBe(first!.body);
}, 180_000);
