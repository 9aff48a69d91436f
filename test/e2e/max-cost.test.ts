import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pricedPolicy, startPricedWorld, type PricedWorld } from '../support/priced-world.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// budget.max_cost_usd: judged by the provider's own ledger. What was answered never costs more, with 16 rollouts at once.

let world: PricedWorld;
let service: TestService;
beforeAll(async () => {
  world = await startPricedWorld();
  service = await startTestService(world.env);
}, 60_000);
afterAll(async () => {
  await service.stop();
  await world.close();
}, 60_000);

interface Session {
  status: string;
  stopped_by: string | null;
  best_reward: number | null;
  error: string | null;
  error_details: { code: string } | null;
  budget: { max_cost_usd: number; spent_usd: number; reserved_usd: number };
  usage: { total_cost_usd: number };
}
const base = '/api/v1/online/sessions';

async function create(maxCostUsd: number, more: Record<string, unknown> = {}): Promise<string> {
  const { session_id: id } = await service.api.call<{ session_id: string }>('POST', base, {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: world.container.url,
      policy: pricedPolicy,
      max_concurrent: 16,
      gepa: {
        population_size: 4,
        generations: 100,
        minibatch_size: 4,
        evaluation: { seeds: Array.from({ length: 24 }, (_, i) => i) },
      },
      budget: { max_cost_usd: maxCostUsd },
      ...more,
    },
  });
  return id;
}
const read = (id: string) => service.api.call<Session>('GET', `${base}/${id}`);
const ended = (id: string) =>
  until(
    `${id} has ended and its calls are counted`,
    async () => {
      const session = await read(id);
      return session.status !== 'running' && session.budget.reserved_usd === 0 && session;
    },
    60,
  );

describe('budget.max_cost_usd', () => {
  test('is never exceeded, ends the session with its best, and a refused rollout is nobody’s failure', async () => {
    const before = world.answeredUsd();
    const id = await create(0.08);
    const session = await ended(id);
    expect(session).toMatchObject({ status: 'completed', stopped_by: 'max_cost_usd', error: null });
    expect(session.best_reward).toBeGreaterThan(0);
    const answered = world.answeredUsd() - before;
    expect(answered).toBeLessThanOrEqual(0.08);
    expect(answered).toBeGreaterThan(0.06);
    expect(session.budget.spent_usd).toBeCloseTo(answered, 9);
    expect(session.usage.total_cost_usd).toBeCloseTo(answered, 9);
    expect(world.container.maxConcurrency()).toBe(16);

    const rows = await service.db.org('default', (tx) =>
      tx.query<{ status: string; refused: boolean }>(
        `select r.status, exists (select 1 from cost_reservations c where c.rollout_id = r.id and c.refused) as refused
           from rollouts r where r.job_id = $1`,
        [id],
      ),
    );
    expect(rows.filter(({ status }) => status === 'failed')).toEqual([]);
    for (const { status, refused } of rows) if (refused) expect(status).toBe('cancelled');
    const { events } = await service.api.call<{ events: { type: string; data: Record<string, number> }[] }>(
      'GET',
      `${base}/${id}/events?since_seq=0&limit=1000`,
    );
    const warnings = events.filter(({ type }) => type === 'budget_warning');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]!.data['cost_usd']).toBeGreaterThanOrEqual(0.8 * 0.08);
    expect(events.at(-1)).toMatchObject({ type: 'job_complete', data: { stopped_by: 'max_cost_usd' } });
  });

  test('that does not reach for the baseline fails the session, and says so', async () => {
    const before = world.answeredUsd();
    const id = await create(0.002);
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      stopped_by: 'max_cost_usd',
      error: expect.stringMatching(/budget\.max_cost_usd was used up before the baseline was evaluated/),
      error_details: { code: 'max_cost_usd' },
    });
    expect(world.answeredUsd() - before).toBeLessThanOrEqual(0.002);
  });

  test('that only a proposal does not fit into ends the session with the baseline', async () => {
    const before = world.answeredUsd();
    // The baseline's calls are small; a proposal may be 8,192 tokens long.
    const id = await create(0.005, {
      policy: { ...pricedPolicy, max_tokens: 50 },
      proposer: { ...pricedPolicy, max_tokens: 9_000 },
    });
    expect(await ended(id)).toMatchObject({ status: 'completed', stopped_by: 'max_cost_usd', best_reward: 0 });
    expect(world.answeredUsd() - before).toBeLessThanOrEqual(0.005);
  });
});
