/**
 * Worlds with one hidden rule for each instance and rewards of 0 or 1. The proposer adds up to two
 * rules at once and sometimes loses one. `flips`: each judgement is flipped independently.
 */
import { seededDraws, textDraws } from './draws.js';
import { reflect, type Odds } from './proposer.js';
import { baseline } from './rules.js';
import { readPrompt, writePrompt } from './statements.js';
import { drawWord, streams, wordsIn } from './topics.js';
import type { Judgement, World, WorldKind } from './world.js';

const component = 'instruction';
const instances = 600;
const lessonsAtOnce = 2;
const odds: Odds = { lesson: 85, forgetful: 15, wrong: 0, redundant: 0 };

interface Shape {
  kind: WorldKind;
  rules: number;
  /** Percentage of flipped judgements. */
  flips: number;
}

const opener = (shape: Shape) => (worldSeed: number, shuffledFeedback: boolean) =>
  openSingle(shape, worldSeed, shuffledFeedback);

export const single24World = opener({ kind: 'single-24', rules: 24, flips: 0 });
export const single48World = opener({ kind: 'single-48', rules: 48, flips: 0 });
export const flipsWorld = opener({ kind: 'flips', rules: 24, flips: 10 });

function openSingle({ kind, rules: count, flips }: Shape, worldSeed: number, shuffledFeedback: boolean): World {
  const draws = seededDraws(worldSeed, streams.single);
  const topics = Array.from({ length: count }, (_, index) => `case-${index + 1}`);
  const rules = new Map(topics.map((topic) => [topic, drawWord(draws)]));
  const weights = topics.map(() => 1 + draws.below(3));
  const topicOf = Array.from({ length: instances }, () => topics[draws.weighted(weights)]!);
  const taught = (topic: string) =>
    rules.get(shuffledFeedback ? topics[(topics.indexOf(topic) + 1) % topics.length]! : topic)!;

  const isRight = (stated: ReadonlyMap<string, string>, seed: number) => {
    const topic = topicOf[seed % instances]!;
    return stated.get(topic) === rules.get(topic);
  };
  return {
    kind,
    components: [component],
    baseline: { [component]: baseline },
    perfect: { [component]: writePrompt([baseline], rules) },
    flipped: flips / 100,
    score(texts, seed, occurrence): Judgement {
      const prompt = texts[component]!;
      const isFlipped = flips > 0 && textDraws(`${worldSeed}\n${seed}\n${occurrence}\n${prompt}`).below(100) < flips;
      const right = isRight(readPrompt(prompt).stated, seed) !== isFlipped;
      const topic = topicOf[seed % instances]!;
      const feedback = right ? `Right on ${topic}.` : `Wrong on ${topic}: it must say "${taught(topic)}".`;
      return { reward: Number(right), feedback };
    },
    trueReward(texts) {
      const { stated } = readPrompt(texts[component]!);
      return topicOf.filter((_, seed) => isRight(stated, seed)).length / instances;
    },
    reflect: (reflection) => reflect(reflection, worldSeed, wordsIn, { atOnce: lessonsAtOnce, odds }),
  };
}
