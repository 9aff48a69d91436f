/**
 * The registry of algorithms; a new one is a folder, an entry here and its request fields in
 * `src/kinds/session/contract/algorithms.ts`.
 */
import type { PolicyOptimization } from '../../kinds/session/contract/create.js';
import type { ConfigProblem } from '../search/config.js';
import type { SearchAlgorithm, Step } from '../search/protocol.js';
import type { SeedSplit } from '../search/split.js';
import type { SearchEstimate } from './estimate.js';
import * as gepaConfig from './gepa/config.js';
import * as gepaRequest from './gepa/request.js';
import { createGepa, type GepaState } from './gepa/state.js';
import { gepa } from './gepa.js';
import { createUnpaired, type UnpairedState } from './gepa-live/state.js';
import { unpaired } from './gepa-live.js';
import * as miproConfig from './mipro/config.js';
import * as miproRequest from './mipro/request.js';
import { createMipro, type MiproState } from './mipro/state.js';
import { mipro } from './mipro.js';

/** A search as a job stores it: the algorithm with its config. */
export interface GepaSearch extends gepaConfig.GepaConfig {
  algorithm: 'gepa';
}
export interface MiproSearch extends miproConfig.MiproConfig {
  algorithm: 'mipro';
}
export type SearchSettings = GepaSearch | MiproSearch;

/** The fields of a search that grow with the request. */
export type SeedFields = 'trainSeeds' | 'evaluationSeeds' | 'heldoutSeeds';

/** The state of a search. */
export type AnySearchState = GepaState | UnpairedState | MiproState;

interface AlgorithmEntry<Settings> {
  toConfig(request: PolicyOptimization, split: SeedSplit | null): Omit<Settings, 'algorithm'>;
  /** The state of a search that is about to evaluate the baseline. */
  create(search: Settings): AnySearchState;
  configProblems(search: Settings, isLive: boolean): ConfigProblem<string>[];
  totalGenerations(search: Omit<Settings, SeedFields>): number;
  /** `components`: those of the prompt, where known. */
  estimate(search: Settings, run: { isLive: boolean; components: number }): SearchEstimate;
  /** Whether every candidate has demonstrations beside its texts, if only none. */
  hasDemos: boolean;
}

const algorithms: { [Name in SearchSettings['algorithm']]: AlgorithmEntry<SearchSettings & { algorithm: Name }> } = {
  gepa: {
    toConfig: gepaRequest.toConfig,
    create: createGepa,
    configProblems: gepaConfig.configProblems,
    totalGenerations: ({ generations }) => generations,
    estimate(search, { isLive }) {
      const estimate = gepaConfig.estimateSearch(search);
      if (!isLive) return estimate;
      // Calls without known instances need more rollouts; the first call shows if they have any.
      const { rolloutsPlanned } = unpaired.view(createUnpaired(search));
      return { ...estimate, maxRollouts: Math.max(estimate.maxRollouts, rolloutsPlanned) };
    },
    hasDemos: false,
  },
  mipro: {
    toConfig: miproRequest.toConfig,
    create: createMipro,
    configProblems: miproConfig.configProblems,
    totalGenerations: miproConfig.generationsOf,
    estimate(search, { isLive, components }) {
      const state: MiproState = { ...createMipro(search), traffic: isLive ? 'unpaired' : 'paired' };
      return miproConfig.estimateSearch(search, components, mipro.view(state).rolloutsPlanned);
    },
    hasDemos: true,
  },
};

/** The algorithm of a stored search. */
export function algorithmOf({ algorithm }: Pick<SearchSettings, 'algorithm'>): AlgorithmEntry<SearchSettings> {
  return algorithms[algorithm] as AlgorithmEntry<SearchSettings>;
}

/** The search that a request describes; `split`: the seeds of a request that names none. */
export function searchFromRequest(request: PolicyOptimization, split: SeedSplit | null = null): SearchSettings {
  const { algorithm } = request;
  return { algorithm, ...algorithmOf({ algorithm }).toConfig(request, split) } as SearchSettings;
}

const steps = { gepa, unpaired, mipro };

/** The search of a state. */
export function searchOf({ algorithm }: AnySearchState): SearchAlgorithm<AnySearchState> {
  return steps[algorithm] as SearchAlgorithm<AnySearchState>;
}

/** The state with a search's limits raised to those of `search`; null: it would end at once. */
export function extendSearch(state: AnySearchState, search: SearchSettings): Step<AnySearchState> | null {
  const { maxRollouts } = search;
  const count = search.algorithm === 'gepa' ? { generations: search.generations } : { numTrials: search.numTrials };
  return searchOf(state).extend(state, { maxRollouts, ...count });
}

/**
 * The state once a live search shows that its calls name no instance; applied before the baseline's
 * rewards, because both kinds of search begin with the same rollouts.
 */
export function switchToUnpaired(state: AnySearchState): AnySearchState {
  if (state.phase.name !== 'baseline') return state;
  switch (state.algorithm) {
    case 'gepa':
      return createUnpaired(state.config);
    case 'mipro':
      return { ...state, traffic: 'unpaired' };
    case 'unpaired':
      return state;
  }
}
