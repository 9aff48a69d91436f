/**
 * The loop of generations: GEPA's (arXiv 2507.19457, algorithm 1) with fewer rollouts. An accepted
 * child takes a targeted test instead of a full evaluation (`acceptance.ts`). By default the parent
 * has the best estimate (`parents.ts`). Reflection sees failures of earlier rollouts. Accepted
 * children are merged. Full evaluations are rare: of the most promising candidate, and at the end.
 * Invariants: only a fully evaluated candidate can be the best, so `history` never falls; decisions
 * come in the order of the candidates' numbers.
 */
import { isSolved, mean } from '../../math/rewards.js';
import type { Batch, Pair } from '../../search/batch.js';
import { remainingRollouts, searchRollouts } from '../../search/budget.js';
import { changeCandidate } from '../../search/candidates.js';
import { evaluationRollouts, heldoutRollouts, minibatchOf } from '../../search/config.js';
import {
  evaluationRewards,
  heldoutPairs,
  isFailedEvaluation,
  missingPairs,
  recordEvaluation,
  seedsEvaluated,
} from '../../search/evaluation.js';
import { ask, failWithoutBaseline, finish, recordGeneration, stopReason } from '../../search/lifecycle.js';
import { canImprove } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { Decision, ProposalAnswer, StoppedBy } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { PhaseOf } from '../../search/state.js';
import { ablate, ablationReserve } from './ablation.js';
import { decideAcceptance, decideFromKnownResults, isUntested } from './acceptance.js';
import { canSpareEvaluation } from './budget.js';
import { addChildren, merge, reflect } from './children.js';
import { gepaLimits } from './config.js';
import { explore, exploreFurther } from './exploration.js';
import { forecast } from './forecast.js';
import { addGiven, tryGiven } from './given.js';
import { drawParent } from './parents.js';
import { isExhausted } from './variation.js';
import { incumbentOf, isBetter, trimPool } from './pool.js';
import type { GepaState } from './state.js';

/** Rollouts between two evaluations before the end, in full evaluations. */
const evaluationInterval = 6;
/** Rollouts of all evaluations before the end: their rewards are the largest part of the state. */
const maxEvaluationRollouts = 15_000;

export function afterEvaluation(state: GepaState, candidate: number, batch: Batch, decisions: Decision[]): GepaState {
  const isFailed = isFailedEvaluation(state, batch, candidate);
  const after = isFailed ? withoutReward(state, candidate) : evaluated(state, candidate, decisions);
  return after.best === null ? failWithoutBaseline(after) : endGeneration(after, decisions);
}

export function afterMinibatch(state: GepaState, batch: Batch, decisions: Decision[]): GepaState {
  return exploreFurther(state, batch) ?? reflect(state) ?? endGeneration(state, decisions);
}

/** Tests the proposed children, as many as the budget allows. */
export function afterProposals(
  before: GepaState,
  { trials: planned }: PhaseOf<GepaState, 'proposals'>,
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): GepaState {
  const add = planned.every(({ given }) => given !== undefined) ? addGiven : addChildren;
  const { state, trials: proposed } = add(before, planned, answers, decisions);
  if (state.phase.name === 'failed') return state;
  const pairs = proposed.flatMap(({ candidate, shown }) => shown.map((seed): Pair => [candidate, seed]));
  const affordable = pairs.slice(0, Math.max(0, searchRollouts(state)));
  const tested = new Set(affordable.map(([candidate]) => candidate));
  if (tested.size === 0) return endGeneration(state, decisions);
  const trials = proposed.filter(({ candidate }) => tested.has(candidate));
  return ask(state, affordable, (batch) => ({ name: 'gate', batch, trials, open: [...tested] }));
}

/** Continues each child's test or records its verdict; an accepted child may become a parent. */
export function afterTestRound(before: GepaState, phase: PhaseOf<GepaState, 'gate'>, decisions: Decision[]): GepaState {
  const { generation } = before;
  const isOpen = (candidate: number) => phase.open.includes(candidate);
  const trials = phase.trials.map((trial) =>
    isOpen(trial.candidate) ? { ...trial, rounds: trial.rounds + 1 } : trial,
  );
  const model = rewardModelOf(before);
  const pairs: Pair[] = [];
  const open: number[] = [];
  let state = before;
  let left = Math.max(0, searchRollouts(before));
  for (const trial of trials) {
    const { candidate } = trial;
    if (!isOpen(candidate)) continue;
    const step = decideAcceptance(before, model, trial);
    if ('ask' in step && step.ask.length <= left) {
      left -= step.ask.length;
      pairs.push(...step.ask);
      open.push(candidate);
      continue;
    }
    const verdict = 'ask' in step ? decideFromKnownResults(before, model, trial) : step;
    const { saves, expectedSum: parentSum, childSum } = verdict;
    const accepted = verdict.accepted && !('ask' in step && isUntested(model, trial));
    const sums = { parentSum, childSum, tested: Object.keys(before.results[candidate] ?? {}).length };
    if (accepted) {
      const estimate = forecast(state, model, candidate).mean;
      const reason = saves && { reason: saves };
      decisions.push({ type: 'candidate_accepted', candidate, generation, ...sums, estimate, ...reason });
      state = { ...state, pool: [...state.pool, candidate] };
    } else {
      const reason = 'ask' in step ? 'budget' : 'not_better';
      decisions.push({ type: 'candidate_rejected', candidate, generation, reason, ...sums });
      state = { ...state, candidates: changeCandidate(state.candidates, candidate, { status: 'rejected' }) };
    }
  }
  if (open.length > 0) return ask(state, pairs, (batch) => ({ name: 'gate', batch, trials, open }));
  return merge(state, trials) ?? endGeneration(state, decisions);
}

