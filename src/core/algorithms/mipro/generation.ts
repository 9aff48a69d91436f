/**
 * The loop of generations: MIPROv2's (arXiv 2406.11695 and DSPy). Demonstrations come from rollouts
 * that scored well; instructions are written with them; TPE chooses combinations for trials on
 * minibatches; the best of five trials is evaluated. Differences:
 * - Some instructions are written later, from failures of the most promising candidate; so are
 * demonstrations of hard instances.
 * - The trials of a generation run at the same time on the same seeds; the sampler counts running
 * trials as bad (constant liar).
 * - The value of a trial is the candidate's expected mean over all evaluation seeds
 * (`../../search/reward-model.ts`), not its minibatch mean.
 * - Only a candidate that promises more than the best is evaluated; no reward is measured twice.
 * Invariants: only a fully evaluated candidate can be the best, so `history` never falls; decisions
 * come in the order of the candidates' numbers.
 */
import { isSolved } from '../../math/rewards.js';
import { remainingRollouts } from '../../search/budget.js';
import { heldoutRollouts } from '../../search/config.js';
import { heldoutPairs } from '../../search/evaluation.js';
import { ask, finish, recordGeneration, stopReason } from '../../search/lifecycle.js';
import { addProposals } from '../../search/proposing.js';
import type { Decision, DemoAnswer, ProposalAnswer, StoppedBy } from '../../search/protocol.js';
import type { PhaseOf } from '../../search/state.js';
import { affordableTrials, canSpare, evaluationCost } from './budget.js';
import { generationsOf, mayHaveDemos, miproLimits } from './config.js';
import { addDemos, requestDemos } from './demo-search.js';
import { concludeEvaluation, evaluated, evaluationOf, missingOf } from './evaluation.js';
import { isNoisy, mostPromising } from './expected-reward.js';
import { explore, exploreFurther } from './exploration.js';
import { addInstructions, proposeInstructions } from './instructions.js';
import { isAllRequested, knownCombinations, spaceOf } from './space.js';
import type { MiproState } from './state.js';
import { chooseTrials, judgeTrials, trialPairs } from './trials.js';

/** The evaluation of the baseline is generation 0. */
export function afterBaseline(state: MiproState, decisions: Decision[]): MiproState {
  return finishGeneration(evaluated(state, 0, decisions), null, decisions);
}

/** The first generation looks further for good rollouts, on twice as many seeds each time. */
export function afterMinibatch(state: MiproState, explored: number, decisions: Decision[]): MiproState {
  const further = state.generation === 1 ? exploreFurther(state, 2 * explored) : null;
  return further ?? findDemos(state, decisions);
}

function findDemos(state: MiproState, decisions: Decision[]): MiproState {
  return requestDemos(state) ?? writeInstructions(state, decisions);
}

export function afterDemos(state: MiproState, answer: DemoAnswer, decisions: Decision[]): MiproState {
  return writeInstructions(addDemos(state, answer), decisions);
}

function writeInstructions(state: MiproState, decisions: Decision[]): MiproState {
  return proposeInstructions(state) ?? beginTrials(state, [], decisions);
}

export function afterInstructions(
  before: MiproState,
  phase: PhaseOf<MiproState, 'instructions'>,
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): MiproState {
  const { state, written } = addInstructions(before, phase, answers, decisions);
  if (state.phase.name === 'failed') return state;
  // Instructions from failures are tried at once; among the first ones the sampler chooses.
  return beginTrials(state, before.generation === 1 ? [] : written, decisions);
}

function beginTrials(before: MiproState, first: readonly number[], decisions: Decision[]): MiproState {
  const { state, combinations, trying } = chooseTrials(before, first);
  if (combinations.length > 0) return { ...state, phase: { name: 'combinations', wanted: combinations, trying } };
  return runTrials(state, trying, decisions);
}

