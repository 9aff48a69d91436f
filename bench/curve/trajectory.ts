import type { Stage } from '../../src/core/search/protocol.js';
import type { CheckedEstimate } from '../estimates.js';
import type { Texts, WorldKind } from '../worlds/world.js';

/** Proposals per generation in the service's searches; their tests share the slots. */
export const populationSize = 4;

/** Identity of a search: everything that a trajectory depends on. */
export interface Search<Kind extends string = WorldKind> {
  /** The optimizer, with version and options. */
  optimizer: string;
  kind: Kind;
  world: number;
  shuffledFeedback: boolean;
  maxRollouts: number;
  /** Hash of the worlds; another hash makes another search. */
  worlds: string;
}

/** The true reward of the returned candidate, from `rollouts` spent on. */
export interface CurveStep {
  rollouts: number;
  trueReward: number;
}

/** A step of a search in process, with what only its own process sees. */
export interface CoreStep extends CurveStep {
  spent: number;
  /** Rollouts by stage. */
  stages: Partial<Record<Stage, number>>;
  /** Rewrites, and those whose parent is not the truly best of the pool. */
  proposals: number;
  strayParents: number;
  proposerCalls: number;
  /** Of each accepted candidate. */
  estimates: CheckedEstimate[];
}

/** True reward of a search's returned candidate by rollouts. A line of the file of searches. */
export interface Trajectory<Kind extends string = WorldKind> extends Search<Kind> {
  /** Total. */
  rollouts: number;
  steps: (CurveStep | CoreStep)[];
}

/** A candidate with its mean on the evaluation seeds; `rollouts` spent when it was known. */
export interface Validated<Prompt = Texts> {
  texts: Prompt;
  reward: number;
  rollouts: number;
}

/** Equal keys are the same search. */
export function searchKey({ optimizer, kind, world, shuffledFeedback, maxRollouts, worlds }: Search<string>): string {
  return JSON.stringify([optimizer, kind, world, shuffledFeedback, maxRollouts, worlds]);
}

/** One step per new best candidate by validation; ties keep the earlier one. */
export function trajectorySteps<Prompt = Texts>(
  candidates: readonly Validated<Prompt>[],
  trueReward: (texts: Prompt) => number,
): CurveStep[] {
  const steps: CurveStep[] = [];
  let best = -Infinity;
  for (const { texts, reward, rollouts } of candidates) {
    if (reward <= best) continue;
    best = reward;
    steps.push({ rollouts, trueReward: trueReward(texts) });
  }
  return steps;
}

/** The true reward after `rollouts`; the first candidate's before the first validation. */
export function rewardAt(steps: readonly CurveStep[], rollouts: number): number {
  const step = steps.findLast((known) => known.rollouts <= rollouts) ?? steps[0];
  if (!step) throw new RangeError('a trajectory without a step: nothing was validated');
  return step.trueReward;
}
