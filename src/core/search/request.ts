/** The fields of a session's request that every search takes. */
import type { PolicyOptimization } from '../../contracts/sessions/create.js';
import { samples, type SearchConfig } from './config.js';
import type { SeedSplit } from './split.js';

/** The fields that each algorithm has in its own section of the request. */
interface Section {
  train_seeds?: number[] | undefined;
  evaluation?: { seeds?: number[] | undefined; heldout_seeds?: number[] | undefined; repeats: number } | undefined;
}

type CommonConfig = Omit<SearchConfig, 'minibatchSize'>;

/** `split`: the seeds of a request that names none. */
export function commonConfig(
  request: PolicyOptimization,
  { train_seeds: trainSeeds, evaluation }: Section,
  split: SeedSplit | null,
): CommonConfig {
  const evaluationSeeds = split?.evaluation ?? evaluation?.seeds ?? [];
  // Whoever runs the rollouts of live traffic repeats none.
  const isSampled = request.rollouts !== 'caller' && samples(request.policy);
  return {
    ...(isSampled && { isSampled }),
    trainSeeds: split?.train ?? trainSeeds ?? evaluationSeeds,
    evaluationSeeds,
    heldoutSeeds: split?.heldout ?? evaluation?.heldout_seeds ?? [],
    repeats: evaluation?.repeats ?? 1,
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
    isSampled: ['policy', 'temperature'],
  };
}
