/** The fields of a session's request that every search takes. */
import type { PolicyOptimization } from '../../contracts/sessions/create.js';
import type { SearchConfig } from './config.js';

/** The fields that each algorithm has in its own section of the request. */
interface Section {
  train_seeds?: number[] | undefined;
  evaluation: { seeds: number[]; heldout_seeds?: number[] | undefined; repeats: number };
}

type CommonConfig = Omit<SearchConfig, 'minibatchSize'>;

export function commonConfig(
  request: PolicyOptimization,
  { train_seeds: trainSeeds, evaluation }: Section,
): CommonConfig {
  return {
    trainSeeds: trainSeeds ?? evaluation.seeds,
    evaluationSeeds: evaluation.seeds,
    heldoutSeeds: evaluation.heldout_seeds ?? [],
    repeats: evaluation.repeats,
    patience: request.patience ?? null,
    targetReward: request.target_reward ?? null,
    maxRollouts: request.budget?.max_rollouts ?? null,
    rngSeed: request.rng_seed,
  };
}

/** The path in a request of each field of a config, for its problems. */
export type RequestPaths<Config> = Record<keyof Config | 'algorithm', string[]>;

export function commonPaths(algorithm: string): RequestPaths<SearchConfig> {
  return {
    algorithm: ['algorithm'],
    minibatchSize: [algorithm, 'minibatch_size'],
    trainSeeds: [algorithm, 'train_seeds'],
    evaluationSeeds: [algorithm, 'evaluation', 'seeds'],
    maxRollouts: ['budget', 'max_rollouts'],
    rngSeed: ['rng_seed'],
    heldoutSeeds: [algorithm, 'evaluation', 'heldout_seeds'],
    repeats: [algorithm, 'evaluation', 'repeats'],
    patience: ['patience'],
    targetReward: ['target_reward'],
  };
}
