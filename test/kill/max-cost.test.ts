import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from '../../src/cli/api.js';
import { pricedPolicy, startPricedWorld, type PricedWorld } from '../support/priced-world.js';
import { startTree, type Tree } from '../support/tree.js';
import { until } from '../support/until.js';

// The promise: budget.max_cost_usd is not exceeded across kill -9 of the whole `npm start` tree, with 16 calls of a model under way at
// each kill. Judged from the provider's ledger, which counts what it answered to callers that were killed, too. Nor does a killed
// call hold its reservation for ever: the session spends what is left and completes.

const apiKey = 'kill-test-key-0123456789';
const maxCostUsd = 0.1;
const kills = 2;
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

test('money is not overspent, and what a killed call had reserved is not lost for ever', async () => {
  const { session_id: id } = await api.call<{ session_id: string }>('POST', base, {
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
    },
  });
  for (let kill = 1; kill <= kills; kill += 1) {
    await until(
      `${kill} of ${kills + 1} parts are answered`,
      () => world.answeredUsd() >= (0.6 * maxCostUsd * kill) / (kills + 1),
      120,
    );
    await tree!.kill();
    await start();
  }
  const session = await until(
    'the session has ended and its calls are counted',
    async () => {
      const seen = await api.call<Session>('GET', `${base}/${id}`);
      return seen.status !== 'running' && seen;
    },
    180,
  );
  expect(session).toMatchObject({ status: 'completed', stopped_by: 'max_cost_usd' });
  expect(session.best_reward).not.toBeNull();
  await until(
    'calls under way are counted',
    async () => (await api.call<Session>('GET', `${base}/${id}`)).budget.reserved_usd === 0,
  );
  const { budget } = await api.call<Session>('GET', `${base}/${id}`);
  expect(world.answeredUsd()).toBeLessThanOrEqual(maxCostUsd);
  expect(budget.spent_usd).toBeLessThanOrEqual(maxCostUsd);
  // What was lost counts in full: the books are never below what was answered.
  expect(budget.spent_usd).toBeGreaterThanOrEqual(world.answeredUsd() - 1e-9);
  // At most 16 calls of a thousand tokens are lost at each kill.
  expect(world.answeredUsd()).toBeGreaterThan(0.5 * maxCostUsd);
}, 400_000);
