/** The search configuration of a graph job: GEPA over tasks as seeds, within the rollout budget. */
import { gepaDefaults, gepaLimits, minimumRollouts } from '../algorithms/gepa/config.js';
import type { SearchSettings } from '../algorithms/index.js';
import { splitSeeds } from '../search/split.js';

/**
 * Per effort: the most generations by rollouts of the budget, and the factor on the lengths of the
 * traces that a proposer is shown. Neither changes the path of a search before its end, so more
 * effort never means fewer proposals.
 */
const efforts = {
  low: { generations: 1 / 2, traceDetail: 1 / 2 },
  medium: { generations: 1, traceDetail: 1 },
  high: { generations: 2, traceDetail: 4 },
} as const;

/** Proposals of a generation, the failures that each is shown and then tested on, generations. */
const most = { proposals: 2, failures: 2, generations: 499 } as const;

/** Maximum shares of the budget for evaluation and held-out comparison; at least `minTasks`. */
const shares = { evaluation: 1 / 10, heldout: 1 / 20, minTasks: 3 } as const;

export interface GraphSearchRequest {
  tasks: number;
  rolloutBudget: number;
  effort: keyof typeof efforts;
  rngSeed: number;
  /** A policy samples its answers. */
  isSampled?: boolean;
  /** The used tasks by group (`prompts/row-groups.ts`); by default each is a group of its own. */
  groups?: readonly (readonly number[])[];
}

/** The search for a data set; a seed is a task's index. `configProblems` checks the budget. */
export function graphSearch({
  tasks,
  rolloutBudget,
  effort,
  rngSeed,
  isSampled,
  groups,
}: GraphSearchRequest): SearchSettings {
  const { generations, traceDetail } = efforts[effort];
  const share = (share: number) =>
    Math.min(gepaLimits.evaluationSeeds, Math.max(shares.minTasks, Math.floor(share * rolloutBudget)));
  const bounds = {
    train: gepaLimits.trainSeeds,
    evaluation: share(shares.evaluation),
    heldout: share(shares.heldout),
  };
  const split = splitSeeds(tasks, rngSeed, bounds, null, groups);
  return {
    ...gepaDefaults,
    ...(isSampled && { isSampled }),
    algorithm: 'gepa',
    populationSize: most.proposals,
    // A tested proposal costs two rollouts, so this ends only a search whose proposals repeat.
    generations: Math.min(most.generations, Math.ceil(generations * rolloutBudget)),
    minibatchSize: most.failures,
    trainSeeds: split.train,
    evaluationSeeds: split.evaluation,
    heldoutSeeds: split.heldout,
    editsStructure: true,
    traceDetail,
    maxRollouts: rolloutBudget,
    rngSeed,
  };
}

/** The search of a try: the first graph runs once on each task, and any reward is enough. */
export function triedSearch(tasks: readonly number[]): SearchSettings {
  const config = {
    ...gepaDefaults,
    algorithm: 'gepa' as const,
    populationSize: 1,
    generations: 1,
    minibatchSize: 1,
    trainSeeds: [...tasks],
    evaluationSeeds: [...tasks],
    maxRollouts: null,
    targetReward: 0,
    rngSeed: 0,
  };
  // The least budget leaves none for a repetition of a failed run.
  return { ...config, maxRollouts: minimumRollouts(config) };
}
