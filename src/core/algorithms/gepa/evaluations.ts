/** Full evaluations: of the baseline, and of the most promising candidate. */
import { mean } from '../../math/rewards.js';
import { sampleOf } from '../../math/statistics.js';
import type { Batch, Pair } from '../../search/batch.js';
import { remainingRollouts, searchRollouts } from '../../search/budget.js';
import { evaluationRollouts, heldoutRollouts } from '../../search/config.js';
import {
  evaluatedRows,
  evaluationRewards,
  isFailedEvaluation,
  missingPairs,
  recordEvaluation,
} from '../../search/evaluation.js';
import type { Decision } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import { canSpareEvaluation, isBudgetAmple } from './budget.js';
import { forecast } from './forecast.js';
import { isBetter } from './pool.js';
import type { GepaState } from './state.js';
import { strategyOf } from './strategies.js';

/** Rollouts between two evaluations before the end, in full evaluations. */
const evaluationInterval = 6;
/** The same while the budget is ample. */
const ampleInterval = 3;
/** Rollouts of all evaluations before the end: their rewards are the largest part of the state. */
const maxEvaluationRollouts = 15_000;

export function afterEvaluation(state: GepaState, candidate: number, batch: Batch, decisions: Decision[]): GepaState {
  return isFailedEvaluation(state, batch, candidate)
    ? withoutReward(state, candidate)
    : evaluated(state, candidate, decisions);
}

/** A candidate whose evaluation has no reward is no longer a possible parent. */
function withoutReward(state: GepaState, candidate: number): GepaState {
  return { ...state, pool: state.pool.filter((member) => member !== candidate) };
}

export function evaluated(before: GepaState, candidate: number, decisions: Decision[]): GepaState {
  const reward = mean(evaluationRewards(before, candidate));
  if (reward === null) return withoutReward(before, candidate);
  const rated = { candidate, reward };
  const state = recordEvaluation(before, rated, sampleOf(evaluatedRows(before, candidate)), decisions);
  const { best, asked: evaluatedAt, pool } = state;
  if (best !== null && !isBetter(state, rated, best)) return { ...state, evaluatedAt };
  // A shorter form becomes a parent only as the best.
  return { ...state, evaluatedAt, best: rated, pool: pool.includes(candidate) ? pool : [...pool, candidate] };
}

/** The rollouts of an evaluation beside the search, if one is due; null: none. */
export function planEvaluation(state: GepaState, model: RewardModel, incumbent: number): Pair[] | null {
  if (isEvaluated(state, incumbent) || !isEvaluationDue(state, model, incumbent)) return null;
  const missing = missingEvaluation(state, model, incumbent);
  return missing.length > 0 && isAffordable(state, missing.length) ? missing : null;
}

/** Rollouts that an evaluation of the candidate still needs. */
export function missingEvaluation(state: GepaState, model: RewardModel, candidate: number): Pair[] {
  return missingPairs(state, candidate, model.noise.variance > 0 || state.config.repeats > 1);
}

export function isEvaluated({ candidates }: GepaState, candidate: number): boolean {
  return candidates.some((summary) => summary.candidate === candidate && summary.reward !== null);
}

/**
 * Whether an evaluation is within the budget and the estimate, which counts one per generation.
 * An evaluation can make another candidate the most promising, which is then evaluated too.
 */
export function isAffordable(state: GepaState, rollouts: number): boolean {
  const { config, generation, evaluationsAsked } = state;
  if (evaluationsAsked + rollouts > generation * evaluationRollouts(config)) return false;
  return rollouts <= remainingRollouts(state) - heldoutRollouts(config);
}

/** The state with the rollouts of an evaluation counted. */
export function countEvaluation(state: GepaState, rollouts: number): GepaState {
  return { ...state, evaluationsAsked: state.evaluationsAsked + rollouts };
}

/** Whether the incumbent is evaluated before the search ends. */
export function isEvaluationDue(state: GepaState, model: RewardModel, incumbent: number): boolean {
  const { config, candidates } = state;
  const cost = evaluationRollouts(config);
  const spent = cost * candidates.filter(({ reward }) => reward !== null).length;
  if (spent >= maxEvaluationRollouts) return false;
  const { targetReward } = config;
  if (strategyOf(state, model).evaluate(state, model, incumbent)) return true;
  if (targetReward !== null && forecast(state, model, incumbent).mean >= targetReward) return true;
  const isLongAgo = state.asked - state.evaluatedAt >= evaluationInterval * cost;
  if (canSpareEvaluation(state) || (isLongAgo && searchRollouts(state) >= cost)) return true;
  return isBudgetAmple(state) && state.asked - state.evaluatedAt >= ampleInterval * cost;
}
