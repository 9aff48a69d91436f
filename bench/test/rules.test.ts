/**
 * Worlds of rules: deterministic by seed, baseline 0, perfect prompt 1. The proposer learns only
 * from its prompt, in the service's format and gepa's.
 */
import { describe, expect, test } from '@jest/globals';
import { baseline, rulesWorld } from '../worlds/rules.js';
import { readPrompt } from '../worlds/statements.js';
import { instances } from '../worlds/topics.js';
import type { World } from '../worlds/world.js';
import { gepaPrompt, proposalOf, servicePrompt } from './reflections.js';

const seeds = Array.from({ length: instances }, (_, seed) => seed);
const worlds = [0, 1, 2, 3, 4, 5, 6, 7];

const scoreOf = (world: World, instruction: string, seed: number) => world.score({ instruction }, seed, 0);
const truthOf = (world: World, instruction: string) => world.trueReward({ instruction });
const perfectOf = (world: World) => world.perfect['instruction']!;

test.each(worlds)('world %d: on every instance the baseline scores 0 and the perfect prompt 1', (seed) => {
  const world = rulesWorld(seed);
  expect(seeds.filter((instance) => scoreOf(world, perfectOf(world), instance).reward !== 1)).toEqual([]);
  expect(seeds.filter((instance) => scoreOf(world, baseline, instance).reward !== 0)).toEqual([]);
  expect([truthOf(world, baseline), truthOf(world, perfectOf(world))]).toEqual([0, 1]);
});

test('a world is determined by its seed, and seeds give different worlds', () => {
  const scores = (seed: number) => {
    const world = rulesWorld(seed);
    return seeds.map((instance) => scoreOf(world, baseline, instance));
  };
  expect(scores(3)).toEqual(scores(3));
  expect(new Set(worlds.map((seed) => JSON.stringify(scores(seed)))).size).toBe(worlds.length);
});

test('feedback names exactly the failed rules', () => {
  const world = rulesWorld(1);
  const [[topic, word]] = [...readPrompt(perfectOf(world)).stated] as [[string, string]];
  const partly = `${baseline}\n- On ${topic}: say "${word}".`;
  for (const instance of seeds) {
    const before = scoreOf(world, baseline, instance).feedback;
    const after = scoreOf(world, partly, instance).feedback;
    expect(after).toBe(before.replace(`Wrong on ${topic}: it must say "${word}".`, `Right on ${topic}.`));
  }
});

describe.each([
  ["the service's reflection prompt", servicePrompt],
  ["gepa's reflection prompt", gepaPrompt],
])('the proposer, with %s', (_, ask) => {
  const lessons = worlds.flatMap((seed) => {
    const world = rulesWorld(seed);
    return seeds.slice(0, 60).map((instance) => {
      const { feedback } = scoreOf(world, baseline, instance);
      const answer = world.reflect(ask(baseline, [feedback]));
      return { world, instance, feedback, answer, text: proposalOf(answer, baseline) };
    });
  });

  test('improves the prompt in 60 to 90 % of proposals', () => {
    const better = lessons.filter(({ world, instance, text }) => scoreOf(world, text, instance).reward > 0);
    expect(better.length / lessons.length).toBeGreaterThan(0.6);
    expect(better.length / lessons.length).toBeLessThan(0.9);
  });

  test('adds one line, on a shown topic or without a topic', () => {
    for (const { feedback, text } of lessons) {
      const added = text.split('\n').filter((line) => !baseline.includes(line));
      expect(added).toHaveLength(1);
      const [, topic] = /^- On (\S+):/.exec(added[0]!) ?? [];
      if (topic !== undefined) expect(feedback).toContain(`Wrong on ${topic}:`);
    }
  });

  test('climbs from the baseline to the perfect prompt if worse proposals are dropped', () => {
    const world = rulesWorld(5);
    let best = baseline;
    for (let round = 0; round < 400 && truthOf(world, best) < 1; round++) {
      const shown = seeds.slice(round % 60, (round % 60) + 3).map((seed) => scoreOf(world, best, seed).feedback);
      const text = proposalOf(world.reflect(ask(best, shown)), best);
      if (truthOf(world, text) >= truthOf(world, best)) best = text;
    }
    expect(truthOf(world, best)).toBe(1);
  });
});

test('the proposer gives equal answers to both prompts', () => {
  for (const seed of worlds) {
    const world = rulesWorld(seed);
    const feedbacks = [0, 1, 2].map((instance) => scoreOf(world, baseline, instance).feedback);
    expect(world.reflect(servicePrompt(baseline, feedbacks))).toBe(world.reflect(gepaPrompt(baseline, feedbacks)));
  }
});
