import { expect, test } from '@jest/globals';
import { pricedPolicy, startPricedWorld, type PricedModel } from '../support/worlds/priced.js';
import { createSession, ended, settledSpend, type Session } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { until } from '../support/until.js';
import { treeOfFile } from '../harness/worlds/processes.js';

// budget.max_cost_usd is not exceeded across kill -9 of the whole `npm start` tree, with 16 model
// calls in flight for each of three sessions, of GEPA and of MIPRO. By the provider's ledger, which
// includes answers to killed callers. Killed calls do not hold their reservations for ever: two
// sessions spend the rest, and one ends with its budget open.

const on = treeOfFile(() => startPricedWorld(100));

interface Kind {
  /** Used by this session only, so that its ledger is separate. */
  model: PricedModel;
  maxUsd: number;
  /** Share of the budget at which the tree is killed. */
  killedAt: number;
  stoppedBy: string;
  search: object;
}
const evaluation = { seeds: range(0, 24) };
const kinds: Kind[] = [
  {
    model: 'gpt-4.1-nano',
    maxUsd: 0.03,
    killedAt: 0.3,
    stoppedBy: 'max_cost_usd',
    search: { algorithm: 'mipro', mipro: { num_candidates: 10, num_trials: 100, minibatch_size: 8, evaluation } },
  },
  {
    model: 'gpt-4o-mini',
    maxUsd: 0.04,
    killedAt: 0.4,
    stoppedBy: 'max_cost_usd',
    search: {
      algorithm: 'gepa',
      gepa: { population_size: 4, generations: 100, minibatch_size: 4, evaluation },
    },
  },
  {
    model: 'gpt-4.1-mini',
    maxUsd: 1,
    killedAt: 0.01,
    stoppedBy: 'generations',
    search: { algorithm: 'gepa', gepa: { population_size: 4, generations: 2, minibatch_size: 4, evaluation } },
  },
];

const create = ({ model, maxUsd, search }: Kind) =>
  createSession(on.tree, {
    ...search,
    container_url: on.world.container.url,
    policy: { ...pricedPolicy, model },
    max_concurrent: 16,
    budget: { max_cost_usd: maxUsd },
  });

test('never overspends, and settles the reservations of killed calls', async () => {
  const ids = await Promise.all(kinds.map(create));
  for (const { model, maxUsd, killedAt } of kinds) {
    const part = killedAt * maxUsd;
    await until(`${part} dollars of ${model} are answered`, () => on.world.answeredUsd(model) >= part, 120);
    await on.tree.kill();
    await on.tree.start();
  }
  for (const [index, { model, maxUsd, stoppedBy }] of kinds.entries()) {
    const id = ids[index]!;
    const session = await ended<Session>(on.tree, id, 180);
    expect(session).toMatchObject({ status: 'completed', stopped_by: stoppedBy });
    expect(session.best_reward).not.toBeNull();
    const spent = await settledSpend(on.tree, id);
    const answered = on.world.answeredUsd(model);
    expect(answered).toBeLessThanOrEqual(maxUsd);
    expect(spent).toBeLessThanOrEqual(maxUsd);
    // Lost calls count in full: the recorded cost never falls below the answers' cost.
    expect(spent).toBeGreaterThanOrEqual(answered - 1e-9);
    // Each kill loses at most 16 calls of a thousand tokens.
    if (stoppedBy === 'max_cost_usd') expect(answered).toBeGreaterThan(0.5 * maxUsd);
  }
}, 400_000);
