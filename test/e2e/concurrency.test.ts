import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { answers, startFakeContainer, type Behaviour, type FakeContainer } from '../support/fake-container.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// Fewer rollouts at once while the container pushes back, and more again when it does not: judged from the container's ledger.

let service: TestService;
let container: FakeContainer;
beforeAll(async () => {
  container = await startFakeContainer();
  service = await startTestService();
}, 60_000);
afterAll(async () => {
  await service.stop();
  await container.close();
}, 60_000);

interface Job {
  status: string;
  concurrency: { limit: number; max_concurrent: number; in_flight: number; lowered_because: string | null };
  summary: { num_failed: number };
}
const max = 16;
const base = '/api/v1/offline/jobs';
const read = (id: string) => service.api.call<Job>('GET', `${base}/${id}`);
const eventsOf = async (id: string) =>
  (
    await service.api.call<{ events: { type: string; data: Record<string, unknown> }[] }>(
      'GET',
      `${base}/${id}/events?since_seq=0&limit=1000`,
    )
  ).events.filter(({ type }) => type === 'concurrency_lowered');

async function create(seeds: number, more: object = {}): Promise<string> {
  const { job_id: id } = await service.api.call<{ job_id: string }>('POST', base, {
    container_url: container.url,
    policy: { provider: 'local', model: 'local' },
    app_id: 'a',
    env_name: 'e',
    seeds: Array.from({ length: seeds }, (_, i) => i),
    max_concurrent: max,
    ...more,
  });
  return id;
}
const slow = answers.after(60, answers.reward(1));
/** The most at once among calls from the `from`-th on. */
const mostSince = (from: number, to?: number) =>
  Math.max(...container.ledger.slice(from, to).map((e) => e.concurrency));

describe('a container that pushes back', () => {
  test('a storm of 429: the number in flight goes down, stays down over a restart, and comes back', async () => {
    container.behave(() => slow);
    const id = await create(900);
    await until('all slots are used', () => container.maxConcurrency() === max);
    expect((await read(id)).concurrency).toMatchObject({ limit: max, max_concurrent: max, lowered_because: null });

    // Each holds the container for as long as a rollout would.
    container.behave(() => answers.after(60, answers.busySeconds(0)));
    const low = await until('it is lowered', async () => {
      const { concurrency } = await read(id);
      return concurrency.limit <= 4 && concurrency;
    });
    expect(low).toMatchObject({ max_concurrent: max, lowered_because: 'The container answered 429' });
    const during = container.ledger.length;
    await until('tries go on', () => container.ledger.length > during + 12);
    expect(mostSince(during + 8)).toBeLessThanOrEqual(4);

    await service.restart();
    const before = container.ledger.length;
    await until('the next runner tries', () => container.ledger.length > before + 20);
    expect(mostSince(before)).toBeLessThanOrEqual(4);
    const after = container.ledger.length;
    container.behave(() => slow);
    await until('rollouts run again', () => container.ledger.length > after + 2);
    expect(mostSince(after, after + 3)).toBeLessThanOrEqual(4);

    await until('all slots are used again', () => mostSince(after) === max, 60);
    const job = await until(
      'it has completed',
      async () => {
        const seen = await read(id);
        return seen.status === 'completed' && seen;
      },
      60,
    );
    expect(job).toMatchObject({
      summary: { num_failed: 0 },
      concurrency: { limit: max, in_flight: 0, lowered_because: null },
    });
    expect(container.maxConcurrency()).toBe(max);
    const events = await eventsOf(id);
    expect(events.length).toBeGreaterThanOrEqual(2);
    expect(events.length).toBeLessThanOrEqual(20);
    expect(events[0]).toMatchObject({ data: { limit: 8, max_concurrent: max, because: 'The container answered 429' } });
  }, 120_000);

  test.each<[string, Behaviour, string]>([
    ['503', answers.busySeconds(0, 503), 'The container answered 503'],
    ['no answer in time', answers.hang(), 'The container did not answer in time'],
  ])('%s lowers it, too', async (_name, behaviour, because) => {
    container.behave(() => behaviour);
    const id = await create(20, { rollout_timeout: 1, max_failure_rate: 1 });
    const { concurrency } = await until('it is lowered', async () => {
      const job = await read(id);
      return job.concurrency.limit < max && job;
    });
    expect(concurrency.lowered_because).toBe(because);
    expect(concurrency.in_flight).toBeGreaterThan(0);
    await service.api.call('POST', `${base}/${id}/cancel`);
  });
});
