/**
 * Ablation at the end of a graph search: the incumbent without one of its steps, for each step. A
 * child without the step is accepted if it loses nothing and costs less (`acceptance.ts`).
 */
import { searchRollouts } from '../../search/budget.js';
import { evaluationRollouts } from '../../search/config.js';
import { isCheaper } from '../../search/costs.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { ProposalAnswer } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import { solvedSeeds } from '../../search/targeted-test.js';
import { gepaLimits, roomForCandidates } from './config.js';
import { incumbentOf } from './pool.js';
import { newTrial, type GepaState, type Trial } from './state.js';

/** Seeds of the first test round: most steps that do something lose one of them. */
export const firstSeeds = 2;
/** In place of a count: no further step can be removed. */
const allAblated = gepaLimits.candidates;

/** Plans the incumbent without its next step; null: there is none, or no budget. */
export function planAblation(state: GepaState): Trial | null {
  const model = rewardModelOf(state);
  const incumbent = incumbentOf(state, model);
  if (!canAblate(state, incumbent) || searchRollouts(state) <= firstSeeds) return null;
  const { nextCandidate: candidate } = state;
  const ablation = ablationsOf(state, incumbent);
  const shown = solvedSeeds(state, model, incumbent, candidate).slice(0, firstSeeds);
  if (shown.length === 0) return null;
  return { ...newTrial(candidate, state.generation, [incumbent]), shown, ablation };
}

/** Counts an answered ablation; a failed one was the last of its parent. */
export function countAblation(state: GepaState, { parents, ablation }: Trial, { outcome }: ProposalAnswer): GepaState {
  if (ablation === undefined) return state;
  const count = outcome === 'failed' ? allAblated : ablation + 1;
  return { ...state, ablated: { ...state.ablated, [parents[0]!]: count } };
}

/** The rollouts that a search keeps for the ablation of its incumbent. */
export function ablationReserve(state: GepaState, model: RewardModel): number {
  return canAblate(state, incumbentOf(state, model)) ? firstSeeds + ablationSeeds(state) : 0;
}

/** The most seeds of the second test round. */
export function ablationSeeds({ config }: GepaState): number {
  return evaluationRollouts(config);
}

/** Only a graph that costs more than the first one can have steps that do nothing. */
function canAblate(state: GepaState, incumbent: number): boolean {
  const { config, costs } = state;
  if (config.editsStructure !== true || roomForCandidates(state) <= 0) return false;
  return isCheaper(costs, 0, incumbent) && ablationsOf(state, incumbent) < allAblated;
}

function ablationsOf({ ablated = {} }: GepaState, candidate: number): number {
  return ablated[candidate] ?? 0;
}