/** A candidate whose evaluation has no reward is no longer a possible parent. */
function withoutReward(state: GepaState, candidate: number): GepaState {
  return { ...state, pool: state.pool.filter((member) => member !== candidate) };
}

function evaluated(before: GepaState, candidate: number, decisions: Decision[]): GepaState {
  const reward = mean(evaluationRewards(before, candidate));
  if (reward === null) return withoutReward(before, candidate);
  const rated = { candidate, reward };
  const state = recordEvaluation(before, rated, seedsEvaluated(before, candidate), decisions);
  const { best, asked: evaluatedAt } = state;
  return { ...state, evaluatedAt, best: best === null || isBetter(state, rated, best) ? rated : best };
}

/** Ends the generation, after an evaluation of the most promising candidate if one is due. */
function endGeneration(before: GepaState, decisions: Decision[]): GepaState {
  const state = trimPool(before);
  const given = tryGiven(state);
  if (given !== null) return given;
  const model = rewardModelOf(state);
  const incumbent = incumbentOf(state, model);
  const stop = whyStop(state, model, incumbent);
  const ablation = stop === null ? null : ablate(state);
  if (ablation !== null) return ablation;
  if (!isEvaluated(state, incumbent) && (stop !== null || isEvaluationDue(state, model, incumbent))) {
    const missing = missingPairs(state, incumbent, model.noise.variance > 0 || state.config.repeats > 1);
    if (missing.length === 0) return endGeneration(evaluated(state, incumbent, decisions), decisions);
    const counted = { ...state, evaluationsAsked: state.evaluationsAsked + missing.length };
    if (isAffordable(counted, missing.length)) {
      return ask(counted, missing, (batch) => ({ name: 'evaluation', batch, candidate: incumbent }));
    }
  }
  return finishGeneration(state, stop, decisions);
}

function isEvaluated({ candidates }: GepaState, candidate: number): boolean {
  return candidates.some((summary) => summary.candidate === candidate && summary.reward !== null);
}

/**
 * Whether an evaluation is within the budget and the estimate, which counts one per generation.
 * An evaluation can make another candidate the most promising, which is then evaluated too.
 */
function isAffordable(state: GepaState, rollouts: number): boolean {
  const { config, generation, evaluationsAsked } = state;
  if (evaluationsAsked > generation * evaluationRollouts(config)) return false;
  return rollouts <= remainingRollouts(state) - heldoutRollouts(config);
}

/** Whether the incumbent is evaluated before the search ends. */
function isEvaluationDue(state: GepaState, model: RewardModel, incumbent: number): boolean {
  const { config, candidates } = state;
  const cost = evaluationRollouts(config);
  const spent = cost * candidates.filter(({ reward }) => reward !== null).length;
  if (spent >= maxEvaluationRollouts) return false;
  const { targetReward } = config;
  if (targetReward !== null && forecast(state, model, incumbent).mean >= targetReward) return true;
  const isLongAgo = state.asked - state.evaluatedAt >= evaluationInterval * cost;
  return canSpareEvaluation(state) || (isLongAgo && searchRollouts(state) >= cost);
}

function finishGeneration(before: GepaState, stop: StoppedBy | null, decisions: Decision[]): GepaState {
  const { generation, candidates, pool, quiet } = before;
  const best = before.best!;
  const hasAccepted = candidates.some(
    (summary) => summary.generation === generation && pool.includes(summary.candidate),
  );
  const state = recordGeneration(before, best, hasAccepted ? 0 : quiet + 1, decisions);
  const isSolvedToo = stop === 'train_solved' && isSolved(best.reward);
  const stoppedBy = stopReason(state, best.reward, isSolvedToo ? 'solved' : stop);
  if (stoppedBy !== null) return finish(state, stoppedBy, heldoutPairs(state, best.candidate));
  return beginGeneration({ ...state, generation: generation + 1 }, decisions);
}

function beginGeneration(before: GepaState, decisions: Decision[]): GepaState {
  const state = { ...before, parent: drawParent(before) };
  return explore(state) ?? reflect(state) ?? endGeneration(state, decisions);
}

/** Begins the generation after the last one of an ended search; null: it would end at once. */
export function resumeGenerations(state: GepaState, decisions: Decision[]): GepaState | null {
  const model = rewardModelOf(state);
  if (stopReason(state, state.best!.reward, whyStop(state, model, incumbentOf(state, model))) !== null) return null;
  const next = { ...state, generation: state.generation + 1 };
  return tryGiven(next) ?? beginGeneration(next, decisions);
}

/** Why no further generation follows, or null. */
function whyStop(state: GepaState, model: RewardModel, incumbent: number): StoppedBy | null {
  const isFull = state.nextCandidate >= gepaLimits.candidates;
  if (state.generation >= state.config.generations || isFull || isExhausted(state)) return 'generations';
  const left = searchRollouts(state) - ablationReserve(state, model);
  if (left < 2 * minibatchOf(state.config)) return 'max_rollouts';
  return canImprove(state, model, incumbent) ? null : 'train_solved';
}
