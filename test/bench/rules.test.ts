/**
 * The bench's worlds. Everything follows from the seed; the baseline scores nothing and the perfect prompt everything;
 * the proposer learns from what it is shown and from nothing else, in our reflection prompt as in gepa's.
 */
import { describe, expect, test } from '@jest/globals';
import { baseline, instances, rulesWorld } from '../../bench/worlds/rules.js';
import { buildReflection, parseProposal } from '../../src/core/gepa/reflection.js';

const seeds = Array.from({ length: instances }, (_, seed) => seed);
const worlds = [0, 1, 2, 3, 4, 5, 6, 7];

/** As our service asks. */
function ours(instruction: string, feedbacks: string[]): string {
  const examples = feedbacks.map((feedback, n) => ({ input: `seed ${n}`, output: '', feedback, reward: 0 }));
  const [message] = buildReflection({ instruction, examples });
  return message!.content;
}

/** As `gepa` 0.1.4 asks: the default template of its `InstructionProposalSignature`, cut to its form. */
function theirs(instruction: string, feedbacks: string[]): string {
  const shown = feedbacks.map(
    (feedback, n) =>
      `# Example ${n + 1}\n## Inputs\nseed ${n}\n\n## Generated Outputs\n\n\n## Feedback\n${feedback}\n\n## Reward\n0.0\n\n`,
  );
  return (
    `I provided an assistant with the following instructions to perform a task for me:\n\`\`\`\n${instruction}\n\`\`\`\n\n` +
    `The following are examples of different task inputs provided to the assistant along with the assistant's response ` +
    `for each of them, and some feedback on how the assistant's response could be better:\n\`\`\`\n${shown.join('\n\n')}\n\`\`\`\n\n` +
    'Your task is to write a new instruction for the assistant.\n\nProvide the new instructions within ``` blocks.'
  );
}

function proposalOf(answer: string, parent: string): string {
  const parsed = parseProposal(answer, { parent, maxChars: 32_000, finishReason: 'stop' });
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.text;
}

test.each(worlds)('world %d: the baseline scores 0, the perfect prompt 1, on every instance', (seed) => {
  const world = rulesWorld(seed);
  expect(seeds.filter((instance) => world.score(world.perfect, instance).reward !== 1)).toEqual([]);
  expect(seeds.filter((instance) => world.score(baseline, instance).reward !== 0)).toEqual([]);
  expect([world.trueReward(baseline), world.trueReward(world.perfect)]).toEqual([0, 1]);
});

test('a world follows from its seed, and seeds give different worlds', () => {
  const scores = (seed: number) => {
    const world = rulesWorld(seed);
    return seeds.map((instance) => world.score(baseline, instance));
  };
  expect(scores(3)).toEqual(scores(3));
  expect(new Set(worlds.map((seed) => JSON.stringify(scores(seed)))).size).toBe(worlds.length);
});

test('feedback names the rules that failed, and those only', () => {
  const world = rulesWorld(1);
  const [[topic, word]] = [...world.rules] as [[string, string]];
  const partly = `${baseline}\n- On ${topic}: say "${word}".`;
  for (const instance of seeds) {
    const before = world.score(baseline, instance).feedback;
    const after = world.score(partly, instance).feedback;
    expect(after).toBe(before.replace(`Wrong on ${topic}: it must say "${word}".`, `Right on ${topic}.`));
  }
});

describe.each([
  ['our reflection prompt', ours],
  ["gepa's reflection prompt", theirs],
])('the proposer, asked by %s', (_, ask) => {
  const lessons = worlds.flatMap((seed) => {
    const world = rulesWorld(seed);
    return seeds.slice(0, 60).map((instance) => {
      const { feedback } = world.score(baseline, instance);
      const answer = world.reflect(ask(baseline, [feedback]));
      return { world, instance, feedback, answer, text: proposalOf(answer, baseline) };
    });
  });

  test('improves mostly, and not always', () => {
    const better = lessons.filter(({ world, instance, text }) => world.score(text, instance).reward > 0);
    expect(better.length / lessons.length).toBeGreaterThan(0.6);
    expect(better.length / lessons.length).toBeLessThan(0.9);
  });

  test('adds one line, on a topic that it was shown or on none', () => {
    for (const { feedback, text } of lessons) {
      const added = text.split('\n').filter((line) => !baseline.includes(line));
      expect(added).toHaveLength(1);
      const [, topic] = /^- On (\S+):/.exec(added[0]!) ?? [];
      if (topic !== undefined) expect(feedback).toContain(`Wrong on ${topic}:`);
    }
  });

  test('climbs from the baseline to the perfect prompt where it is shown every failure and what is worse is dropped', () => {
    const world = rulesWorld(5);
    let best = baseline;
    for (let round = 0; round < 400 && world.trueReward(best) < 1; round++) {
      const shown = seeds.slice(round % 60, (round % 60) + 3).map((seed) => world.score(best, seed).feedback);
      const text = proposalOf(world.reflect(ask(best, shown)), best);
      if (world.trueReward(text) >= world.trueReward(best)) best = text;
    }
    expect(world.trueReward(best)).toBe(1);
  });
});

test('the proposer answers both prompts alike: it reads the instruction and the failures, not the frame', () => {
  for (const seed of worlds) {
    const world = rulesWorld(seed);
    const feedbacks = [0, 1, 2].map((instance) => world.score(baseline, instance).feedback);
    expect(world.reflect(ours(baseline, feedbacks))).toBe(world.reflect(theirs(baseline, feedbacks)));
  }
});
