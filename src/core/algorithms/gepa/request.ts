/** The config of a GEPA search from a session's request. */
import type { PolicyOptimization } from '../../../kinds/session/contract/create.js';
import { camelCased } from '../../../util/naming.js';
import { commonConfig } from '../../search/request.js';
import type { SeedSplit } from '../../search/split.js';
import type { GepaConfig } from './config.js';

export function toConfig(request: PolicyOptimization, split: SeedSplit | null = null): GepaConfig {
  const { train_seeds, evaluation, ...fields } = request.gepa!;
  return {
    ...commonConfig(request, { train_seeds, evaluation }, split),
    ...camelCased(fields),
    goodAnswers: 0,
    trials: null,
    ...(request.rollouts === 'caller' && { demonstrations: 0 }),
    // Live traffic comes one request at a time.
    slots: request.rollouts === 'caller' ? 1 : request.max_concurrent,
  };
}
