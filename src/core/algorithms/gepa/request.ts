/** The config of a GEPA search from a session's request. */
import type { PolicyOptimization } from '../../../contracts/sessions/create.js';
import { commonConfig, commonPaths, type RequestPaths } from '../../search/request.js';
import type { SeedSplit } from '../../search/split.js';
import type { GepaConfig } from './config.js';

export function toConfig(request: PolicyOptimization, split: SeedSplit | null = null): GepaConfig {
  const gepa = request.gepa!;
  return {
    ...commonConfig(request, gepa, split),
    populationSize: gepa.population_size,
    generations: gepa.generations,
    minibatchSize: gepa.minibatch_size,
    merge: gepa.merge,
    componentSelection: gepa.component_selection,
    parentSelection: gepa.parent_selection,
    // Live traffic comes one request at a time.
    slots: request.rollouts === 'caller' ? 1 : request.max_concurrent,
  };
}

export const requestPaths: RequestPaths<Omit<GepaConfig, 'editsStructure' | 'traceDetail'>> = {
  ...commonPaths('gepa'),
  populationSize: ['gepa', 'population_size'],
  generations: ['gepa', 'generations'],
  merge: ['gepa', 'merge'],
  componentSelection: ['gepa', 'component_selection'],
  parentSelection: ['gepa', 'parent_selection'],
  slots: ['max_concurrent'],
};
