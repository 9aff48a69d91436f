/**
 * All kinds of worlds: deterministic by kind and seed, baseline 0, perfect prompt 1, learnable from
 * true feedback only, noise only by occurrence, and unchanged since frozen.
 */
import { describe, expect, test } from '@jest/globals';
import { frozenHash, worldsHash } from '../worlds/freeze.js';
import { instances } from '../worlds/topics.js';
import { noisyKinds, openWorld, worldKinds, type Texts, type World } from '../worlds/world.js';
import { gepaPrompt, proposalOf, servicePrompt } from './reflections.js';

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const worldSeeds = [1, 2, 3, 4, 5, 6];

function feedbacks(world: World, texts: Texts, seeds: readonly number[]): string[] {
  return seeds.map((seed) => world.score(texts, seed, 0).feedback);
}

function ask(world: World, texts: Texts, component: string, seeds: readonly number[]): string {
  const answer = world.reflect(servicePrompt(texts[component]!, feedbacks(world, texts, seeds)));
  return /```\n([\s\S]*)\n```/.exec(answer)![1]!;
}

/** Rewrites the components in turn; keeps rewrites that are not worse in true reward. */
function climb(world: World, rounds: number): number {
  let best = world.baseline;
  for (const round of range(rounds)) {
    const component = world.components[round % world.components.length]!;
    const shown = range(3).map((n) => (round * 7 + n * 19) % instances);
    const texts = { ...best, [component]: ask(world, best, component, shown) };
    if (world.trueReward(texts) >= world.trueReward(best)) best = texts;
  }
  return world.trueReward(best);
}

describe.each(worldKinds)('%s', (kind) => {
  test('the baseline scores 0 and the perfect prompt 1', () => {
    for (const world of worldSeeds.map((seed) => openWorld(kind, seed))) {
      expect(Object.keys(world.baseline)).toEqual(world.components);
      expect(Object.keys(world.perfect)).toEqual(world.components);
      expect(world.trueReward(world.baseline)).toBe(0);
      // The mean of rewards of at most 1 is 1 only if all are 1.
      expect(world.trueReward(world.perfect)).toBe(1);
    }
  });

  test('is determined by kind and seed, and seeds give different worlds', () => {
    const answers = (seed: number, shuffledFeedback = false) => {
      const world = openWorld(kind, seed, { shuffledFeedback });
      const shown = range(instances).map((instance) => world.score(world.baseline, instance, 0));
      const component = world.components[0]!;
      return JSON.stringify([world.perfect, shown, ask(world, world.baseline, component, [0, 1, 2])]);
    };
    expect(worldSeeds.map((seed) => answers(seed))).toEqual(worldSeeds.map((seed) => answers(seed)));
    expect(answers(1, true)).toBe(answers(1, true));
    expect(new Set(worldSeeds.map((seed) => answers(seed))).size).toBe(worldSeeds.length);
  });

  test('the proposer learns from feedback, and nothing from shuffled feedback', () => {
    for (const seed of worldSeeds.slice(0, 2)) {
      expect(climb(openWorld(kind, seed), 120)).toBeGreaterThan(0.5);
      expect(climb(openWorld(kind, seed, { shuffledFeedback: true }), 120)).toBe(0);
    }
  });

  test('the proposer gives equal answers to the reflection prompts of the service and gepa', () => {
    for (const world of worldSeeds.map((seed) => openWorld(kind, seed))) {
      for (const component of world.components) {
        const shown = feedbacks(world, world.baseline, [0, 1, 2]);
        const text = world.baseline[component]!;
        expect(world.reflect(servicePrompt(text, shown))).toBe(world.reflect(gepaPrompt(text, shown)));
      }
    }
  });

  test('shuffled feedback does not change the rewards', () => {
    const rewards = (shuffledFeedback: boolean) => {
      const world = openWorld(kind, 2, { shuffledFeedback });
      return range(instances).flatMap((seed) =>
        [world.baseline, world.perfect].map((texts) => world.score(texts, seed, 1).reward),
      );
    };
    expect(rewards(true)).toEqual(rewards(false));
  });

  test(`the score ${noisyKinds.has(kind) ? 'depends' : 'does not depend'} on the occurrence`, () => {
    const world = openWorld(kind, 4);
    const rewards = (occurrence: number) =>
      range(instances).map((seed) => world.score(world.perfect, seed, occurrence).reward);
    expect(rewards(1)).toEqual(rewards(1));
    if (noisyKinds.has(kind)) expect(rewards(1)).not.toEqual(rewards(0));
    else expect(rewards(1)).toEqual(rewards(0));
  });
});

test('strict: an instance scores 0 or 1, and feedback names missing words', () => {
  const world = openWorld('strict', 1);
  const [first] = world.perfect['instruction']!.split('\n').slice(1);
  const texts = { instruction: `${world.baseline['instruction']}\n${first}` };
  const scored = range(instances).map((seed) => world.score(texts, seed, 0));
  expect(new Set(scored.map(({ reward }) => reward))).toEqual(new Set([0, 1]));
  expect(scored.every(({ reward, feedback }) => (reward === 1) === !feedback.includes('Wrong on'))).toBe(true);
  expect(scored.some(({ reward, feedback }) => reward === 0 && feedback.includes('Right on'))).toBe(true);
});

