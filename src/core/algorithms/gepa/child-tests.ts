/** The tests of children that run at the same time. */
import { pairsOf, type Pair } from '../../search/batch.js';
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { Decision } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import { reject as rejectCandidate } from '../../search/candidates.js';
import {
  decideAcceptance,
  decideFromKnownResults,
  isUntested,
  regressionSeeds,
  type AcceptanceResult,
} from './acceptance.js';
import { forecast } from './forecast.js';
import { isShortened, type GepaState, type Trial } from './state.js';

/** A child without a verdict, and the rollouts that its test needs next. */
export interface OpenTest {
  trial: Trial;
  ask: Pair[];
}

/**
 * The first test of a child: the failures that it was shown; in a wide search also the regression
 * seeds that a gain would demand, as they run beside.
 */
export function firstTest(state: GepaState, trial: Trial): OpenTest {
  const { candidate, shown, removed, parents, approach, ablation } = trial;
  const model = rewardModelOf(state);
  const isNoisy = model.noise.variance > 0;
  const isReflection = parents.length === 1 && approach !== 'compress' && ablation === undefined;
  const isWhole = state.config.slots > 1 && isReflection && (removed.length > 0 || isNoisy);
  const regression = isWhole ? regressionSeeds(state, model, trial, isNoisy ? 1 : 0) : [];
  const seeds = regression.filter((seed) => !shown.includes(seed));
  if (seeds.length === 0) return { trial, ask: pairsOf(candidate, shown) };
  return { trial: { ...trial, rounds: 1 }, ask: pairsOf(candidate, [...shown, ...seeds]) };
}

/**
 * Continues each child's test or records its verdict; an accepted child may become a parent. The
 * first tests of `expected` proposals keep their rollouts.
 */
export function decideTests(
  before: GepaState,
  tests: readonly Trial[],
  expected: readonly Trial[],
  decisions: Decision[],
): { state: GepaState; open: OpenTest[] } {
  const model = rewardModelOf(before);
  const size = minibatchOf(before.config);
  const reserved = expected.reduce((total, { shown }) => total + Math.max(size, shown.length), 0);
  let left = Math.max(0, searchRollouts(before) - reserved);
  const open: OpenTest[] = [];
  let state = before;
  for (const test of tests) {
    const trial = { ...test, rounds: test.rounds + 1 };
    const step = decideAcceptance(before, model, trial);
    if ('ask' in step && step.ask.length <= left) {
      left -= step.ask.length;
      open.push({ trial, ask: step.ask });
      continue;
    }
    const isCut = 'ask' in step;
    const verdict = isCut ? decideFromKnownResults(before, model, trial) : step;
    const accepted = verdict.accepted && !(isCut && isUntested(before, model, trial));
    state = accepted
      ? accept(state, model, trial, verdict, decisions)
      : reject(state, trial, isCut ? 'budget' : verdict.overtaken ? 'overtaken' : 'not_better', verdict, decisions);
  }
  return { state, open };
}

/** The rollouts of the tests within the budget. A child without any is rejected. */
export function planTests(
  before: GepaState,
  open: readonly OpenTest[],
  decisions: Decision[],
): { state: GepaState; tests: Trial[]; pairs: Pair[] } {
  let left = Math.max(0, searchRollouts(before));
  let state = before;
  const tests: Trial[] = [];
  const pairs: Pair[] = [];
  for (const { trial, ask } of open) {
    const affordable = ask.slice(0, left);
    left -= affordable.length;
    if (affordable.length === 0) {
      state = reject(state, trial, 'budget', { expectedSum: 0, childSum: 0 }, decisions);
      continue;
    }
    tests.push(trial);
    pairs.push(...affordable);
  }
  return { state, tests, pairs };
}

/** Rejects the children that were proposed beside the test of a merge which lost. */
export function rejectOrphans(
  before: GepaState,
  tests: readonly Trial[],
  children: readonly Trial[],
  decisions: Decision[],
): { state: GepaState; trials: Trial[] } {
  const lost = tests.filter(({ candidate, parents }) => parents.length > 1 && !before.pool.includes(candidate));
  const isOrphan = ({ parents }: Trial) => lost.some(({ candidate }) => parents.includes(candidate));
  let state = before;
  for (const trial of children.filter(isOrphan)) {
    state = reject(state, trial, 'parent_rejected', { expectedSum: 0, childSum: 0 }, decisions);
  }
  return { state, trials: children.filter((trial) => !isOrphan(trial)) };
}

type Sums = Pick<AcceptanceResult, 'expectedSum' | 'childSum'>;

function sumsOf({ results }: GepaState, { candidate }: Trial, { expectedSum, childSum }: Sums) {
  return { parentSum: expectedSum, childSum, tested: Object.keys(results[candidate] ?? {}).length };
}

function accept(
  state: GepaState,
  model: RewardModel,
  trial: Trial,
  verdict: AcceptanceResult,
  decisions: Decision[],
): GepaState {
  const { candidate, generation } = trial;
  const estimate = forecast(state, model, candidate).mean;
  const reason = verdict.saves && { reason: verdict.saves };
  const sums = sumsOf(state, trial, verdict);
  decisions.push({ type: 'candidate_accepted', candidate, generation, ...sums, estimate, ...reason });
  // Its test covers few rows, so no further prompt is derived from it.
  if (verdict.saves && isShortened(trial)) return state;
  const pool = [...state.pool, candidate];
  // A merge combines texts: turns are no text, and one accepted for its cost has no gain.
  return verdict.saves || trial.compose ? { ...state, pool } : { ...state, pool, unmerged: [...state.unmerged, trial] };
}

function reject(
  state: GepaState,
  trial: Trial,
  reason: 'budget' | 'not_better' | 'overtaken' | 'parent_rejected',
  sums: Sums,
  decisions: Decision[],
): GepaState {
  const { candidate, generation } = trial;
  return rejectCandidate(state, { candidate, generation, reason, ...sumsOf(state, trial, sums) }, decisions);
}
