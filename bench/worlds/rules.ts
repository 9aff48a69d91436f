/**
 * Worlds of hidden rules: each topic demands a word, named by feedback. `rules`: the share of an
 * instance's topics with their word; `strict`: 1 if all, else 0; `noisy`: some judgements flipped.
 */
import { textDraws } from './draws.js';
import { reflect } from './proposer.js';
import { readPrompt, writePrompt } from './statements.js';
import { drawTopics, meanOver, wordsIn, type TopicsShape } from './topics.js';
import type { Judgement, World, WorldKind } from './world.js';

export const baseline = 'Answer the customer kindly and to the point.';

const component = 'instruction';

/** Percentage of flipped judgements. */
const flips = 12;

interface Manner {
  kind: WorldKind;
  /** Topics of a world, and maximum per instance. */
  shape: Pick<TopicsShape, 'topics' | 'most'>;
  reward(kept: number, total: number): number;
  noisy?: boolean;
}

const share = (kept: number, total: number) => kept / total;

export function rulesWorld(worldSeed: number, shuffledFeedback = false): World {
  return worldOf({ kind: 'rules', shape: { topics: 18, most: 3 }, reward: share }, worldSeed, shuffledFeedback);
}

export function strictWorld(worldSeed: number, shuffledFeedback = false): World {
  return worldOf(
    { kind: 'strict', shape: { topics: 14, most: 2 }, reward: (kept, total) => Number(kept === total) },
    worldSeed,
    shuffledFeedback,
  );
}

export function noisyWorld(worldSeed: number, shuffledFeedback = false): World {
  return worldOf(
    { kind: 'noisy', shape: { topics: 8, most: 3 }, reward: share, noisy: true },
    worldSeed,
    shuffledFeedback,
  );
}

function worldOf({ kind, shape, reward, noisy }: Manner, worldSeed: number, shuffledFeedback: boolean): World {
  const { rules, about, feedbackOn } = drawTopics(worldSeed, { ...shape, shuffledFeedback });

  function judge(stated: ReadonlyMap<string, string>, seed: number, flipped: () => boolean): Judgement {
    const wanted = about(seed);
    const kept = wanted.filter((topic) => (stated.get(topic) === rules.get(topic)) !== flipped());
    return { reward: reward(kept.length, wanted.length), feedback: feedbackOn(wanted, kept).join(' ') };
  }
  const never = () => false;

  return {
    kind,
    components: [component],
    baseline: { [component]: baseline },
    perfect: { [component]: writePrompt([baseline], rules) },
    flipped: noisy ? flips / 100 : 0,
    score(texts, seed, occurrence) {
      const prompt = texts[component]!;
      const { stated } = readPrompt(prompt);
      if (!noisy) return judge(stated, seed, never);
      const draws = textDraws(`${worldSeed}\n${seed}\n${occurrence}\n${prompt}`);
      return judge(stated, seed, () => draws.below(100) < flips);
    },
    trueReward(texts) {
      const { stated } = readPrompt(texts[component]!);
      return meanOver((seed) => judge(stated, seed, never).reward);
    },
    reflect: (reflection) => reflect(reflection, worldSeed, wordsIn),
  };
}
