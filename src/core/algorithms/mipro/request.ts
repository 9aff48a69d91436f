/** The config of a MIPRO search from a session's request. */
import type { PolicyOptimization } from '../../../kinds/session/contract/create.js';
import { camelCased } from '../../../util/naming.js';
import { commonConfig } from '../../search/request.js';
import type { SeedSplit } from '../../search/split.js';
import { defaultMinibatch, defaultTrials, type MiproConfig } from './config.js';

export function toConfig(request: PolicyOptimization, split: SeedSplit | null = null): MiproConfig {
  const { train_seeds, evaluation, num_trials, minibatch_size, ...fields } = request.mipro!;
  const common = commonConfig(request, { train_seeds, evaluation }, split);
  const minibatchSize = minibatch_size ?? defaultMinibatch(common.evaluationSeeds.length);
  const config = { ...common, ...camelCased(fields), minibatchSize };
  const components = Math.max(1, request.initial_prompt?.messages.length ?? 1);
  // A budget of rollouts ends the search, so that it is used.
  const trials = config.maxRollouts === null ? defaultTrials(config, components) : null;
  return { ...config, numTrials: num_trials ?? trials };
}
