import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createEvaluation, ended } from '../support/jobs-over-http.js';
import { startTestService, type TestService } from '../support/service.js';

// Two installations, each with its database, on one Temporal namespace.

let first: TestService;
beforeAll(async () => {
  first = await startTestService({ RATCHET_TASK_QUEUE: 'shared' });
}, 60_000);
afterAll(() => first.stop(), 60_000);

const rows = [
  { text: 'a', label: 'a' },
  { text: 'b', label: 'b' },
];
const begin = (service: TestService) =>
  createEvaluation(service, {
    env_name: undefined,
    dataset: { rows, input: 'text', expected: 'label' },
    scorer: { type: 'exact' },
    policy: { provider: 'local', model: 'local' },
    candidate: { messages: [{ role: 'system', content: 'Classify. Labels: a, b' }] },
  });

test('by a setting on one task queue: the jobs of both complete', async () => {
  const { TEMPORAL_NAMESPACE } = first.config.env;
  const second = await startTestService({ RATCHET_TASK_QUEUE: 'shared', TEMPORAL_NAMESPACE: TEMPORAL_NAMESPACE! });
  try {
    const jobs = await Promise.all(
      [first, second, first, second, first, second].map(async (on) => ({ on, id: await begin(on) })),
    );
    for (const { on, id } of jobs) expect(await ended(on, id)).toMatchObject({ status: 'completed' });
    expect(first.config.databaseUrl).not.toBe(second.config.databaseUrl);
  } finally {
    await second.stop();
  }
}, 240_000);
