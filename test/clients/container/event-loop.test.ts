import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createServer } from 'node:http';
import { createContainerClient } from '../../../src/clients/container/client.js';
import { heldMs, maxHeldMs } from '../../support/held.js';
import { here, junk, parts, withJunk } from '../../support/junk.js';
import { listen, type Listening } from '../../support/loopback.js';
import { runs } from '../../support/runs.js';

const maxBytes = 10 * 1024 * 1024;
const { signal } = new AbortController();
const client = createContainerClient({ egress: { mode: 'dev', allowlist: [] }, retryBaseMs: 1 });
let container: Listening;
let answer: { status: number; body: Buffer };

beforeAll(async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
  container = await listen(server);
});
afterAll(async () => {
  await client.close();
  await container.close();
});

const reward = (info: object, more: object = {}) => ({ reward_info: { outcome_reward: 1, ...info }, ...more });
const answers = [
  here,
  reward({ details: here }),
  reward({ details: { feedback: here } }),
  reward({}, { feedback: here }),
  reward({}, { trace: here }),
  { reward: here },
  { rollout_id: here },
  { success_status: here },
  { success_status: 'failed', error: here },
];

test('no answer of a container holds the event loop', async () => {
  const request = {
    url: container.url,
    apiKey: 'key',
    rolloutId: 'rol_1',
    seed: 1,
    envName: null,
    envConfig: {},
    messages: null,
    policy: { provider: 'openai', model: 'm', params: {} },
    inferenceUrl: 'http://127.0.0.1:1',
    inferenceApiKey: 'rip_x',
    tryTimeoutMs: 20_000,
  };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...answers),
      fc.constantFrom(...Object.keys(junk)),
      fc.constantFrom(...parts),
      fc.constantFrom(200, 200, 400, 500),
      async (given, kind, part, status) => {
        answer = { status, body: Buffer.from(withJunk(given, kind, part * maxBytes)) };
        const ask = () => client.rollout({ ...request, deadline: performance.now() + 60_000 }, signal);
        expect(await heldMs(ask)).toBeLessThan(maxHeldMs);
      },
    ),
    { numRuns: runs(10, 60) },
  );
}, 300_000);
