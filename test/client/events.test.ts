import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Event, EvaluationHandle } from '../../src/client/index.js';
import { isTerminalEvent } from '../../src/contracts/events/schema.js';
import { startFakeContainer, type FakeContainer } from '../support/fakes/container.js';
import { answers } from '../support/fakes/container-answers.js';
import { runs } from '../support/runs.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startFaultProxy, type Fault, type FaultProxy } from './fault-proxy.js';
import { clientOf, evaluationOf, policy } from './world.js';

// The event iterator yields every event once and in order, whatever happens to its connections.

const on = serviceOfFile();
let proxy: FaultProxy;
let container: FakeContainer;
let ended: EvaluationHandle;
let all: Event[];

beforeAll(async () => {
  proxy = await startFaultProxy(() => on.service.url);
  container = await startFakeContainer();
  const created = await clientOf(on.service).createEvaluation(evaluationOf(120));
  await created.wait({ onEvent: (event) => expect(event.job_id).toBe(created.id) });
  ended = clientOf(on.service, { url: proxy.url, maxRetries: 8 }).evaluations.handle(created.id);
  const { events } = await clientOf(on.service).request('listEvaluationEvents', {
    path: { job_id: created.id },
    query: { limit: 1_000 },
  });
  all = events as Event[];
  expect(all.length).toBeGreaterThan(120);
}, 60_000);
afterAll(async () => {
  await proxy.close();
  await container.close();
});

const containerOf = (seeds: number) => ({
  container_url: container.url,
  app_id: 'test',
  env_name: 'test',
  policy,
  seeds: { from: 0, to: seeds - 1 },
  max_concurrent: 1,
});

async function collect(events: AsyncIterable<Event>): Promise<Event[]> {
  const seen: Event[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const faults = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 60_000 }).map((cut): Fault => ({ cut })) },
    { weight: 1, arbitrary: fc.constantFrom<Fault>('refuse', 'reset', 'lose') },
  ),
  { maxLength: 5 },
);

test('yields every event once and in order across cuts, losses and refusals', async () => {
  await fc.assert(
    fc.asyncProperty(faults, fc.nat(all.length), async (planned, since) => {
      proxy.plan(planned);
      expect(await collect(ended.events({ since }))).toEqual(all.slice(since));
    }),
    { numRuns: runs(6, 40), examples: [[[{ cut: 20_000 }, 'refuse', { cut: 0 }, 'reset', { cut: 9_000 }], 0]] },
  );
}, 300_000);

test('leaves a connection that is silent', async () => {
  proxy.plan([{ stall: 0 }, { stall: 5_000 }]);
  proxy.requests.length = 0;
  expect(await collect(ended.events({ timeoutMs: 500 }))).toEqual(all);
  const positions = proxy.requests.map(({ headers }) => Number(headers['last-event-id']));
  expect(positions.slice(0, 2)).toEqual([0, 0]);
  expect(positions[2]).toBeGreaterThan(0);
});

test('goes on after a restart of the service', async () => {
  let held: (() => void)[] = [];
  container.behave((call) =>
    call.seed === 0
      ? answers.reward(1)
      : async (received, response) => {
          await new Promise<void>((resolve) => held.push(resolve));
          await answers.reward(1)(received, response);
        },
  );
  const client = clientOf(on.service, { url: proxy.url, maxRetries: 8 });
  const seen: Event[] = [];
  const waiting = client.createEvaluation(containerOf(3)).wait({ onEvent: (event) => void seen.push(event) });
  await until('the first seed is seen', () => seen.length > 0);
  await on.service.restart();
  const releasing = setInterval(() => {
    for (const release of held) release();
    held = [];
  }, 50);
  try {
    expect(await waiting).toMatchObject({ status: 'completed', results: { mean_reward: 1 } });
  } finally {
    clearInterval(releasing);
  }
  expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, at) => at + 1));
  expect(seen.filter(({ type }) => isTerminalEvent(type))).toHaveLength(1);
});

test('closes the connection when the loop is left, and when the signal aborts', async () => {
  container.behave((call) => (call.seed === 0 ? answers.reward(1) : () => new Promise(() => {})));
  const client = clientOf(on.service, { url: proxy.url });
  const job = await client.createEvaluation(containerOf(2));
  for await (const event of job.events()) {
    if (event.type === 'eval.policy.seed.completed') expect(event.data.reward).toBe(1);
    break;
  }
  await until('the connection is closed', () => proxy.open() === 0);

  const reason = new Error('enough');
  const leaving = new AbortController();
  const options = { signal: leaving.signal, onEvent: () => leaving.abort(reason) };
  await expect(job.wait(options)).rejects.toBe(reason);
  await until('the connection is closed', () => proxy.open() === 0);
  await expect(job.wait({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await job.cancel();
  expect(await job.wait()).toMatchObject({ status: 'cancelled' });
});
