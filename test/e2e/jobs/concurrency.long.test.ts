import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { answers, startFakeContainer, type Behaviour, type FakeContainer } from '../../support/fakes/container.js';
import { command, createEvaluation, ended, eventsOf, readJob, type Evaluation } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { startTestService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

// Concurrency falls while the container pushes back and recovers afterwards, by the container's
// ledger.

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

const max = 16;
const read = (id: string) => readJob<Evaluation>(service, id);
const create = (seeds: number, more: object = {}) =>
  createEvaluation(service, {
    container_url: container.url,
    policy: { provider: 'local', model: 'local' },
    seeds: range(0, seeds),
    max_concurrent: max,
    ...more,
  });
const slow = answers.after(60, answers.reward(1));
/** The highest concurrency among calls from the `from`-th on. */
const maxSince = (from: number, to?: number) => Math.max(...container.ledger.slice(from, to).map((e) => e.concurrency));

describe('a container that sheds load', () => {
  test('repeated 429 lowers the concurrency, which stays low over a restart and recovers', async () => {
    container.behave(() => slow);
    const id = await create(900);
    await until('all slots are used', () => container.maxConcurrency() === max);
    expect((await read(id)).concurrency).toMatchObject({ limit: max, max_concurrent: max, lowered_because: null });

    // Each call occupies the container as long as a rollout would.
    container.behave(() => answers.after(60, answers.busySeconds(0)));
    const low = await until('it is lowered', async () => {
      const { concurrency } = await read(id);
      return concurrency.limit <= 4 && concurrency;
    });
    expect(low).toMatchObject({ max_concurrent: max, lowered_because: 'The container answered 429' });
    const during = container.ledger.length;
    await until('tries go on', () => container.ledger.length > during + 12);
    expect(maxSince(during + 8)).toBeLessThanOrEqual(4);

    await service.restart();
    const before = container.ledger.length;
    await until('the next runner tries', () => container.ledger.length > before + 20);
    expect(maxSince(before)).toBeLessThanOrEqual(4);
    const after = container.ledger.length;
    container.behave(() => slow);
    await until('rollouts run again', () => container.ledger.length > after + 2);
    expect(maxSince(after, after + 3)).toBeLessThanOrEqual(4);

    await until('all slots are used again', () => maxSince(after) === max, 60);
    expect(await ended(service, id)).toMatchObject({
      status: 'completed',
      summary: { num_failed: 0 },
      concurrency: { limit: max, in_flight: 0, lowered_because: null },
    });
    expect(container.maxConcurrency()).toBe(max);
    const events = (await eventsOf(service, id)).filter(({ type }) => type === 'concurrency_lowered');
    expect(events.length).toBeGreaterThanOrEqual(2);
    expect(events.length).toBeLessThanOrEqual(20);
    expect(events[0]).toMatchObject({ data: { limit: 8, max_concurrent: max, because: 'The container answered 429' } });
  }, 120_000);

  test.each<[string, Behaviour, string]>([
    ['503', answers.busySeconds(0, 503), 'The container answered 503'],
    ['no answer in time', answers.hang(), 'The container did not answer in time'],
  ])('%s lowers it, too', async (_name, behaviour, because) => {
    container.behave((call) => (call.seed === 0 ? answers.reward(1) : behaviour));
    const id = await create(20, { rollout_timeout: 1, max_failure_rate: 1 });
    const { concurrency } = await until('it is lowered', async () => {
      const job = await read(id);
      return job.concurrency.limit < max && job;
    });
    expect(concurrency.lowered_because).toBe(because);
    expect(concurrency.in_flight).toBeGreaterThan(0);
    await command(service, id, 'cancel');
  });
});
