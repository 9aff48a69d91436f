/**
 * The loop of generations over live traffic: find failures of the incumbent, propose children, test
 * them. A child cannot run on the failed instance of its parent, so it is compared with the
 * incumbent over calls of the same period (`acceptance.ts`).
 * Invariant: `history` is the greatest mean of an evaluation so far. It never falls when traffic
 * becomes harder, and may exceed the incumbent's present mean.
 */
import type { Decision, StoppedBy } from '../../search/protocol.js';
import { remainingRollouts, searchRollouts } from '../../search/budget.js';
import { evaluationRollouts, heldoutRollouts } from '../../search/config.js';
import { finish, recordGeneration, stopReason } from '../../search/lifecycle.js';
import { proposalRequests } from '../../search/proposing.js';
import { openRound } from '../../search/round.js';
import { roomForCandidates } from '../gepa/config.js';
import { affordableChildren, minTestRollouts } from './budget.js';
import { hasEnoughFailures, offeredFailures } from './failure-pool.js';
import type { UnpairedState } from './state.js';
import { repeatCandidate, scheduleRounds } from './test-rounds.js';

/** Ends the generation; `stop` ends the search with it. */
export function endGeneration(
  before: UnpairedState,
  decisions: Decision[],
  stop: StoppedBy | null = null,
): UnpairedState {
  const { generation, quiet, candidates } = before;
  const { candidate } = before.incumbent!;
  const reward = before.bestReward!;
  const isNew = candidates.some((summary) => summary.candidate === candidate && summary.generation === generation);
  const state = recordGeneration(before, { candidate, reward }, isNew ? 0 : quiet + 1, decisions);
  const stoppedBy = stopReason(state, reward, whyStop(state) ?? stop);
  if (stoppedBy !== null) return compareHeldout(state, stoppedBy);
  return seekFailures({ ...state, generation: generation + 1 }, 0, decisions);
}

/** Why no further generation fits the limits, or null. */
function whyStop(state: UnpairedState): StoppedBy | null {
  const { config, generation } = state;
  if (generation >= config.generations || roomForCandidates(state) <= 0) return 'generations';
  return searchRollouts(state) < minTestRollouts(config) ? 'max_rollouts' : null;
}

function compareHeldout(state: UnpairedState, stoppedBy: StoppedBy): UnpairedState {
  const { candidate } = state.incumbent!;
  const wanted = heldoutRollouts(state.config);
  if (wanted === 0 || candidate === 0 || remainingRollouts(state) < wanted) return finish(state, stoppedBy, []);
  const [pairs, rng] = scheduleRounds(state.rng, [0, candidate], wanted / 2);
  return finish({ ...state, rng }, stoppedBy, pairs);
}

/** Runs the incumbent until enough failures are new; at most the rollouts of an evaluation. */
export function seekFailures(state: UnpairedState, sought: number, decisions: Decision[]): UnpairedState {
  const { config, failures } = state;
  const most = evaluationRollouts(config);
  const spare = searchRollouts(state) - minTestRollouts(config);
  const more = Math.min(Math.ceil(most / 2), most - sought, spare);
  if (hasEnoughFailures(failures, config) || more <= 0) return reflect(state, sought >= most, decisions);
  const minibatch = repeatCandidate(state.incumbent!.candidate, more);
  return openRound(state, { minibatch }, (round) => ({ ...round, name: 'minibatch', sought: sought + more }));
}

/** Requests children from known failures; `isSought`: the search for failures is complete. */
function reflect(state: UnpairedState, isSought: boolean, decisions: Decision[]): UnpairedState {
  const { config, nextCandidate } = state;
  const offered = offeredFailures(state.failures, config);
  if (offered.length === 0) return endGeneration(state, decisions, isSought ? 'solved' : 'max_rollouts');
  const most = Math.min(config.populationSize, offered.length, roomForCandidates(state));
  const count = affordableChildren(state, most, 0);
  if (count === 0) return endGeneration(state, decisions, 'max_rollouts');
  const parents = [state.incumbent!.candidate];
  const planned = Array.from({ length: count }, (_, index) => ({ candidate: nextCandidate + index, parents, offered }));
  const proposals = proposalRequests(planned, state.generation, config);
  const after = { ...state, nextCandidate: nextCandidate + count };
  return openRound(after, {}, (round) => ({ ...round, name: 'proposals', proposals }));
}
