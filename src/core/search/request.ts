/** The fields of a session's request that every search takes. */
import type { AlgorithmName, SeedsSection } from '../../kinds/session/contract/algorithms.js';
import type { PolicyOptimization } from '../../kinds/session/contract/create.js';
import { snakeCased } from '../../util/naming.js';
import { samples, type SearchConfig } from './config.js';
import type { SeedSplit } from './split.js';

type CommonConfig = Omit<SearchConfig, 'minibatchSize'>;

/** `split`: the seeds of a request that names none. */
export function commonConfig(
  request: PolicyOptimization,
  { train_seeds: trainSeeds, evaluation }: SeedsSection,
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

/** The path in a request of a field of the config, for its problems. */
export function requestPath(algorithm: AlgorithmName, field: string): string[] {
  return outsidePaths[field] ?? [algorithm, ...(evaluationPaths[field] ?? [snakeCased(field)])];
}

type Paths = Partial<Record<string, string[]>>;

/** Fields that are not in the section of the algorithm. */
const outsidePaths: Paths = {
  algorithm: ['algorithm'],
  maxRollouts: ['budget', 'max_rollouts'],
  rngSeed: ['rng_seed'],
  patience: ['patience'],
  targetReward: ['target_reward'],
  isSampled: ['policy', 'temperature'],
  slots: ['max_concurrent'],
};

const evaluationPaths: Paths = {
  evaluationSeeds: ['evaluation', 'seeds'],
  heldoutSeeds: ['evaluation', 'heldout_seeds'],
  repeats: ['evaluation', 'repeats'],
};
