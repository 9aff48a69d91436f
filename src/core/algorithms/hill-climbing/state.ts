/** The state of a hill-climbing search. */
import { seedRng } from '../../math/random.js';
import type { Batch } from '../../search/batch.js';
import type { PlannedProposal } from '../../search/proposing.js';
import { beginSeededSearch, requireValid, type CommonPhase, type SeededState } from '../../search/state.js';
import { configProblems, type HillClimbingConfig } from './config.js';

type Phase =
  | CommonPhase
  | { name: 'proposals'; planned: PlannedProposal[] }
  /** The neighbors of a generation, each on all evaluation seeds. */
  | { name: 'evaluation'; batch: Batch; neighbors: number[] };

export interface HillClimbingState extends SeededState {
  algorithm: 'hill_climbing';
  config: HillClimbingConfig;
  phase: Phase;
}

export function createHillClimbing(config: HillClimbingConfig): HillClimbingState {
  requireValid(configProblems(config, false));
  const order = [...new Set(config.evaluationSeeds)];
  return { algorithm: 'hill_climbing', ...beginSeededSearch(config, order, seedRng(config.rngSeed, 4)) };
}