export function afterCombinations(
  before: MiproState,
  { wanted, trying }: PhaseOf<MiproState, 'combinations'>,
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): MiproState {
  const composed = wanted.filter((_, index) => answers[index]!.outcome === 'proposed');
  const dropped = new Set(
    wanted.filter((combination) => !composed.includes(combination)).map(({ candidate }) => candidate),
  );
  const added = Object.fromEntries(composed.map(({ candidate, choices }) => [candidate, choices]));
  const state = addProposals(before, composed, [], decisions);
  return runTrials(
    { ...state, choices: { ...before.choices, ...added } },
    trying.filter((candidate) => !dropped.has(candidate)),
    decisions,
  );
}

function runTrials(before: MiproState, trying: readonly number[], decisions: Decision[]): MiproState {
  const { state, pairs } = trialPairs(before, trying);
  if (pairs.length === 0) return endGeneration(state, 0, decisions);
  return ask(state, pairs, (batch) => ({ name: 'gate', batch, trying: [...trying] }));
}

export function afterTrials(before: MiproState, phase: PhaseOf<MiproState, 'gate'>, decisions: Decision[]): MiproState {
  return endGeneration(judgeTrials(before, phase, decisions), 0, decisions);
}

export function afterEvaluation(
  before: MiproState,
  { candidate, batch }: PhaseOf<MiproState, 'evaluation'>,
  decisions: Decision[],
): MiproState {
  return endGeneration(concludeEvaluation(before, candidate, batch, decisions), 1, decisions);
}

/** Ends the generation, after an evaluation of the most promising candidate if one is due. */
function endGeneration(state: MiproState, evaluations: number, decisions: Decision[]): MiproState {
  const stop = whyStop(state) ?? (isPatienceOver(state) ? 'patience' : null);
  const candidate = mostPromising(state);
  if (candidate !== null) {
    const missing = missingOf(state, candidate);
    const count = Object.keys(state.evaluatedAt).length;
    const hasRoom = evaluationCost(state) * count < miproLimits.evaluationsOnTheWay;
    // One evaluation for each generation and one at the end: each more is a chance to win by luck.
    const mayRepeat = state.traffic === 'paired' && hasRoom && count <= state.generation;
    const isAffordable = missing.length === 0 || (hasRoom && canSpare(state, missing.length));
    const isDue = evaluations === 0 ? stop !== null || isAffordable : stop !== null && mayRepeat;
    if (isDue && missing.length === 0) return endGeneration(evaluated(state, candidate, decisions), 1, decisions);
    if (isDue && missing.length <= remainingRollouts(state) - heldoutRollouts(state.config)) {
      return ask(state, missing, (batch) => ({ name: 'evaluation', batch, candidate }));
    }
  }
  return finishGeneration(state, stop, decisions);
}

function finishGeneration(before: MiproState, stop: StoppedBy | null, decisions: Decision[]): MiproState {
  const best = before.best!;
  const state = recordGeneration(before, best, before.quiet, decisions);
  const stoppedBy = stopReason(state, best.reward, stop ?? whyStop(state));
  if (stoppedBy !== null) return finish(state, stoppedBy, heldoutPairs(state, best.candidate));
  const next = { ...state, generation: state.generation + 1, quiet: state.quiet + 1 };
  return explore(next) ?? findDemos(next, decisions);
}

function isPatienceOver({ config: { patience }, quiet }: MiproState): boolean {
  return patience !== null && quiet >= patience;
}

/** Why no further generation follows, other than patience; or null. */
function whyStop(state: MiproState): StoppedBy | null {
  const { config, best } = state;
  const isFull = state.nextCandidate >= miproLimits.candidates;
  if (state.trials >= config.numTrials || state.generation >= generationsOf(config) || isFull) return 'generations';
  if (affordableTrials(state) === 0) return 'max_rollouts';
  if (state.traffic === 'paired' && evaluationOf(state, best!.candidate).every(isSolved)) return 'solved';
  return isExhausted(state) ? 'generations' : null;
}

/** Whether all instructions are requested, all combinations tried, and none promises more. */
function isExhausted(state: MiproState): boolean {
  if (state.generation === 0 || mayHaveDemos(state.config) || isNoisy(state) || !isAllRequested(state)) return false;
  const tried = knownCombinations(state).filter(({ candidate }) => state.results[candidate] !== undefined).length;
  const all = spaceOf(state).reduce((product, count) => product * count, 1);
  return tried >= all && mostPromising(state) === null;
}
