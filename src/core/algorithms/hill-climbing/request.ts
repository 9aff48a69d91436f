/** The config of a hill-climbing search from a session's request. */
import type { PolicyOptimization } from '../../../contracts/sessions/create.js';
import { commonConfig, commonPaths, type RequestPaths } from '../../search/request.js';
import type { HillClimbingConfig } from './config.js';

const name = 'hill_climbing';

export function toConfig(request: PolicyOptimization): HillClimbingConfig {
  const section = request[name]!;
  return {
    ...commonConfig(request, section),
    neighbors: section.neighbors,
    generations: section.generations,
    minibatchSize: section.minibatch_size,
  };
}

export const requestPaths: RequestPaths<Omit<HillClimbingConfig, keyof MutationFields>> = {
  ...commonPaths(name),
  neighbors: [name, 'neighbors'],
  generations: [name, 'generations'],
};

type MutationFields = Pick<HillClimbingConfig, 'componentSelection' | 'editsStructure'>;
