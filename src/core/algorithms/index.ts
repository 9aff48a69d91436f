/**
 * The algorithms of the wire: each is a composition of the one search. A further one is a file, an
 * entry here and its request fields in `src/kinds/session/contract/algorithms.ts`.
 */
import type { AlgorithmName } from '../../kinds/session/contract/algorithms.js';
import type { PolicyOptimization } from '../../kinds/session/contract/create.js';
import type { ConfigProblem } from '../search/config.js';
import type { SearchAlgorithm, Step } from '../search/protocol.js';
import type { SeedSplit } from '../search/split.js';
import type { SearchEstimate } from './estimate.js';
import * as gepaConfig from './gepa/config.js';
import type { GepaState } from './gepa/state.js';
import { configProblems, gepa, toConfig } from './gepa.js';
import { createUnpaired, type UnpairedState } from './gepa-live/state.js';
import { unpaired } from './gepa-live.js';
import * as mipro from './mipro.js';

/** A search as a job stores it: the algorithm with its config. */
export interface SearchSettings extends gepaConfig.GepaConfig {
  algorithm: AlgorithmName;
}

/** The fields of a search that grow with the request. */
export type SeedFields = 'trainSeeds' | 'evaluationSeeds' | 'heldoutSeeds';

/** The state of a search. */
export type AnySearchState = GepaState | UnpairedState;

/** What a name on the wire composes. */
interface Composition {
  toConfig(request: PolicyOptimization, split: SeedSplit | null): gepaConfig.GepaConfig;
  configProblems(config: gepaConfig.GepaConfig): ConfigProblem<string>[];
  estimateSearch(config: gepaConfig.GepaConfig): SearchEstimate;
}

const compositions: Record<AlgorithmName, Composition> = {
  gepa: { toConfig, configProblems, estimateSearch: gepaConfig.estimateSearch },
  mipro,
};

/** The composition of a stored search. */
export function algorithmOf({ algorithm }: Pick<SearchSettings, 'algorithm'>): Composition {
  return compositions[algorithm];
}

export function estimateSearch(search: SearchSettings, isLive: boolean): SearchEstimate {
  const estimate = algorithmOf(search).estimateSearch(search);
  if (!isLive) return estimate;
  // Calls without known instances need more rollouts; the first call shows if they have any.
  const { rolloutsPlanned } = unpaired.view(createUnpaired(search));
  return { ...estimate, maxRollouts: Math.max(estimate.maxRollouts, rolloutsPlanned) };
}

/** The search that a request describes; `split`: the seeds of a request that names none. */
export function searchFromRequest(request: PolicyOptimization, split: SeedSplit | null = null): SearchSettings {
  const { algorithm } = request;
  return { algorithm, ...algorithmOf({ algorithm }).toConfig(request, split) };
}

const steps = { gepa, unpaired };

/** The search of a state. */
export function searchOf({ algorithm }: AnySearchState): SearchAlgorithm<AnySearchState> {
  return steps[algorithm] as SearchAlgorithm<AnySearchState>;
}

/** The state with a search's limits raised to those of `search`, unless it would end at once. */
export function extendSearch(state: AnySearchState, search: SearchSettings): Step<AnySearchState> | { endsBy: string } {
  const { maxRollouts, generations, trials } = search;
  return searchOf(state).extend(state, { maxRollouts, generations, trials });
}

/**
 * The state once a live search shows that its calls name no instance; applied before the baseline's
 * rewards, because both kinds of search begin with the same rollouts.
 */
export function switchToUnpaired(state: AnySearchState): AnySearchState {
  if (state.phase.name !== 'baseline' || state.algorithm === 'unpaired') return state;
  return createUnpaired(state.config);
}
