import { componentsWorld } from './components.js';
import { conflictsWorld } from './conflicts.js';
import { noisyWorld, rulesWorld, strictWorld } from './rules.js';

export const worldKinds = ['rules', 'strict', 'noisy', 'components', 'conflicts'] as const;
export type WorldKind = (typeof worldKinds)[number];

/** A prompt: the text of each component. */
export type Texts = Readonly<Record<string, string>>;

export interface Judgement {
  /** 0 to 1. */
  reward: number;
  feedback: string;
}

/**
 * A world for optimizers of prompts: hidden rules that a prompt must state, instances (seeds) that each ask for some of them,
 * and a proposer that learns from feedback. Everything follows from its kind and seed.
 *
 * Invariants: the baseline scores 0 on every instance, the perfect prompt 1, but for noise.
 */
export interface World {
  kind: WorldKind;
  /** The names of the texts that a prompt consists of, one or more. */
  components: readonly string[];
  baseline: Texts;
  perfect: Texts;
  /**
   * Runs a prompt on an instance. `occurrence`: how often this prompt was run on this seed before, in this run; only noise
   * depends on it.
   */
  score(texts: Texts, seed: number, occurrence: number): Judgement;
  /** The mean of the rewards on all instances, without noise. */
  trueReward(texts: Texts): number;
  /** What a model answers to a reflection: a better instruction, or one that it takes for better. */
  reflect(reflection: string): string;
}

export interface WorldOptions {
  /** Feedback names words, components and registers that are not what the world demands: nothing can be learned from it. */
  shuffledFeedback?: boolean;
}

const makers: Record<WorldKind, (worldSeed: number, shuffledFeedback: boolean) => World> = {
  rules: rulesWorld,
  strict: strictWorld,
  noisy: noisyWorld,
  components: componentsWorld,
  conflicts: conflictsWorld,
};

/** The world of a kind and seed. */
export function openWorld(kind: WorldKind, worldSeed: number, { shuffledFeedback = false }: WorldOptions = {}): World {
  return makers[kind](worldSeed, shuffledFeedback);
}
