import { describe, expect, test } from '@jest/globals';
import { createSession, ended, eventsOf, readJob, type Session } from '../../support/jobs-over-http.js';
import { pricedPolicy, startPricedWorld } from '../../support/worlds/priced.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';

// By the provider's ledger, cost never exceeds budget.max_cost_usd, with 16 rollouts at once.

const on = serviceOfFile(startPricedWorld);
const create = (maxCostUsd: number, more: object = {}) =>
  createSession(on.service, {
    container_url: on.world.container.url,
    policy: pricedPolicy,
    max_concurrent: 16,
    gepa: { population_size: 4, generations: 100, minibatch_size: 4, evaluation: { seeds: range(0, 24) } },
    budget: { max_cost_usd: maxCostUsd },
    ...more,
  });
async function endedAndCounted(id: string): Promise<Session> {
  await ended(on.service, id);
  return until('calls under way are counted', async () => {
    const session = await readJob<Session>(on.service, id);
    return session.budget.reserved_usd === 0 && session;
  });
}

describe('budget.max_cost_usd', () => {
  test('is never exceeded, ends the session with its best, and a refused rollout is not a failed rollout', async () => {
    const before = on.world.answeredUsd();
    const maxUsd = 0.04;
    const id = await create(maxUsd);
    const session = await endedAndCounted(id);
    expect(session).toMatchObject({ status: 'completed', stopped_by: 'max_cost_usd', error: null });
    expect(session.best_reward).toBeGreaterThan(0);
    const answered = on.world.answeredUsd() - before;
    expect(answered).toBeLessThanOrEqual(maxUsd);
    expect(answered).toBeGreaterThan(0.75 * maxUsd);
    expect(session.budget.spent_usd).toBeCloseTo(answered, 9);
    expect(session.usage.total_cost_usd).toBeCloseTo(answered, 9);
    expect(on.world.container.maxConcurrency()).toBe(16);

    const rows = await on.service.query<{ status: string; refused: boolean }>(
      `select r.status, exists (select 1 from cost_reservations c where c.rollout_id = r.id and c.refused) as refused
         from rollouts r where r.job_id = $1`,
      [id],
    );
    expect(rows.filter(({ status }) => status === 'failed')).toEqual([]);
    for (const { status, refused } of rows) if (refused) expect(status).toBe('cancelled');
    const events = await eventsOf(on.service, id);
    const warnings = events.filter(({ type }) => type === 'budget_warning');
    expect(warnings).toHaveLength(1);
    const { cost_usd } = warnings[0]!.data as { cost_usd: number };
    expect(cost_usd).toBeGreaterThanOrEqual(0.8 * maxUsd);
    expect(events.at(-1)).toMatchObject({ type: 'job_complete', data: { stopped_by: 'max_cost_usd' } });
  });

  test('fails the session with a message when it does not cover the baseline', async () => {
    const before = on.world.answeredUsd();
    const id = await create(0.002);
    expect(await endedAndCounted(id)).toMatchObject({
      status: 'failed',
      stopped_by: 'max_cost_usd',
      error: expect.stringContaining('budget.max_cost_usd'),
      error_details: { code: 'max_cost_usd' },
    });
    expect(on.world.answeredUsd() - before).toBeLessThanOrEqual(0.002);
  });

  test('ends the session with the baseline when it does not cover a proposal', async () => {
    const before = on.world.answeredUsd();
    // The baseline's calls are small; a proposal may be 8,192 tokens long.
    const id = await create(0.005, {
      policy: { ...pricedPolicy, max_tokens: 50 },
      proposer: { ...pricedPolicy, max_tokens: 9_000 },
    });
    expect(await endedAndCounted(id)).toMatchObject({
      status: 'completed',
      stopped_by: 'max_cost_usd',
      best_reward: 0,
    });
    expect(on.world.answeredUsd() - before).toBeLessThanOrEqual(0.005);
  });
});
