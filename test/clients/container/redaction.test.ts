import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { createContainerClient } from '../../../src/clients/container/client.js';
import { answers, startFakeContainer, type Behaviour, type FakeContainer } from '../../support/fakes/container.js';

const apiKey = 'canary-of-the-container';
const inferenceApiKey = 'rip_b3Jn.canary-of-the-rollout';
const signal = new AbortController().signal;
const client = createContainerClient({ egress: { mode: 'dev', allowlist: [] }, retryBaseMs: 5 });
let container: FakeContainer;

beforeEach(async () => {
  container = await startFakeContainer();
});
afterEach(() => container.close());
afterAll(() => client.close());

const rollout = (behaviour: Behaviour) => {
  container.behave(() => behaviour);
  return client.rollout(
    {
      url: container.url,
      apiKey,
      inferenceApiKey,
      rolloutId: 'rol_1',
      seed: 1,
      envName: null,
      envConfig: {},
      policy: { provider: 'openai', model: 'm', params: {} },
      inferenceUrl: 'http://127.0.0.1:1',
      messages: null,
      tryTimeoutMs: 5_000,
      deadline: performance.now() + 20_000,
    },
    signal,
  );
};

const both = `${apiKey} ${Buffer.from(inferenceApiKey).toString('base64')}`;

test('hides both keys in feedback and details, nested and as names', async () => {
  const details = { feedback: both, list: [{ [apiKey]: [inferenceApiKey] }], expected: 'x' };
  const outcome = await rollout(answers.json(() => ({ reward_info: { outcome_reward: 0.5, details } })));
  expect(outcome).toMatchObject({
    kind: 'reward',
    reward: 0.5,
    feedback: expect.stringMatching(/^\*\*\* \*\*\*=*$/) as unknown,
    details: { list: [{ '***': ['***'] }], expected: 'x' },
  });
});

test.each([
  ['an error', answers.status(500, both)],
  ['a refused key', answers.status(401, both)],
  ['a rejection', answers.status(422, JSON.stringify({ detail: both }))],
  ['a body that is not JSON', answers.raw(`<p>${both}</p>`)],
  ['a failed status', answers.failedStatus(both)],
  ['the id of another rollout', answers.json(() => ({ rollout_id: both, reward: 1 }))],
  ['a wrong reward', answers.json(() => ({ reward: both }))],
  ['a header', answers.raw('{}', 200, { 'content-encoding': both })],
])('hides both keys in %s', async (_, behaviour) => {
  const { message } = (await rollout(behaviour)) as { message: string };
  expect(message).toContain('***');
  expect(message).not.toMatch(/canary|Y2FuYX/);
});

test('hides the key in what health says', async () => {
  await container.close();
  container = await startFakeContainer({ health: answers.status(401, JSON.stringify({ error: `bad ${apiKey}` })) });
  await expect(client.health(container.url, apiKey, signal)).rejects.toMatchObject({
    code: 'container_refused_key',
    message: expect.stringContaining('bad ***') as unknown,
  });
});
