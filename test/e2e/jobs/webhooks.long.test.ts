import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { answers, startFakeContainer } from '../../support/fakes/container.js';
import { startReceiver, type Receiver } from '../../support/fakes/receiver.js';
import {
  command,
  createEvaluation,
  createGraphJob,
  ended,
  pathOf,
  readJob,
  type Evaluation,
  type GraphJob,
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
beforeEach(() => {
  receiver.reset();
  on.world.container.behave(() => answers.reward(1));
});
afterAll(() => receiver.close());

const policy = { model: 'local', provider: 'local' };
const evaluate = (more: object) =>
  createEvaluation(on.service, { container_url: on.world.container.url, seeds: [0, 1], policy, ...more });

const settled = (id: string) =>
  until(`the webhook of ${id} is settled`, async () => {
    const { webhook } = await readJob<Evaluation | GraphJob>(on.service, id);
    return webhook?.settled_at != null && webhook;
  });

test('a completed job is reported, again after an error, signed and with the same id', async () => {
  receiver.answer(500, 302);
  const id = await evaluate({ webhook_url: `${receiver.url}/hook?token=1`, tags: ['t'], metadata: { run: 7 } });
  const { completed_at } = await ended<Evaluation>(on.service, id);
  expect(await settled(id)).toMatchObject({ origin: receiver.url, status: 'delivered', attempts: 3, last_error: null });

  const { secret } = await on.service.api.call<{ secret: string }>('GET', '/api/v1/webhooks/secret');
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  expect(receiver.requests).toHaveLength(3);
  for (const { path, headers, body } of receiver.requests) {
    expect(path).toBe('/hook?token=1');
    expect(headers['webhook-id']).toBe(receiver.requests[0]!.headers['webhook-id']);
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
    expect(headers['webhook-signature']).toBe(signature);
    expect(Math.abs(Date.now() / 1_000 - Number(headers['webhook-timestamp']))).toBeLessThan(300);
    expect(JSON.parse(body)).toMatchObject({
      type: 'evaluation.completed',
      timestamp: completed_at,
      data: { job_id: id, status: 'completed', tags: ['t'], metadata: { run: 7 }, mean_reward: 1, error: null },
    });
  }
});

test('during a rotation receivers with either secret verify, afterwards with the new one alone', async () => {
  const { api } = on.service;
  const { secret: old } = await api.call<{ secret: string }>('GET', '/api/v1/webhooks/secret');
  const rotate = (grace: number) =>
    api.call<{ secret: string }>('POST', '/api/v1/webhooks/secret/rotate', { grace_seconds: grace });
  /** By which secrets the newest delivery verifies, for Standard Webhooks' own library. */
  const delivered = async (...secrets: string[]) => {
    const id = await evaluate({ webhook_url: receiver.url });
    expect(await settled(id)).toMatchObject({ status: 'delivered' });
    const { headers, body } = receiver.requests.at(-1)!;
    const verifies = (secret: string, text: string) => {
      try {
        return Boolean(new Webhook(secret).verify(text, headers as Record<string, string>));
      } catch (error) {
        if (error instanceof WebhookVerificationError) return false;
        throw error;
      }
    };
    for (const secret of secrets) expect(verifies(secret, body.replace('completed', 'failed'))).toBe(false);
    return secrets.map((secret) => verifies(secret, body));
  };
  const { secret: next } = await rotate(3_600);
  expect(await delivered(old, next)).toEqual([true, true]);
  const { secret: last } = await rotate(3_600);
  expect(await delivered(old, next, last)).toEqual([false, true, true]);
  const { secret: leaked } = await rotate(0);
  expect(await delivered(next, last, leaked)).toEqual([false, false, true]);
});

test('an end by HTTP alone is reported; 410 ends the deliveries, and the job is unchanged', async () => {
  receiver.answer(410);
  const tasks = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'].map((id) => ({ id, input: { q: id } }));
  const id = await createGraphJob(on.service, {
    dataset: {
      tasks,
      initial_prompt: 'Answer.',
      verifier_config: { mode: 'exact' },
      gold_outputs: tasks.map((task) => ({ task_id: task.id, output: 'x' })),
    },
    policy_model: 'local',
    policy_provider: 'local',
    rollout_budget: 60,
    auto_start: false,
    webhook_url: receiver.url,
  });
  await command(on.service, id, 'cancel');
  expect(await settled(id)).toMatchObject({
    status: 'failed',
    attempts: 1,
    last_error: expect.stringContaining('410'),
  });
  expect(receiver.requests.map(({ body }) => JSON.parse(body) as object)).toMatchObject([
    { type: 'graph.cancelled', data: { graph_gen_job_id: id, job_id: id } },
  ]);
  expect((await readJob<GraphJob>(on.service, id)).status).toBe('cancelled');
});

test('a failed job is reported with its reason', async () => {
  const id = await evaluate({ container_url: 'http://127.0.0.1:1', webhook_url: receiver.url });
  const { error_details: details } = await ended<Evaluation>(on.service, id);
  await settled(id);
  expect(receiver.requests.map(({ body }) => JSON.parse(body) as object)).toMatchObject([
    { type: 'evaluation.failed', data: { job_id: id, code: details!.code, error: details!.message } },
  ]);
});

test('each end of an extended session is reported, as a message of its own', async () => {
  on.world.container.behave(() => answers.reward(0.5));
  const created = await on.service.api.call<{ session_id: string }>('POST', '/api/v1/online/sessions', {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: on.world.container.url,
      policy,
      proposer: policy,
      gepa: { population_size: 1, generations: 1, train_seeds: [0, 1, 2], evaluation: { seeds: [3, 4, 5] } },
    },
    webhook_url: receiver.url,
  });
  const id = created.session_id;
  await ended<Session>(on.service, id);
  expect(await settled(id)).toMatchObject({ status: 'delivered', attempts: 1 });
  receiver.answer(500);
  await on.service.api.call('POST', `${pathOf(id)}/extend`, { generations: 2 });
  await ended<Session>(on.service, id);
  expect(await settled(id)).toMatchObject({ status: 'delivered', attempts: 2 });
  const [first, failed, second] = receiver.requests.map(({ headers }) => headers['webhook-id']);
  expect(receiver.requests).toHaveLength(3);
  expect(failed).toBe(second);
  expect(second).not.toBe(first);
});
