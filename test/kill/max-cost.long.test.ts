import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from '../../src/cli/api.js';
import { pricedPolicy, startPricedWorld, type PricedModel, type PricedWorld } from '../support/worlds/priced.js';
import { range } from '../support/range.js';
import { startTree, type Tree } from '../support/servers/tree.js';
import { until } from '../support/until.js';

// budget.max_cost_usd is not exceeded across kill -9 of the whole `npm start` tree, with 16 model
// calls in flight for each of two sessions, of GEPA and of MIPRO. By the provider's ledger, which
// includes answers to killed callers. Killed calls do not hold their reservations for ever: the
// sessions spend the rest and complete.

const apiKey = 'kill-test-key-0123456789';
const base = '/api/v1/online/sessions';
let folder: string;
let world: PricedWorld;
let tree: Tree | undefined;
let api: Api;

async function start(): Promise<void> {
  tree = await startTree({
    PORT: '0',
    RATCHET_TEMPORAL_PORT: '0',
    RATCHET_DATA_DIR: join(folder, 'data'),
    RATCHET_API_KEY: apiKey,
    ...world.env,
  });
  api = new Api(tree.url, apiKey);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-kill-'));
  chmodSync(folder, 0o755);
  world = await startPricedWorld(100);
  await start();
}, 120_000);
afterAll(async () => {
  await tree?.stop();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

interface Session {
  status: string;
  stopped_by: string | null;
  best_reward: number | null;
  budget: { spent_usd: number; reserved_usd: number };
}

interface Kind {
  /** Used by this session only, so that its ledger is separate. */
  model: PricedModel;
  maxUsd: number;
  /** Share of the budget at which the tree is killed. */
  killedAt: number;
  search: object;
}
const evaluation = { seeds: range(0, 24) };
const kinds: Kind[] = [
  {
    ...{ model: 'gpt-4.1-nano', maxUsd: 0.06, killedAt: 0.15 },
    search: { algorithm: 'mipro', mipro: { num_candidates: 10, num_trials: 100, minibatch_size: 8, evaluation } },
  },
  {
    ...{ model: 'gpt-4o-mini', maxUsd: 0.08, killedAt: 0.4 },
    search: {
      algorithm: 'gepa',
      gepa: { population_size: 4, generations: 100, minibatch_size: 4, evaluation },
    },
  },
];

const create = async ({ model, maxUsd, search }: Kind) =>
  (
    await api.call<{ session_id: string }>('POST', base, {
      policy_optimization: {
        ...search,
        container_url: world.container.url,
        policy: { ...pricedPolicy, model },
        max_concurrent: 16,
        budget: { max_cost_usd: maxUsd },
      },
    })
  ).session_id;
const read = (id: string) => api.call<Session>('GET', `${base}/${id}`);

test('never overspends, and settles the reservations of killed calls', async () => {
  const ids = await Promise.all(kinds.map(create));
  for (const { model, maxUsd, killedAt } of kinds) {
    const part = killedAt * maxUsd;
    await until(`${part} dollars of ${model} are answered`, () => world.answeredUsd(model) >= part, 120);
    await tree!.kill();
    await start();
  }
  for (const [index, { model, maxUsd }] of kinds.entries()) {
    const id = ids[index]!;
    await until('it has ended', async () => (await read(id)).status !== 'running', 180);
    const { budget, ...session } = await until('calls under way are counted', async () => {
      const seen = await read(id);
      return seen.budget.reserved_usd === 0 && seen;
    });
    expect(session).toMatchObject({ status: 'completed', stopped_by: 'max_cost_usd' });
    expect(session.best_reward).not.toBeNull();
    const answered = world.answeredUsd(model);
    expect(answered).toBeLessThanOrEqual(maxUsd);
    expect(budget.spent_usd).toBeLessThanOrEqual(maxUsd);
    // Lost calls count in full: the recorded cost never falls below the answers' cost.
    expect(budget.spent_usd).toBeGreaterThanOrEqual(answered - 1e-9);
    // Each kill loses at most 16 calls of a thousand tokens.
    expect(answered).toBeGreaterThan(0.5 * maxUsd);
  }
}, 400_000);
