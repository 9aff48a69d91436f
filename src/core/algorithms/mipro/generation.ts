/**
 * The loop of generations: MIPROv2's (arXiv 2406.11695 and DSPy). Demonstrations come from rollouts
 * that scored well; instructions are written with them; TPE chooses combinations. Differences:
 * - Instructions are written in every generation, from failures of the leader, the candidate with
 * the best expected mean. Demonstrations are chosen for these failures.
 * - A candidate takes a test on these failures (`candidate-tests.ts`) instead of a trial on a
 * minibatch.
 * - Tests run on train seeds; evaluation seeds are left for evaluations of the leader.
 * - On live traffic without seeds, a generation has trials on the same calls (`trials.ts`).
 * Invariants: only a fully evaluated candidate can be the best, so `history` never falls; decisions
 * come in the order of the candidates' numbers.
 */
import { isSolved } from '../../math/rewards.js';
import { remainingRollouts } from '../../search/budget.js';
import { heldoutRollouts } from '../../search/config.js';
import { canImprove, knownFailures } from '../../search/failure-pool.js';
import { heldoutPairs } from '../../search/evaluation.js';
import { finish, recordGeneration, stopReason } from '../../search/lifecycle.js';
import { addProposals } from '../../search/proposing.js';
import { openRound, type RoundAnswers } from '../../search/round.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { Decision, ProposalRequest, StoppedBy } from '../../search/protocol.js';
import type { PhaseOf, Round } from '../../search/state.js';
import { chooseCombinations, combinationTrials } from './combinations.js';
import { affordableTrials, canSpare, evaluationCost, spareRollouts } from './budget.js';
import { estimateOf } from './estimate.js';
import { generationsOf, maxIdle, mayHaveDemos, miproLimits, trialLimit } from './config.js';
import { addDemos, requestDemos } from './demo-search.js';
import { concludeEvaluation, evaluated, evaluationOf, missingOf } from './evaluation.js';
import { isNoisy, leaderOf, mostPromising } from './expected-reward.js';
import { bootstrapFurther, explore, failFurther } from './exploration.js';
import { addInstructions, mergeInstructions, proposeInstructions, tryGiven } from './instructions.js';
import { compositionOf, isAllRequested, knownCombinations, spaceOf } from './space.js';
import type { MiproState, NewCombination, Tests } from './state.js';
import { acceptedOf, judgeTests, mergeTrials, openTests } from './candidate-tests.js';
import { chooseTrials, judgeTrials, trialPairs } from './trials.js';

/** The evaluation of the baseline is generation 0. */
export function afterBaseline(state: MiproState, _: Round, decisions: Decision[]): MiproState {
  return finishGeneration(evaluated(state, 0, decisions), null, decisions);
}

/** Looks further for failures, on twice as many seeds each time. */
export function afterMinibatch(state: MiproState, { batches }: Round, decisions: Decision[]): MiproState {
  const further = state.generation === 1 ? null : failFurther(state, 2 * batches.minibatch!.pairs.length);
  return further ?? findDemos(state, decisions);
}

function findDemos(state: MiproState, decisions: Decision[]): MiproState {
  return requestDemos(state) ?? useDemos(state, decisions);
}

export function afterDemos(state: MiproState, _: Round, decisions: Decision[], { demos }: RoundAnswers): MiproState {
  return useDemos(addDemos(state, demos!), decisions);
}

function useDemos(state: MiproState, decisions: Decision[]): MiproState {
  const further = state.generation === 1 ? bootstrapFurther(state) : null;
  return further ?? writeInstructions(state, decisions);
}

function writeInstructions(state: MiproState, decisions: Decision[]): MiproState {
  return proposeInstructions(state) ?? beginTrials(state, [], decisions);
}

export function afterInstructions(
  before: MiproState,
  { proposals: requests }: Round,
  decisions: Decision[],
  { proposals }: RoundAnswers,
): MiproState {
  const { state, written, trials } = addInstructions(before, requests, proposals, decisions);
  if (state.phase.name === 'failed') return state;
  if (state.traffic === 'unpaired') {
    // Instructions from failures are tried at once; among the first ones the sampler chooses.
    return beginTrials(state, before.generation === 1 ? [] : written, decisions);
  }
  const { kind, parent } = requests[0]!;
  const tests: Tests =
    kind === 'merge'
      ? { step: 'merge', parent, trials: mergeTrials(state, trials) }
      : { step: 'instructions', parent, trials };
  return runTests(state, tests, decisions);
}

