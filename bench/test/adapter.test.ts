/** The clients of the service and the Python adapter, against the bench's worlds. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchTask } from '../gepa/search.js';
import { rewardSteps, ledgerUsage } from '../gepa/timeline.js';
import { runGepa, runGepaOnLookups } from '../peers/gepa/run.js';
import { gepaPython } from '../peers/gepa/venv.js';
import { startWorlds, type Worlds } from '../worlds/client.js';
import { openLookupWorld } from '../worlds/lookups.js';
import { baseline, rulesWorld } from '../worlds/rules.js';
import { openWorld } from '../worlds/world.js';
import { createContainerClient } from '../../src/clients/container/client.js';
import { completeChat } from '../../src/models/client/complete-chat.js';
import { createProviders } from '../../src/models/client/providers.js';
import { buildReflection } from '../../src/core/proposals/reflection.js';

const { signal } = new AbortController();
let worlds: Worlds;

beforeAll(async () => {
  worlds = await startWorlds();
});
afterAll(() => worlds.close());

test('the worlds serve the service’s clients and record every call in the ledger', async () => {
  const container = createContainerClient({ egress: { mode: 'dev', allowlist: [] } });
  const providers = createProviders({ RATCHET_PROVIDERS: 'bench', BENCH_BASE_URL: worlds.proposerUrl });
  try {
    const run = await worlds.open({ world: 3, rolloutMs: 0, proposerMs: 0 });
    await container.health(run.containerUrl, null, signal);
    const { initialPrompt } = await container.taskInfo(run.containerUrl, null, signal);
    expect(initialPrompt).toEqual([{ role: 'system', content: baseline }]);

    const world = rulesWorld(3);
    const perfect = world.perfect['instruction']!;
    const outcome = await container.rollout(
      {
        url: run.containerUrl,
        apiKey: null,
        rolloutId: 'rol_1',
        seed: 7,
        envName: null,
        envConfig: {},
        policy: { provider: 'bench', model: run.model, params: {} },
        inferenceUrl: 'http://127.0.0.1:9',
        inferenceApiKey: 'none',
        messages: [{ role: 'system', content: perfect }],
        tryTimeoutMs: 10_000,
        deadline: Date.now() + 20_000,
      },
      signal,
    );
    expect(outcome).toMatchObject({ kind: 'reward', ...world.score(world.perfect, 7, 0) });

    const { feedback } = world.score(world.baseline, 7, 0);
    const messages = buildReflection({
      instruction: baseline,
      examples: [{ input: '', output: '', feedback, reward: 0 }],
    });
    const policy = { provider: 'bench', model: run.model, params: {} };
    expect(await completeChat(providers, { policy, messages, signal })).toMatchObject({
      ok: true,
      text: world.reflect(messages[0]!.content),
    });
    expect((await run.ledger()).map(({ kind }) => kind)).toEqual(['rollout', 'proposal']);
    expect(await run.trueReward(perfect)).toBe(1);
  } finally {
    await container.close();
    await providers.close();
  }
});

const missing = spawnSync('python3', ['--version']).error !== undefined;

(missing ? test.skip : test)(
  `the Python adapter runs a search with a stub of the package${missing ? ' (skipped: no python3)' : ''}`,
  async () => {
    const task: SearchTask = {
      trainSeeds: [0, 1, 2, 3, 4, 5],
      evaluationSeeds: [10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
      minibatchSize: 3,
      maxRollouts: 23,
      maxConcurrent: 4,
      rngSeed: 0,
    };
    const run = await worlds.open({ world: 1, rolloutMs: 20, proposerMs: 0 });
    const env = { ...process.env, PYTHONPATH: join(import.meta.dirname, 'stub-gepa') };
    const outcome = await runGepa('python3', worlds.proposerUrl, run, task, { env });
    const usage = ledgerUsage(await run.ledger(), outcome, task.maxConcurrent);
    expect(usage).toMatchObject({ rollouts: 23, maxAtOnce: 4 });
    expect(outcome.rollouts).toBe(23);

    const world = rulesWorld(1);
    const [first, second] = outcome.candidates;
    const mean = (text: string) =>
      task.evaluationSeeds.reduce((total, seed) => total + world.score({ instruction: text }, seed, 0).reward, 0) / 10;
    expect(first).toMatchObject({ text: baseline, reward: 0 });
    expect(second!.text).toBe(outcome.winner);
    expect(second!.reward).toBeCloseTo(mean(outcome.winner), 9);
    expect(outcome.startedAt).toBeLessThanOrEqual(first!.at);
    expect(await rewardSteps(outcome, run.trueReward)).toHaveLength(second!.reward > 0 ? 2 : 1);
  },
);

(missing ? test.skip : test)('the Python adapter searches a prompt of several components', async () => {
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  const task: SearchTask = {
    trainSeeds: range(0, 6),
    evaluationSeeds: range(10, 30),
    minibatchSize: 3,
    maxRollouts: 43,
    maxConcurrent: 4,
    rngSeed: 0,
  };
  const run = await worlds.open({ kind: 'components', world: 3, rolloutMs: 0, proposerMs: 0 });
  const env = { ...process.env, PYTHONPATH: join(import.meta.dirname, 'stub-gepa') };
  const { candidates } = await runGepa('python3', worlds.proposerUrl, run, task, { useMerge: true, env });
  const world = openWorld('components', 3);
  const [first, second] = candidates;
  expect(candidates.map(({ rollouts }) => rollouts)).toEqual([20, 43]);
  expect(first).toMatchObject({ texts: world.baseline, text: world.baseline['plan'], reward: 0 });
  expect(Object.keys(second!.texts)).toEqual(world.components);
  expect(second!.texts['plan']).not.toBe(world.baseline['plan']);
  const rewards = task.evaluationSeeds.map((seed) => world.score(second!.texts, seed, 0).reward);
  // A positive reward requires that each text is sent as its component.
  expect(second!.reward).toBeGreaterThan(0);
  expect(second!.reward).toBeCloseTo(rewards.reduce((sum, reward) => sum + reward, 0) / 20, 9);
  expect(await run.trueReward(second!.texts)).toBeCloseTo(world.trueReward(second!.texts), 9);
});

test('gepaPython rejects with one line if Python is missing', async () => {
  const nowhere = join(tmpdir(), 'ratchet-no-venv');
  await expect(gepaPython(nowhere, { PATH: '' })).rejects.toThrow(/^python3 -m venv: [^\n]*ENOENT/);
});

(missing ? test.skip : test)('the Python adapter calls the task model itself without a container', async () => {
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  const task: SearchTask = {
    trainSeeds: range(0, 3),
    evaluationSeeds: range(10, 30),
    minibatchSize: 3,
    maxRollouts: 43,
    maxConcurrent: 4,
    rngSeed: 0,
  };
  const run = await worlds.openLookups({ kind: 'one-step', world: 1 });
  const env = { ...process.env, PYTHONPATH: join(import.meta.dirname, 'stub-gepa') };
  const candidates = await runGepaOnLookups('python3', worlds.proposerUrl, run, task, env);
  const world = openLookupWorld('one-step', 1);
  // The second budget: two evaluations, a minibatch and a proposal.
  expect(candidates.map(({ calls }) => calls)).toEqual([20, 44]);
  expect((await run.ledger()).map(({ kind }) => kind).sort()).toEqual([...Array<string>(43).fill('call'), 'proposal']);
  expect(candidates[0]!.texts).toEqual({ instruction: world.baseline });
  expect(candidates[1]!.texts).not.toEqual(candidates[0]!.texts);
  for (const { texts, reward } of candidates) {
    const rewards = task.evaluationSeeds.map((seed) => {
      const messages = [
        { role: 'system', content: texts['instruction']! },
        { role: 'user', content: world.input(seed) },
      ];
      return world.score(seed, world.answer(messages)).reward;
    });
    expect(reward).toBeCloseTo(rewards.reduce((sum, reward) => sum + reward, 0) / 20, 9);
  }
});
