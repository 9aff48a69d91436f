/** The search configuration of a graph job: GEPA over tasks as seeds, within the rollout budget. */
import { gepaDefaults, gepaLimits, maxRegressionSeeds } from '../algorithms/gepa/config.js';
import type { GepaSearch } from '../algorithms/index.js';
import { evaluationRollouts, heldoutRollouts, minibatchOf } from '../search/config.js';
import { splitTasks } from './task-split.js';

/** Per effort: proposals per generation, and the failures shown to each and then tested. */
const efforts = {
  low: { proposals: 1, shown: 2 },
  medium: { proposals: 2, shown: 3 },
  high: { proposals: 4, shown: 5 },
} as const;

/** Maximum shares of the budget for evaluation and held-out comparison; at least `minTasks`. */
const shares = { evaluation: 1 / 10, heldout: 1 / 20, minTasks: 3 } as const;

export interface GraphSearchRequest {
  tasks: number;
  rolloutBudget: number;
  effort: keyof typeof efforts;
  rngSeed: number;
}

/** The search for a data set; a seed is a task's index. `configProblems` checks the budget. */
export function graphSearch({ tasks, rolloutBudget, effort, rngSeed }: GraphSearchRequest): GepaSearch {
  const { proposals, shown } = efforts[effort];
  const share = (share: number) =>
    Math.min(gepaLimits.evaluationSeeds, Math.max(shares.minTasks, Math.floor(share * rolloutBudget)));
  const split = splitTasks(tasks, rngSeed, {
    train: gepaLimits.trainSeeds,
    evaluation: share(shares.evaluation),
    heldout: share(shares.heldout),
  });
  const config: GepaSearch = {
    ...gepaDefaults,
    algorithm: 'gepa',
    populationSize: proposals,
    generations: 1,
    minibatchSize: shown,
    trainSeeds: split.train,
    evaluationSeeds: split.evaluation,
    heldoutSeeds: split.heldout,
    editsStructure: true,
    maxRollouts: rolloutBudget,
    rngSeed,
  };
  const left = rolloutBudget - 2 * evaluationRollouts(config) - heldoutRollouts(config);
  const generation = proposals * 2 * (minibatchOf(config) + maxRegressionSeeds(config));
  const most = Math.floor((gepaLimits.candidates - 1) / proposals);
  return { ...config, generations: Math.min(most, Math.max(1, Math.floor(left / generation))) };
}
