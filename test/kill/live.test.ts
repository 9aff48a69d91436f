import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from '../../src/cli/api.js';
import { seedRng, uniformInt } from '../../src/core/random.js';
import type { FakeModel } from '../support/fake-model.js';
import { judgeFrames } from '../support/frames.js';
import { range } from '../support/range.js';
import { startEchoingModel, startTraffic, type Traffic } from '../support/traffic.js';
import { startTree, type Tree } from '../support/tree.js';
import { until } from '../support/until.js';

// Live traffic through kill -9 of the whole `npm start` tree, at seeded moments: a correlation id keeps its candidate, a reward that
// was answered with 200 is never lost and counts once, and the search ends as if nothing had happened. Judged from what the callers saw.

const seed = 20_261_122;
const kills = 3;
const apiKey = 'live-kill-test-key-0123456789';
const base = '/api/v1/online/sessions';

let folder: string;
let model: FakeModel;
let tree: Tree | undefined;
let api: Api;

async function start(): Promise<void> {
  tree = await startTree({
    PORT: '0',
    RATCHET_TEMPORAL_PORT: '0',
    RATCHET_DATA_DIR: join(folder, 'data'),
    RATCHET_API_KEY: apiKey,
    RATCHET_PROVIDERS: 'fake',
    FAKE_BASE_URL: model.url,
  });
  api = new Api(tree.url, apiKey);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-live-'));
  chmodSync(folder, 0o755);
  model = await startEchoingModel();
  await start();
}, 120_000);
afterAll(async () => {
  await tree?.stop();
  await model.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** What its calls are scored by: instance n needs the rule n mod `rules`. */
const kinds = [
  { named: true, rules: 4, seeds: range(0, 4), target: 0.7 },
  { named: false, rules: 2, seeds: range(0, 20), target: 0.9 },
];

const create = async ({ seeds, target }: (typeof kinds)[number]) =>
  (
    await api.call<{ session_id: string }>('POST', base, {
      policy_optimization: {
        algorithm: 'gepa',
        rollouts: 'caller',
        policy: { provider: 'fake', model: 'live' },
        proposer: { provider: 'fake', model: 'proposer' },
        initial_prompt: { messages: [{ role: 'system', content: 'Answer well.' }] },
        gepa: { population_size: 2, generations: 12, minibatch_size: 3, evaluation: { seeds } },
        // What a kill left without a reward is another call's, soon.
        rollout_timeout: 5,
        target_reward: target,
      },
    })
  ).session_id;

interface Evaluated {
  rollout_id: string;
  reward: number;
  status: string;
}

/** What callers saw, beside what the service says of it. */
async function judge(id: string, traffic: Traffic, target: number): Promise<void> {
  const session = await api.call<{
    status: string;
    best_reward: number;
    progress: { rollouts_completed: number };
    candidates: { candidate_id: string; rollout_count: number }[];
  }>('GET', `${base}/${id}`);
  expect(session).toMatchObject({ status: 'completed' });
  expect(session.best_reward).toBeGreaterThanOrEqual(target);

  const callOf = new Map(traffic.calls.map((call) => [call.rolloutId, call]));
  const rewardOf = new Map(traffic.rewards.map((one) => [one.correlationId, one]));
  let counted = 0;
  for (const { candidate_id: candidate, rollout_count: count } of session.candidates) {
    const { data } = await api.call<{ data: Evaluated[] }>(
      'GET',
      `${base}/${id}/candidates/${candidate}/seed-evals?limit=1000`,
    );
    const ended = data.filter(({ status }) => status === 'succeeded');
    expect([candidate, ended.length]).toEqual([candidate, count]);
    counted += ended.length;
    for (const { rollout_id: rollout, reward } of ended) {
      const call = callOf.get(rollout);
      // A call may have been claimed by a try whose answer the kill took; the next try then got the same rollout.
      expect(call).toMatchObject({ candidateId: candidate });
      expect(rewardOf.get(call!.correlationId)?.reward).toBe(reward);
    }
  }
  expect(counted).toBe(session.progress.rollouts_completed);
  await judgeFrames(api, id, { live: true });
  const conflicts = traffic.rewards.filter(({ status }) => status !== 200 && status !== 409);
  expect(conflicts).toEqual([]);
}

test('a correlation id keeps its candidate, and no reward is lost or counted twice', async () => {
  const ids = await Promise.all(kinds.map(create));
  const traffics = kinds.map(({ named, rules }, place) =>
    startTraffic({
      ...{ urls: () => [tree!.url], apiKey, sessionId: ids[place]!, inFlight: 6 },
      score: (prompt, n) => ({
        reward: prompt.includes(`rule-${n % rules}.`) ? 1 : 0,
        feedback: `needs rule-${n % rules}.`,
      }),
      ...(named && { seed: (n) => n % rules }),
      fate: (n) => ({ after: n % 5 === 0 ? 200 : 0, never: n % 11 === 10, twice: n % 7 === 3 }),
    }),
  );
  const rewarded = () => traffics.reduce((sum, { rewards }) => sum + rewards.length, 0);
  const isOver = async () => {
    const states = await Promise.all(ids.map((id) => api.call<{ status: string }>('GET', `${base}/${id}`)));
    return states.every(({ status }) => status !== 'running');
  };
  let rng = seedRng(seed);
  for (let kill = 0; kill < kills; kill += 1) {
    let more: number;
    [more, rng] = uniformInt(rng, 60);
    const at = rewarded() + 20 + more;
    await until(`${at} rewards are reported`, async () => rewarded() >= at || (await isOver()), 60);
    await tree!.kill();
    await start();
    // Whoever was answered before is answered by the same candidate.
    for (const [place, { calls }] of traffics.entries()) {
      const { correlationId, candidateId, rolloutId } = calls.at(-1)!;
      const response = await fetch(`${tree!.url}/api/gepa/v1/${ids[place]}/${correlationId}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ messages: [{ role: 'user', content: 'once more' }] }),
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-gepa-candidate-id')).toBe(candidateId);
      expect(response.headers.get('x-gepa-rollout-id')).toBe(rolloutId);
    }
  }
  await until('both sessions are over', isOver, 120);
  await Promise.all(traffics.map((traffic) => traffic.stop()));
  for (const [place, id] of ids.entries()) await judge(id, traffics[place]!, kinds[place]!.target);
}, 360_000);
