/**
 * A world of hidden rules, for optimizers of prompts. Each of its topics demands a word that nobody can guess; an instance
 * (a seed) is about one to three topics, and a prompt's reward on it is the share of these for which it states the word.
 * Feedback names the rules that failed, so a reader of it can learn them. Everything follows from the world's seed, without noise.
 *
 * Invariants: the baseline states no rule and scores 0; the perfect prompt scores 1 on every instance.
 */
import { createHash } from 'node:crypto';
import { seedRng, uniformInt, weightedPick, type Rng } from '../../src/core/random.js';

/** How many instances a world has; the true reward of a prompt is its mean over all of them. */
export const instances = 240;

export const baseline = 'Answer the customer kindly and to the point.';

const topics =
  'refunds parcels invoices passwords warranties vouchers subscriptions complaints catalogues samples repairs discounts ' +
  'addresses receipts gifts orders returns cards';
const words = 'amber birch cobalt dune ember fjord garnet hazel indigo jasper kelp lotus'.split(' ');
const advice = [
  'Be thorough.',
  'Read the message twice.',
  'Stay calm.',
  'Think step by step.',
  'Be precise.',
  'Be brief.',
];

export interface RulesWorld {
  /** Topic to the word that it demands. */
  rules: ReadonlyMap<string, string>;
  perfect: string;
  /** Reward of a prompt on an instance (0 to 1) and feedback that names each rule that it keeps or breaks. */
  score(prompt: string, seed: number): { reward: number; feedback: string };
  /** The mean of the rewards on all instances. */
  trueReward(prompt: string): number;
  /** What a model answers to a reflection: a better instruction, or one that it takes for better. */
  reflect(reflection: string): string;
}

/** The world of a seed. */
export function rulesWorld(worldSeed: number): RulesWorld {
  const names = topics.split(' ');
  let rng = seedRng(worldSeed, 1);
  const draw = (count: number) => {
    const [value, next] = uniformInt(rng, count);
    rng = next;
    return value;
  };
  const rules = new Map(names.map((topic) => [topic, `${words[draw(words.length)]}-${draw(90) + 10}`]));
  // Some topics are common and some are rare, which ones is the world's.
  const weights = names.map(() => 1 + draw(6));
  const about = Array.from({ length: instances }, () => {
    const chosen = new Set<string>();
    for (const left = 1 + draw(3); chosen.size < left;) {
      const [place, next] = weightedPick(rng, weights);
      rng = next;
      chosen.add(names[place]!);
    }
    return [...chosen];
  });

  function judge(stated: ReadonlyMap<string, string>, seed: number) {
    const asked = about[seed % instances]!;
    const kept = asked.filter((topic) => stated.get(topic) === rules.get(topic));
    const said = asked.map((topic) =>
      kept.includes(topic) ? `Right on ${topic}.` : `Wrong on ${topic}: it must say "${rules.get(topic)}".`,
    );
    return { reward: kept.length / asked.length, feedback: said.join(' ') };
  }

  return {
    rules,
    perfect: writeRules([baseline], rules),
    score: (prompt, seed) => judge(readRules(prompt), seed),
    trueReward(prompt) {
      const stated = readRules(prompt);
      const rewards = about.map((_, seed) => judge(stated, seed).reward);
      return rewards.reduce((sum, reward) => sum + reward, 0) / instances;
    },
    reflect: (reflection) => reflect(reflection, worldSeed),
  };
}

/** How often the proposer does what, in hundredths: it is no better than a model is. */
const habits = { lesson: 60, forgetful: 15, wrong: 12, redundant: 13 } as const;

/**
 * The proposer: of the rules that the feedback names as broken it puts one into the instruction. Now and then it loses
 * an old one meanwhile, notes the word wrongly, or adds advice that changes nothing. It knows nothing but what it is
 * shown, and reads the reflection prompt of either optimizer: the first fence is the instruction, the rest feedback.
 */
function reflect(reflection: string, worldSeed: number): string {
  const [frame = '', , instruction = ''] = /^(`{3,})[^\n]*\n([\s\S]*?)\n\1\s*$/m.exec(reflection) ?? [];
  const shown = reflection.slice(reflection.indexOf(frame) + frame.length);
  const broken = [...shown.matchAll(/Wrong on (\S+): it must say "([^"]+)"\./g)].map(
    ([, topic, word]) => [topic!, word!] as const,
  );
  let rng = seedOf(`${worldSeed}\n${instruction}\n${broken.join(';')}`);
  const draw = (count: number) => {
    const [value, next] = uniformInt(rng, count);
    rng = next;
    return value;
  };
  const [picked, afterHabit] = weightedPick(rng, Object.values(habits));
  const habit = Object.keys(habits)[picked] as keyof typeof habits;
  rng = afterHabit;

  const stated = readRules(instruction);
  const other = instruction.split('\n').filter((line) => !ruleLine.test(line));
  const lesson = broken[draw(Math.max(1, broken.length))];
  if (!lesson || habit === 'redundant') {
    other.push(advice[draw(advice.length)]!);
  } else {
    const [topic, word] = lesson;
    const old = [...stated.keys()].filter((known) => known !== topic);
    if (habit === 'forgetful' && old.length > 0) stated.delete(old[draw(old.length)]!);
    stated.set(topic, habit === 'wrong' ? `${words[draw(words.length)]}-${draw(90) + 10}` : word);
  }
  return `Here is a better instruction.\n\`\`\`\n${writeRules(other, stated)}\n\`\`\``;
}

const ruleLine = /^- On (\S+): say "([^"]+)"\.$/;

/** What a prompt states; of two lines on a topic the later one counts. */
function readRules(prompt: string): Map<string, string> {
  const lines = prompt.split('\n').map((line) => ruleLine.exec(line));
  return new Map(lines.filter((match) => match !== null).map(([, topic, word]) => [topic!, word!]));
}

function writeRules(other: readonly string[], rules: ReadonlyMap<string, string>): string {
  return [...other, ...[...rules].map(([topic, word]) => `- On ${topic}: say "${word}".`)].join('\n');
}

function seedOf(text: string): Rng {
  return seedRng(createHash('sha256').update(text).digest().readUIntBE(0, 6));
}
