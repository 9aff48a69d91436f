import { seededDraws, type Draws } from './draws.js';
import type { Lesson } from './proposer.js';

/** Number of instances; a prompt's true reward is the mean over all. */
export const instances = 240;

const names = (
  'refunds parcels invoices passwords warranties vouchers subscriptions complaints catalogues samples repairs discounts ' +
  'addresses receipts gifts orders returns cards'
).split(' ');
const words = 'amber birch cobalt dune ember fjord garnet hazel indigo jasper kelp lotus'.split(' ');

/** The world's rules: the word of each topic, and the topics of each instance. */
export interface Topics {
  /** Demanded word by topic. */
  rules: ReadonlyMap<string, string>;
  /** Word by topic in feedback: the truth, unless feedback is shuffled. */
  taught: ReadonlyMap<string, string>;
  /** The topics of an instance. */
  about(seed: number): readonly string[];
  /** Feedback on topics, of which a prompt has `kept`. */
  feedbackOn(wanted: readonly string[], kept: readonly string[]): string[];
}

export interface TopicsShape {
  /** Topics of the world. */
  topics: number;
  /** Maximum of topics per instance; the minimum is one. */
  most: number;
  shuffledFeedback: boolean;
}

/** Streams of a world's draws: an additional draw in one does not shift the others. */
export const streams = {
  topics: 1,
  derangement: 2,
  components: 3,
  registers: 4,
  guesses: 5,
  lookups: 6,
  single: 7,
} as const;

export function drawTopics(worldSeed: number, { topics, most, shuffledFeedback }: TopicsShape): Topics {
  const draws = seededDraws(worldSeed, streams.topics);
  const known = names.slice(0, topics);
  const rules = new Map(known.map((topic) => [topic, drawWord(draws)]));
  // Some topics are common, others rare.
  const weights = known.map(() => 1 + draws.below(6));
  const about = Array.from({ length: instances }, () => {
    const chosen = new Set<string>();
    for (const count = 1 + draws.below(most); chosen.size < count;) chosen.add(known[draws.weighted(weights)]!);
    return [...chosen];
  });
  const taught = shuffledFeedback ? derangement(rules, seededDraws(worldSeed, streams.derangement)) : rules;
  return {
    rules,
    taught,
    about: (seed) => about[seed % instances]!,
    feedbackOn: (wanted, kept) =>
      wanted.map((topic) =>
        kept.includes(topic) ? `Right on ${topic}.` : `Wrong on ${topic}: it must say "${taught.get(topic)}".`,
      ),
  };
}

/** Feedback on words that a prompt lacks. */
export function wordsIn(shown: string): Lesson[] {
  return [...shown.matchAll(/Wrong on (\S+): it must say "([^"]+)"\./g)].map(([, topic, word]) => [topic!, word!]);
}

/** The mean over all instances. */
export function meanOver(reward: (seed: number) => number): number {
  let sum = 0;
  for (let seed = 0; seed < instances; seed++) sum += reward(seed);
  return sum / instances;
}

/** A random word, impossible to guess. */
export function drawWord(draws: Draws): string {
  return `${words[draws.below(words.length)]}-${draws.below(90) + 10}`;
}

/** The same words, each on another topic. */
function derangement(rules: ReadonlyMap<string, string>, draws: Draws): ReadonlyMap<string, string> {
  for (;;) {
    const order = draws.shuffled([...rules.keys()]);
    const taught = new Map(order.map((topic, at) => [topic, rules.get(order[(at + 1) % order.length]!)!]));
    if (order.every((topic) => taught.get(topic) !== rules.get(topic))) return taught;
  }
}
