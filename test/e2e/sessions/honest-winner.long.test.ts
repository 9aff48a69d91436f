import { afterEach, describe, expect, test } from '@jest/globals';
import { createSession, ended, resultsOf, type Session } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { promptOf, startRulesWorld } from '../../support/worlds/rules.js';
import { serviceOfFile } from '../../support/service-of-file.js';

// A session's report on its winner: held-out seeds, an interval, and the noise.

const on = serviceOfFile(startRulesWorld);
afterEach(() => on.world.reset());

const heldout = range(500, 12);
const create = (evaluation: object, more: object = {}) =>
  createSession(on.service, {
    ...on.world.job,
    gepa: {
      population_size: 2,
      generations: 8,
      train_seeds: range(100, 40),
      evaluation: { seeds: range(0, 12), ...evaluation },
    },
    ...more,
  });

describe('a session with heldout_seeds', () => {
  test('compares baseline and winner on them after all decisions, and never before', async () => {
    const id = await create({ heldout_seeds: heldout });
    const seen = await ended(on.service, id);
    const { verdict, comparison } = await resultsOf(on.service, id);
    expect(verdict).toBe('better');
    expect(comparison).toMatchObject({ basis: 'heldout', seeds: 12, baseline_reward: 0, winner_reward: 1 });
    expect(comparison!.interval.low).toBeGreaterThan(0);
    const ledger = on.world.container.callsOf(id);
    const onHeldout = ledger.filter((entry) => heldout.includes(entry.seed));
    expect(onHeldout).toHaveLength(24);
    expect(ledger.slice(-24)).toEqual(onHeldout);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
  });

  test('reports a winner that is not significantly better on them', async () => {
    // The search can learn its own seeds; on the held-out seeds nothing helps or hurts.
    on.world.container.behave((call) =>
      on.world.answer(call, heldout.includes(call.seed) ? (call.seed % 2) / 2 : on.world.scoreOf(call)),
    );
    const id = await create({ heldout_seeds: heldout });
    expect(await ended(on.service, id)).toMatchObject({ best_reward: 1 });
    const { verdict, comparison } = await resultsOf(on.service, id);
    expect(verdict).toBe('inconclusive');
    expect(comparison).toMatchObject({ basis: 'heldout', difference: 0 });
  });

  test('reports a winner that is worse on them', async () => {
    on.world.container.behave((call) => {
      const isWinner = promptOf(call).includes('rule-');
      return on.world.answer(call, heldout.includes(call.seed) ? (isWinner ? 0.1 : 0.6) : on.world.scoreOf(call));
    });
    const id = await create({ heldout_seeds: heldout });
    await ended(on.service, id);
    expect((await resultsOf(on.service, id)).verdict).toBe('worse');
  });

  test('refuses seeds that the search uses', async () => {
    await expect(create({ heldout_seeds: [5, 500] })).rejects.toThrow(/heldout_seeds.*\b5\b/s);
  });
});

describe('a session', () => {
  test('without held-out seeds reports that its comparison uses the selection seeds', async () => {
    const id = await create({});
    await ended(on.service, id);
    expect((await resultsOf(on.service, id)).comparison).toMatchObject({
      basis: 'evaluation',
      seeds: 12,
      winner_reward: 1,
    });
  });

  test('shows the estimate of its most promising candidate, and the measured reward at the end', async () => {
    const { estimated_reward: reward, ...seen } = await ended<Session>(on.service, await create({}));
    expect(reward).toBe(seen.best_reward);
    expect(seen.estimated_candidate_id).toBe(seen.best_candidate!.candidate_id);
    expect(seen.estimated_reward_interval).toEqual(seen.best_reward_interval);
    expect(seen.best_reward_interval!.low).toBeLessThan(reward!);
  });

  test('runs each evaluation seed repeats times, and reports the deviation of equal rollouts', async () => {
    const times = new Map<string, number>();
    on.world.container.behave((call) => {
      const key = `${promptOf(call)} ${call.seed}`;
      const nth = times.get(key) ?? 0;
      times.set(key, nth + 1);
      return on.world.answer(call, 0.9 * on.world.scoreOf(call) + (nth % 2 ? 0.1 : 0));
    });
    const id = await create({ repeats: 2 });
    const seen = await ended<Session>(on.service, id);
    const evaluations = await on.service.query<{ candidate: string; n: number; seeds: number }>(
      `select candidate_id as candidate, count(*)::int as n, count(distinct seed)::int as seeds
           from rollouts where job_id = $1 and stage in ('baseline', 'evaluation') group by 1`,
      [id],
    );
    expect(evaluations.length).toBeGreaterThan(1);
    for (const { n, seeds } of evaluations) expect([n, seeds]).toEqual([24, 12]);
    const { noise_floor: noise } = await resultsOf(on.service, id);
    // Pairs 0.1 apart have a standard deviation of 0.07; third rollouts reduce it a little.
    expect(noise!.rollout_sd).toBeGreaterThan(0.05);
    expect(noise!.rollout_sd).toBeLessThan(0.08);
    expect(noise!.reward_se).toBeCloseTo(noise!.rollout_sd / Math.sqrt(24), 10);
    expect(seen.best_reward).toBeGreaterThan(0.5);
  });

  test('ends at target_reward, and after patience generations without an accepted proposal', async () => {
    const early = await ended<Session>(on.service, await create({}, { target_reward: 0.5 }));
    expect(early).toMatchObject({ status: 'completed', stopped_by: 'target_reward' });
    expect(early.best_reward).toBeGreaterThanOrEqual(0.5);

    on.world.container.behave((call) => on.world.answer(call, 0.5));
    const idle = await create({}, { patience: 3 });
    expect(await ended(on.service, idle)).toMatchObject({
      status: 'completed',
      stopped_by: 'patience',
      best_reward: 0.5,
    });
    const { history } = await resultsOf(on.service, idle);
    expect(history).toHaveLength(4);
    expect((await resultsOf(on.service, idle)).verdict).toBe('inconclusive');
  });
});
