/**
 * The loop of generations: look at the failures of the best so far, have children proposed, try them. What differs from
 * `../generation.ts`: no child can be run on the seed on which its parent failed, so that it is compared with the incumbent
 * over calls of the same period (`gate.ts`).
 *
 * Invariant: `history` is the greatest mean of an evaluation so far, so that it never falls when traffic becomes harder. It
 * may then be above what the incumbent has now.
 */
import type { Decision, StoppedBy } from '../../search/protocol.js';
import { openBatch, type Batch, type Pair } from '../../search/batch.js';
import { remainingRollouts, searchRollouts } from '../../search/budget.js';
import { gepaLimits } from '../gepa/config.js';
import { evaluationRollouts, heldoutRollouts } from '../../search/config.js';
import { affordableChildren, minOfTest } from './budget.js';
import { isMaterialEnough, offeredOf } from './failure-pool.js';
import type { Phase, UnpairedState } from './state.js';
import { inRounds, timesAlone } from './test-rounds.js';

/** The generation is over; `stop`: what was found to end the search with it. */
export function endGeneration(
  before: UnpairedState,
  decisions: Decision[],
  stop: StoppedBy | null = null,
): UnpairedState {
  const { generation } = before;
  const { candidate } = before.incumbent!;
  const bestReward = before.bestReward!;
  decisions.push({ type: 'generation_complete', generation, bestReward, bestCandidate: candidate });
  const isQuiet = before.candidates.every((one) => one.candidate !== candidate || one.generation !== generation);
  const state = { ...before, history: [...before.history, bestReward], quiet: isQuiet ? before.quiet + 1 : 0 };
  const stoppedBy = whyStop(state, stop);
  if (stoppedBy !== null) return finish(state, stoppedBy);
  return seek({ ...state, generation: generation + 1 }, 0, decisions);
}

function whyStop(state: UnpairedState, found: StoppedBy | null): StoppedBy | null {
  const { config, generation, nextCandidate, quiet, bestReward } = state;
  const { targetReward, patience } = config;
  if (typeof targetReward === 'number' && bestReward! >= targetReward) return 'target_reward';
  if (generation >= config.generations || nextCandidate >= gepaLimits.candidates) return 'generations';
  if (searchRollouts(state) < minOfTest(config)) return 'max_rollouts';
  if (found !== null) return found;
  return typeof patience === 'number' && quiet >= patience ? 'patience' : null;
}

function finish(state: UnpairedState, stoppedBy: StoppedBy): UnpairedState {
  const { config } = state;
  const { candidate } = state.incumbent!;
  const wanted = heldoutRollouts(config);
  if (wanted === 0 || candidate === 0 || remainingRollouts(state) < wanted) {
    return { ...state, phase: { name: 'done', stoppedBy } };
  }
  const [pairs, rng] = inRounds(state.rng, [0, candidate], wanted / 2);
  return ask({ ...state, rng }, pairs, (batch) => ({ name: 'heldout', batch, stoppedBy }));
}

/** Runs the incumbent until enough of its failures were never shown, for as long as a full evaluation would take. */
export function seek(state: UnpairedState, sought: number, decisions: Decision[]): UnpairedState {
  const { config, failures } = state;
  const most = evaluationRollouts(config);
  const spare = searchRollouts(state) - minOfTest(config);
  const more = Math.min(Math.ceil(most / 2), most - sought, spare);
  if (isMaterialEnough(failures, config) || more <= 0) return reflect(state, sought >= most, decisions);
  const { candidate } = state.incumbent!;
  return ask(state, timesAlone(candidate, more), (batch) => ({ name: 'minibatch', batch, sought: sought + more }));
}

/** Asks for children, from failures that are known. */
function reflect(state: UnpairedState, isSought: boolean, decisions: Decision[]): UnpairedState {
  const { config, nextCandidate } = state;
  const offered = offeredOf(state.failures, config);
  if (offered.length === 0) return endGeneration(state, decisions, isSought ? 'solved' : 'max_rollouts');
  const most = Math.min(config.populationSize, offered.length, gepaLimits.candidates - nextCandidate);
  const indexes = affordableChildren(state, most, 0);
  if (indexes === 0) return endGeneration(state, decisions, 'max_rollouts');
  const wanted = Array.from({ length: indexes }, (_, index) => nextCandidate + index);
  return { ...state, nextCandidate: nextCandidate + indexes, phase: { name: 'proposals', wanted, offered } };
}

/** The state that waits for these rollouts. */
export function ask(state: UnpairedState, pairs: Pair[], toPhase: (batch: Batch) => Phase): UnpairedState {
  return { ...state, asked: state.asked + pairs.length, phase: toPhase(openBatch(pairs, state.asked)) };
}