test('noisy: about 12 % of judgements are flipped, and feedback matches them', () => {
  const world = openWorld('noisy', 1);
  const verdictsGiven = range(instances).flatMap((seed) =>
    range(10).flatMap((occurrence) => {
      const { reward, feedback } = world.score(world.perfect, seed, occurrence);
      const verdicts = feedback.match(/(Right|Wrong) on/g)!;
      expect(reward).toBeCloseTo(verdicts.filter((verdict) => verdict === 'Right on').length / verdicts.length, 9);
      return verdicts;
    }),
  );
  const share = verdictsGiven.filter((verdict) => verdict === 'Wrong on').length / verdictsGiven.length;
  expect(share).toBeGreaterThan(0.1);
  expect(share).toBeLessThan(0.14);
});

describe('components', () => {
  const world = openWorld('components', 1);
  const named = (feedback: string) => [...feedback.matchAll(/Wrong on (\S+): the (\w+) must say "([^"]+)"\./g)];
  const taught = range(instances).flatMap((seed) => named(world.score(world.baseline, seed, 0).feedback));
  const needs = new Map<string, Set<string>>();
  for (const [, topic, component] of taught) needs.set(topic!, (needs.get(topic!) ?? new Set()).add(component!));
  const lineOf = (topic: string) => `- On ${topic}: say "${taught.find(([, known]) => known === topic)![3]}".`;
  const stating = (topic: string, components: readonly string[]): Texts =>
    Object.fromEntries(
      world.components.map((name) => [
        name,
        components.includes(name) ? `${world.baseline[name]}\n${lineOf(topic)}` : world.baseline[name]!,
      ]),
    );

  test('a topic counts if and only if all its components state it', () => {
    expect(new Set([...needs.values()].map(({ size }) => size))).toEqual(new Set([1, 2]));
    for (const [topic, components] of needs) {
      expect(world.trueReward(stating(topic, [...components]))).toBeGreaterThan(0);
      const short = [...components].slice(1);
      const unneeded = world.components.filter((name) => !components.has(name));
      expect(world.trueReward(stating(topic, [...short, ...unneeded]))).toBe(0);
    }
  });

  test('a rewrite of a component learns only from feedback on it', () => {
    for (const component of world.components) {
      for (const round of range(60)) {
        const shown = [round, round + 1, round + 2];
        const of = shown.flatMap((seed) => named(world.score(world.baseline, seed, 0).feedback));
        const topics = of.filter(([, , name]) => name === component).map(([, topic]) => topic);
        const text = ask(world, world.baseline, component, shown);
        expect(text.startsWith(`# ${component}\n`)).toBe(true);
        for (const [, topic] of text.matchAll(/^- On (\S+):/gm)) expect(topics).toContain(topic);
      }
    }
  });
});

describe('conflicts', () => {
  const world = openWorld('conflicts', 1);
  const words = world.perfect['instruction']!.split('\n').filter((line) => !line.includes('register'));
  const truth = (...lines: string[]) => world.trueReward({ instruction: [...words, ...lines].join('\n') });

  test('a wrong register costs half, the last default line counts, and the default is formal', () => {
    const [formal, plain] = ['- Register: formal.', '- Register: plain.'] as const;
    expect(truth(formal)).toBeCloseTo(0.8, 1);
    expect(truth(formal) + truth(plain)).toBeCloseTo(1.5, 9);
    expect(truth()).toBe(truth(formal));
    expect(truth(formal, plain)).toBe(truth(plain));
    expect(truth(plain, formal)).toBe(truth(formal));
  });

  test('fixing one instance may lower the true reward, by a default line or an exception', () => {
    const texts = { instruction: words.join('\n') };
    const next = range(instances).map((seed) => ask(world, texts, 'instruction', [seed]));
    const worse = next.filter((text) => world.trueReward({ instruction: text }) < truth());
    expect(worse.some((text) => text.includes('- Register: plain.'))).toBe(true);
    const lesser = worldSeeds.some((seed) => harmfulException(openWorld('conflicts', seed)));
    expect(lesser).toBe(true);
  });

  /** Whether an exception of the perfect prompt lowers the reward on its own. */
  function harmfulException(world: World): boolean {
    const lines = world.perfect['instruction']!.split('\n');
    const topicLines = lines.filter((line) => !line.includes('register'));
    const value = (own: string[]) => world.trueReward({ instruction: own.join('\n') });
    return lines.some((line) => line.includes('register plain') && value([...topicLines, line]) < value(topicLines));
  }
});

describe.each(worldSeeds)('the requests of a stalled search in world %i', (seed) => {
  const world = openWorld('rules', seed);
  const [first, ...rules] = world.perfect['instruction']!.split('\n');
  const instruction = [first!, 'Be brief.', ...rules.slice(0, 5), 'Be brief.', 'Stay calm.'].join('\n');
  const askAs = (approach: 'restart' | 'compress', shown: number[]) => {
    const request = servicePrompt(instruction, feedbacks(world, { instruction }, shown), approach);
    return proposalOf(world.reflect(request), instruction).split('\n');
  };

  test('a compression loses all advice, and at most one rule', () => {
    const compressed = askAs('compress', []);
    expect([first, ...rules.slice(0, 5)]).toEqual(expect.arrayContaining(compressed));
    expect(compressed.length).toBeGreaterThanOrEqual(5);
  });

  test('a restart states all lessons that it is shown, or none', () => {
    const shown = feedbacks(world, { instruction }, range(20)).join(' ');
    const taught = new Set([...shown.matchAll(/Wrong on (\S+):/g)].map(([, topic]) => topic!));
    const restarted = askAs('restart', range(20));
    const stated = [...taught].filter((topic) => restarted.some((line) => line.startsWith(`- On ${topic}:`)));
    expect(taught.size).toBeGreaterThan(3);
    expect([0, taught.size]).toContain(stated.length);
    expect(restarted).not.toContain('Stay calm.');
  });
});

test('the worlds match the frozen hash', () => {
  expect(worldsHash()).toBe(frozenHash);
});