function beginTrials(before: MiproState, first: readonly number[], decisions: Decision[]): MiproState {
  if (before.traffic === 'paired') {
    const { state, combinations } = chooseCombinations(before);
    if (combinations.length === 0) return endGeneration(state, 0, decisions);
    return composeAll(state, combinations, []);
  }
  const { state, combinations, trying } = chooseTrials(before, first);
  return combinations.length > 0 ? composeAll(state, combinations, trying) : runTrials(state, trying, decisions);
}

function composeAll(state: MiproState, wanted: NewCombination[], trying: number[]): MiproState {
  const { generation } = state;
  const proposals = wanted.map((combination): ProposalRequest => {
    const { candidate, parents } = combination;
    const compose = compositionOf(state, combination);
    return { kind: 'compose', candidate, parent: parents[0]!, generation, ordinals: [], compose };
  });
  return openRound(state, {}, (round) => ({ ...round, name: 'combinations', proposals, wanted, trying }));
}

export function afterCombinations(
  before: MiproState,
  { wanted, trying }: PhaseOf<MiproState, 'combinations'>,
  decisions: Decision[],
  { proposals }: RoundAnswers,
): MiproState {
  const composed = wanted.filter((_, index) => proposals[index]!.outcome === 'proposed');
  const dropped = new Set(
    wanted.filter((combination) => !composed.includes(combination)).map(({ candidate }) => candidate),
  );
  const added = Object.fromEntries(composed.map(({ candidate, choices }) => [candidate, choices]));
  const parent = leaderOf(before, rewardModelOf(before));
  const state = { ...addProposals(before, composed, [], decisions), choices: { ...before.choices, ...added } };
  if (state.traffic === 'paired') {
    const candidates = composed.map(({ candidate }) => candidate);
    return runTests(state, { step: 'combinations', parent, trials: combinationTrials(state, candidates) }, decisions);
  }
  return runTrials(
    state,
    trying.filter((candidate) => !dropped.has(candidate)),
    decisions,
  );
}

function runTrials(before: MiproState, trying: readonly number[], decisions: Decision[]): MiproState {
  const { state, pairs } = trialPairs(before, trying);
  if (pairs.length === 0) return endGeneration(state, 0, decisions);
  return openRound(state, { gate: pairs }, (round) => ({ ...round, name: 'gate', trying: [...trying] }));
}

/** Runs the first round of the tests, as many as the budget allows. */
function runTests(before: MiproState, wanted: Tests, decisions: Decision[]): MiproState {
  const { state, tests, pairs } = openTests(before, wanted);
  if (pairs.length === 0) return afterTests(state, { ...tests, trials: [] }, decisions);
  const trying = tests.trials.map(({ candidate }) => candidate);
  return openRound(state, { gate: pairs }, (round) => ({ ...round, name: 'gate', trying, tests }));
}

export function afterTrials(before: MiproState, phase: PhaseOf<MiproState, 'gate'>, decisions: Decision[]): MiproState {
  if (!phase.tests) return endGeneration(judgeTrials(before, phase, decisions), 0, decisions);
  const { state, tests, pairs, open } = judgeTests(before, { ...phase, tests: phase.tests }, decisions);
  if (open.length === 0) return afterTests(state, tests, decisions);
  return openRound(state, { gate: pairs }, (round) => ({ ...round, name: 'gate', trying: open, tests }));
}

function afterTests(state: MiproState, { step, trials }: Tests, decisions: Decision[]): MiproState {
  if (step === 'combinations') return endGeneration(state, 0, decisions);
  const merging = step === 'instructions' ? mergeInstructions(state, acceptedOf(state, trials)) : null;
  return merging ?? beginTrials(state, [], decisions);
}

export function afterEvaluation(
  before: MiproState,
  { candidate, batches }: PhaseOf<MiproState, 'evaluation'>,
  decisions: Decision[],
): MiproState {
  return endGeneration(concludeEvaluation(before, candidate, batches.evaluation!, decisions), 1, decisions);
}

