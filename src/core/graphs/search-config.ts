/** How a graph job searches: with GEPA, over tasks in the place of seeds, as much as its budget of rollouts buys. */
import { gepaLimits, maxRegressionSeeds, type GepaConfig } from '../algorithms/gepa/config.js';
import { evaluationRollouts, heldoutRollouts, minibatchOf } from '../search/config.js';
import { splitTasks } from './task-split.js';

/** What each effort buys: proposals a generation, and how many failures a proposal is shown and then tried on. */
const efforts = {
  low: { proposals: 1, shown: 2 },
  medium: { proposals: 2, shown: 3 },
  high: { proposals: 4, shown: 5 },
} as const;

/** Of the budget, what one evaluation and what one of the two held-out comparisons may take at most, but never fewer tasks than `fewest`. */
const shares = { evaluation: 1 / 10, heldout: 1 / 20, fewest: 3 } as const;

export interface GraphSearchRequest {
  tasks: number;
  rolloutBudget: number;
  effort: keyof typeof efforts;
  rngSeed: number;
}

/** The search for a data set of so many tasks; a seed is a task's place. Whether the budget suffices `configProblems` says. */
export function graphSearch({ tasks, rolloutBudget, effort, rngSeed }: GraphSearchRequest): GepaConfig {
  const { proposals, shown } = efforts[effort];
  const part = (share: number) =>
    Math.min(gepaLimits.evaluationSeeds, Math.max(shares.fewest, Math.floor(share * rolloutBudget)));
  const split = splitTasks(tasks, rngSeed, {
    train: gepaLimits.trainSeeds,
    evaluation: part(shares.evaluation),
    heldout: part(shares.heldout),
  });
  const config: GepaConfig = {
    populationSize: proposals,
    generations: 1,
    minibatchSize: shown,
    trainSeeds: split.train,
    evaluationSeeds: split.evaluation,
    heldoutSeeds: split.heldout,
    repeats: 1,
    merge: true,
    editsStructure: true,
    patience: null,
    targetReward: null,
    maxRollouts: rolloutBudget,
    rngSeed,
  };
  const left = rolloutBudget - 2 * evaluationRollouts(config) - heldoutRollouts(config);
  const generation = proposals * 2 * (minibatchOf(config) + maxRegressionSeeds(config));
  const most = Math.floor((gepaLimits.candidates - 1) / proposals);
  return { ...config, generations: Math.min(most, Math.max(1, Math.floor(left / generation))) };
}
