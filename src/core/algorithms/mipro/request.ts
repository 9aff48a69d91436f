/** The config of a MIPRO search from a session's request. */
import type { PolicyOptimization } from '../../../contracts/sessions/create.js';
import { commonConfig, commonPaths, type RequestPaths } from '../../search/request.js';
import type { SeedSplit } from '../../search/split.js';
import { defaultMinibatch, defaultTrials, type MiproConfig } from './config.js';

export function toConfig(request: PolicyOptimization, split: SeedSplit | null = null): MiproConfig {
  const mipro = request.mipro!;
  const common = commonConfig(request, mipro, split);
  const config = {
    ...common,
    numCandidates: mipro.num_candidates,
    minibatchSize: mipro.minibatch_size ?? defaultMinibatch(common.evaluationSeeds.length),
    maxBootstrappedDemos: mipro.max_bootstrapped_demos,
    maxLabeledDemos: mipro.max_labeled_demos,
  };
  const components = Math.max(1, request.initial_prompt?.messages.length ?? 1);
  // A budget of rollouts ends the search, so that it is used.
  const trials = config.maxRollouts === null ? defaultTrials(config, components) : null;
  return { ...config, numTrials: mipro.num_trials ?? trials };
}

export const requestPaths: RequestPaths<MiproConfig> = {
  ...commonPaths('mipro'),
  numCandidates: ['mipro', 'num_candidates'],
  numTrials: ['mipro', 'num_trials'],
  maxBootstrappedDemos: ['mipro', 'max_bootstrapped_demos'],
  maxLabeledDemos: ['mipro', 'max_labeled_demos'],
};
