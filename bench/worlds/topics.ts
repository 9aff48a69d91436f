import { drawsOfSeed, type Draws } from './draws.js';
import type { Lesson } from './proposer.js';

/** How many instances a world has; the true reward of a prompt is its mean over all of them. */
export const instances = 240;

const names = (
  'refunds parcels invoices passwords warranties vouchers subscriptions complaints catalogues samples repairs discounts ' +
  'addresses receipts gifts orders returns cards'
).split(' ');
const words = 'amber birch cobalt dune ember fjord garnet hazel indigo jasper kelp lotus'.split(' ');

/** What is the world's: the word that each topic demands, and what each instance is about. */
export interface Topics {
  /** Topic to the word that it demands. */
  rules: ReadonlyMap<string, string>;
  /** What feedback says that a topic demands: the truth, unless feedback is shuffled. */
  taught: ReadonlyMap<string, string>;
  /** The topics of an instance. */
  about(seed: number): readonly string[];
  /** What feedback says of some topics, of which a prompt keeps `kept`. */
  said(asked: readonly string[], kept: readonly string[]): string[];
}

export interface TopicsShape {
  /** Topics of the world. */
  topics: number;
  /** Topics of an instance, at most; at least one. */
  most: number;
  shuffledFeedback: boolean;
}

/** The streams of a world's draws, one for each thing, so that one drawn more moves no other. */
export const streams = { topics: 1, derangement: 2, places: 3, registers: 4, guesses: 5, lookups: 6 } as const;

export function drawTopics(worldSeed: number, { topics, most, shuffledFeedback }: TopicsShape): Topics {
  const draws = drawsOfSeed(worldSeed, streams.topics);
  const known = names.slice(0, topics);
  const rules = new Map(known.map((topic) => [topic, drawWord(draws)]));
  // Some topics are common and some are rare, which ones is the world's.
  const weights = known.map(() => 1 + draws.below(6));
  const about = Array.from({ length: instances }, () => {
    const chosen = new Set<string>();
    for (const count = 1 + draws.below(most); chosen.size < count;) chosen.add(known[draws.weighted(weights)]!);
    return [...chosen];
  });
  const taught = shuffledFeedback ? derangement(rules, drawsOfSeed(worldSeed, streams.derangement)) : rules;
  return {
    rules,
    taught,
    about: (seed) => about[seed % instances]!,
    said: (asked, kept) =>
      asked.map((topic) =>
        kept.includes(topic) ? `Right on ${topic}.` : `Wrong on ${topic}: it must say "${taught.get(topic)}".`,
      ),
  };
}

/** What feedback says of words that a prompt lacks. */
export function wordsIn(shown: string): Lesson[] {
  return [...shown.matchAll(/Wrong on (\S+): it must say "([^"]+)"\./g)].map(([, topic, word]) => [topic!, word!]);
}

/** The mean over all instances. */
export function meanOver(reward: (seed: number) => number): number {
  let sum = 0;
  for (let seed = 0; seed < instances; seed++) sum += reward(seed);
  return sum / instances;
}

/** A word such as a rule demands; nobody guesses it. */
export function drawWord(draws: Draws): string {
  return `${words[draws.below(words.length)]}-${draws.below(90) + 10}`;
}

/** The same words, none of them on a topic that demands it. */
function derangement(rules: ReadonlyMap<string, string>, draws: Draws): ReadonlyMap<string, string> {
  for (;;) {
    const order = draws.shuffled([...rules.keys()]);
    const taught = new Map(order.map((topic, at) => [topic, rules.get(order[(at + 1) % order.length]!)!]));
    if (order.every((topic) => taught.get(topic) !== rules.get(topic))) return taught;
  }
}
