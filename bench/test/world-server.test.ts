/**
 * The worlds over HTTP: kinds, components, occurrences in order of arrival, and repeated rollouts.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startWorlds, type Run, type Worlds } from '../worlds/client.js';
import { openWorld, type Texts } from '../worlds/world.js';

let worlds: Worlds;

beforeAll(async () => {
  worlds = await startWorlds();
});
afterAll(() => worlds.close());

const atOnce = { rolloutMs: 0, proposerMs: 0 };
let ids = 0;

interface Answer {
  status: number;
  reward_info?: { outcome_reward: number; details: { feedback: string } };
  detail?: string;
}

async function rollout(run: Run, seed: number, texts: Texts, id = `r-${++ids}`): Promise<Answer> {
  const sections = Object.entries(texts).map(([name, content], order) => ({ role: 'system', content, order, name }));
  const body = { rollout_id: id, env: { seed }, policy: { config: { prompt_template: { sections } } } };
  const response = await fetch(`${run.containerUrl}/rollout`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, ...((await response.json()) as object) };
}

const scored = async (...args: Parameters<typeof rollout>) => {
  const { outcome_reward: reward, details } = (await rollout(...args)).reward_info!;
  return { reward, feedback: details.feedback };
};

test('sections are components by name; a missing one is the baseline’s; an unknown one is rejected', async () => {
  const run = await worlds.open({ kind: 'components', world: 2, ...atOnce });
  const world = openWorld('components', 2);
  const info = await fetch(`${run.containerUrl}/task_info`);
  expect(await info.json()).toEqual({
    initial_prompt: {
      messages: world.components.map((name) => ({ role: 'system', content: world.baseline[name], name })),
    },
  });
  expect(await scored(run, 4, world.perfect)).toEqual(world.score(world.perfect, 4, 0));
  const { plan } = world.perfect as { plan: string };
  for (const seed of [0, 1, 2, 3]) {
    expect(await scored(run, seed, { plan })).toEqual(world.score({ ...world.baseline, plan }, seed, 0));
  }
  const { status, detail } = await rollout(run, 0, { review: 'x' });
  expect([status, detail]).toEqual([500, expect.stringContaining('no component review')]);
  expect(await run.trueReward(world.perfect)).toBe(1);
});

test('the default kind is rules, and feedback is shuffled on request', async () => {
  const texts = openWorld('rules', 3).baseline;
  const plain = await worlds.open({ world: 3, ...atOnce });
  expect(await scored(plain, 7, texts)).toEqual(openWorld('rules', 3).score(texts, 7, 0));
  const shuffled = await worlds.open({ kind: 'conflicts', world: 3, shuffledFeedback: true, ...atOnce });
  const world = openWorld('conflicts', 3, { shuffledFeedback: true });
  expect(await scored(shuffled, 7, texts)).toEqual(world.score(texts, 7, 0));
});

test('counts occurrences by prompt and seed, and repeats the answer of a repeated rollout id', async () => {
  const run = await worlds.open({ kind: 'noisy', world: 1, ...atOnce });
  const { perfect, baseline, score } = openWorld('noisy', 1);
  const seeds = Array.from({ length: 30 }, (_, seed) => seed);
  const expected = (occurrence: number) => seeds.map((seed) => score(perfect, seed, occurrence));
  const rollouts = async (texts: Texts, name?: string) => {
    const answers = [];
    for (const seed of seeds) answers.push(await scored(run, seed, texts, name && `${name}-${seed}`));
    return answers;
  };
  expect(await rollouts(perfect, 'first')).toEqual(expected(0));
  await rollouts(baseline);
  expect(await rollouts(perfect, 'second')).toEqual(expected(1));
  expect(expected(1)).not.toEqual(expected(0));
  expect(await rollouts(perfect, 'first')).toEqual(expected(0));
  expect(await rollouts(perfect)).toEqual(expected(2));
});
