import { componentsWorld } from './components.js';
import { conflictsWorld } from './conflicts.js';
import { noisyWorld, rulesWorld, strictWorld } from './rules.js';
import { flipsWorld, single24World, single48World } from './single.js';

export const worldKinds = [
  'rules',
  'strict',
  'noisy',
  'components',
  'conflicts',
  'single-24',
  'single-48',
  'flips',
] as const;
/** Kinds with random judgements. */
export const noisyKinds: ReadonlySet<WorldKind> = new Set(['noisy', 'flips']);
export type WorldKind = (typeof worldKinds)[number];

/** A prompt: the text of each component. */
export type Texts = Readonly<Record<string, string>>;

export interface Judgement {
  /** 0 to 1. */
  reward: number;
  feedback: string;
}

/**
 * A world for prompt optimizers: hidden rules, instances (seeds), and a proposer that learns from
 * feedback. Deterministic; without noise the baseline scores 0 and the perfect prompt 1 everywhere.
 */
export interface World {
  kind: WorldKind;
  /** Component names, at least one. */
  components: readonly string[];
  baseline: Texts;
  perfect: Texts;
  /** The share of judgements that noise flips. */
  flipped: number;
  /** Runs a prompt on an instance. `occurrence`: its earlier runs there; affects only noise. */
  score(texts: Texts, seed: number, occurrence: number): Judgement;
  /** The mean reward over all instances, without noise. */
  trueReward(texts: Texts): number;
  /** A model's answer to a reflection: an instruction, not always better. */
  reflect(reflection: string): string;
}

export interface WorldOptions {
  /** Shuffled feedback names wrong words, components and registers: it teaches nothing. */
  shuffledFeedback?: boolean;
}

/** The mean reward over all instances, with noise; `trueReward` has none. */
export function measurableReward(world: World, texts: Texts): number {
  const reward = world.trueReward(texts);
  return reward + world.flipped * (1 - 2 * reward);
}

const makers: Record<WorldKind, (worldSeed: number, shuffledFeedback: boolean) => World> = {
  rules: rulesWorld,
  strict: strictWorld,
  noisy: noisyWorld,
  components: componentsWorld,
  conflicts: conflictsWorld,
  'single-24': single24World,
  'single-48': single48World,
  flips: flipsWorld,
};

/** The world of a kind and seed. */
export function openWorld(kind: WorldKind, worldSeed: number, { shuffledFeedback = false }: WorldOptions = {}): World {
  return makers[kind](worldSeed, shuffledFeedback);
}