/** Ends the generation, after an evaluation of the most promising candidate if one is due. */
function endGeneration(state: MiproState, evaluations: number, decisions: Decision[]): MiproState {
  const given = tryGiven(state);
  if (given !== null) return given;
  const stop = whyStop(state) ?? (isPatienceOver(state) ? 'patience' : null);
  const candidate = mostPromising(state);
  if (candidate !== null) {
    const missing = missingOf(state, candidate);
    const count = Object.keys(state.evaluatedAt).length;
    const hasRoom = evaluationCost(state) * count < miproLimits.evaluationsOnTheWay;
    // One evaluation for each generation and one at the end: each more is a chance to win by luck.
    const mayRepeat = state.traffic === 'paired' && hasRoom && count <= state.generation;
    const isAffordable =
      missing.length === 0 ||
      (hasRoom && (canSpare(state, missing.length) || mayReach(state, candidate, missing.length)));
    const isDue = evaluations === 0 ? stop !== null || isAffordable : stop !== null && mayRepeat;
    if (isDue && missing.length === 0) return endGeneration(evaluated(state, candidate, decisions), 1, decisions);
    if (isDue && missing.length <= remainingRollouts(state) - heldoutRollouts(state.config)) {
      return openRound(state, { evaluation: missing }, (round) => ({ ...round, name: 'evaluation', candidate }));
    }
  }
  return finishGeneration(state, stop, decisions);
}

/** Whether an evaluation of `rollouts` is affordable and likely to reach the target reward. */
function mayReach(state: MiproState, candidate: number, rollouts: number): boolean {
  const { targetReward } = state.config;
  if (targetReward === null || state.traffic === 'unpaired' || rollouts > spareRollouts(state)) return false;
  return estimateOf(state, rewardModelOf(state), candidate).mean >= targetReward;
}

function finishGeneration(before: MiproState, stop: StoppedBy | null, decisions: Decision[]): MiproState {
  const best = before.best!;
  const state = recordGeneration(before, best, before.quiet, decisions);
  const stoppedBy = stopReason(state, best.reward, stop ?? whyStop(state));
  if (stoppedBy !== null) return finish(state, stoppedBy, heldoutPairs(state, best.candidate));
  return beginGeneration(state, decisions);
}

function beginGeneration(state: MiproState, decisions: Decision[]): MiproState {
  const next = { ...state, generation: state.generation + 1, quiet: state.quiet + 1, idle: idleGenerations(state) };
  return explore(next) ?? findDemos(next, decisions);
}

/** Begins the generation after the last one of an ended search; null: it would end at once. */
export function resumeGenerations(state: MiproState, decisions: Decision[]): MiproState | null {
  if (stopReason(state, state.best!.reward, whyStop(state)) !== null) return null;
  return beginGeneration(state, decisions);
}

function isPatienceOver({ config: { patience }, quiet }: MiproState): boolean {
  return patience !== null && quiet >= patience;
}

/** Why no further generation follows, other than patience; or null. */
function whyStop(state: MiproState): StoppedBy | null {
  const { config, best } = state;
  const isFull = state.nextCandidate >= miproLimits.candidates;
  const isOver = config.numTrials !== null && state.generation >= generationsOf(config);
  if (state.trials >= trialLimit(config) || isOver || isFull) return 'generations';
  if (affordableTrials(state) === 0) return 'max_rollouts';
  if (state.traffic === 'paired' && isSolvedBy(state, best!.candidate)) return 'solved';
  if (config.numTrials === null && !canLearn(state)) return 'train_solved';
  if (idleGenerations(state) >= maxIdle) return 'generations';
  return isExhausted(state) ? 'generations' : null;
}

/**
 * Whether a candidate solves every evaluation seed. With noise that can be luck, so its latest
 * rollouts on train seeds must not fail.
 */
function isSolvedBy(state: MiproState, candidate: number): boolean {
  if (!evaluationOf(state, candidate).every(isSolved)) return false;
  const model = rewardModelOf(state);
  return model.noise.variance === 0 || knownFailures(state, model, candidate).every(({ age }) => age > 0);
}

/** Generations in a row without a new candidate, the current one included. */
function idleGenerations({ candidates, generation, idle }: MiproState): number {
  return generation > 0 && candidates.at(-1)!.generation < generation ? idle + 1 : 0;
}

/** Whether the leader fails on a train seed, or has one without own results. */
function canLearn(state: MiproState): boolean {
  if (state.generation === 0 || state.traffic === 'unpaired') return true;
  const model = rewardModelOf(state);
  return canImprove(state, model, leaderOf(state, model));
}

/** Whether all instructions are requested, all combinations tried, and none promises more. */
function isExhausted(state: MiproState): boolean {
  if (state.generation === 0 || mayHaveDemos(state.config) || isNoisy(state) || !isAllRequested(state)) return false;
  const tried = knownCombinations(state).filter(({ candidate }) => state.results[candidate] !== undefined).length;
  const all = spaceOf(state).reduce((product, count) => product * count, 1);
  return tried >= all && mostPromising(state) === null;
}
