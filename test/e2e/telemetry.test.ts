import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { ask, built, deploy, saying } from '../support/deployments-over-http.js';
import { answers, startFakeContainer } from '../support/fakes/container.js';
import { createEvaluation, ended } from '../support/jobs-over-http.js';
import { startTestService, type TestService } from '../support/service.js';

// What Temporal's operators and Prometheus see of a job and of a deployment.

const local = { provider: 'local', model: 'local' };
let service: TestService;
let metricsUrl: string;
beforeAll(async () => {
  const port = await firstFree();
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  service = await startTestService({ RATCHET_METRICS_PORT: String(port) });
}, 60_000);
afterAll(() => service.stop(), 60_000);

const described = async (id: string) => {
  const { memo, searchAttributes } = await service.workflow(id).describe();
  return { memo, attributes: searchAttributes };
};
const metrics = async () => (await fetch(metricsUrl)).text();

test('an ended job has its result in its memo, as its result and in search attributes', async () => {
  const box = await startFakeContainer({ behave: ({ seed }) => answers.reward(seed) });
  const labels = { name: 'nightly', tags: ['a'], metadata: { team: 'x' } };
  const id = await createEvaluation(service, { container_url: box.url, seeds: [0, 1], policy: local, ...labels });
  expect(await ended(service, id)).toMatchObject({ status: 'completed' });
  const summary = { name: 'nightly', verdict: null, bestReward: 0.5, rollouts: 2, costUsd: null };
  expect(await service.workflow(id).result()).toEqual(summary);
  const { memo, attributes } = await described(id);
  // A memo has no null.
  expect(memo).toEqual({ ...labels, rollouts: 2, bestReward: 0.5 });
  expect(attributes).toMatchObject({
    RatchetName: ['nightly'],
    RatchetTags: ['a'],
    RatchetStatus: ['completed'],
    RatchetRollouts: [2],
    RatchetBestReward: [0.5],
    RatchetStopReason: ['completed'],
  });
  await box.close();
});

test('a deployment has its name in its memo, and its end and its calls are counted', async () => {
  const id = await deploy(service, { name: 'greeter', source: saying('Be brief.', local) });
  expect((await built(service, id)).status).toBe('ready');
  await service.workflow(id).result();
  const { memo, attributes } = await described(id);
  expect(memo).toMatchObject({ name: 'greeter' });
  expect(attributes).toMatchObject({ RatchetName: ['greeter'], RatchetStatus: ['completed'], RatchetRollouts: [0] });
  const question = { messages: [{ role: 'user', content: 'Hello' }] };
  expect((await ask(service, 'greeter', question)).status).toBe(200);
  const text = await metrics();
  expect(text).toContain('ratchet_jobs_ended_total{kind="deployment",status="completed"} 1');
  expect(text).toContain(
    'ratchet_model_calls_total{provider="local",model="local",purpose="deployment",outcome="ok"} 1',
  );
  expect(text).toMatch(/ratchet_model_cost_usd_total\{provider="local",model="local"\} 0\n/);
});
