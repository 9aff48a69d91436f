/**
 * GEPA where rollouts are live calls that name no instance: candidates are compared as independent samples, by a sequential
 * test. `../step.ts` says what holds of both searches: the path follows from config and answers alone, `next` only reads,
 * `apply` leaves its argument as it was and refuses answers to anything else than what `next` asks for.
 *
 * Of a request after the baseline only the candidate counts: its `seed` is its place in the batch, and nobody reads it.
 */
import type { SearchResponse, Decision, RolloutAnswer, SearchAlgorithm, SearchRequest } from '../../search/protocol.js';
import { rewardsOf } from '../../search/batch.js';
import { matchProposals } from '../../proposals/proposer-failures.js';
import { answerBatch, proposalRequest, mismatchedResponse, warnOfBudget, requestOf } from '../../search/search-step.js';
import { afterGate } from './acceptance.js';
import type { Answered } from './failure-pool.js';
import { afterBaseline, afterEvaluation, afterHeldout, afterMinibatch, afterProposals, wantedOf } from './stages.js';
import type { RolloutPhase, UnpairedState } from './state.js';
import { viewUnpaired } from './view.js';

/** The search by live traffic over a state that `createUnpaired` begins. */
export const unpaired: SearchAlgorithm<UnpairedState> = { next, apply, view: viewUnpaired };

function next({ phase, generation, config, incumbent }: UnpairedState): SearchRequest {
  if (phase.name !== 'proposals') return requestOf(phase, generation);
  return proposalRequest(wantedOf(incumbent!.candidate, phase), generation, config);
}

function apply(state: UnpairedState, answers: SearchResponse): { state: UnpairedState; decisions: Decision[] } {
  const decisions: Decision[] = [];
  const after = fold(state, answers, decisions);
  return { state: warnOfBudget(after, decisions), decisions };
}

function fold(state: UnpairedState, answers: SearchResponse, decisions: Decision[]): UnpairedState {
  const { phase } = state;
  if (phase.name === 'proposals' && answers.kind === 'proposals') {
    const wanted = wantedOf(state.incumbent!.candidate, phase);
    return afterProposals(state, wanted, matchProposals(wanted, answers.answers), decisions);
  }
  if ('batch' in phase && answers.kind === 'rollouts') return foldRollouts(state, phase, answers.answers, decisions);
  throw mismatchedResponse(answers, next(state));
}

function foldRollouts(
  before: UnpairedState,
  phase: RolloutPhase,
  answers: readonly RolloutAnswer[],
  decisions: Decision[],
): UnpairedState {
  const { batch, counts } = answerBatch(before, phase, answers);
  const state: UnpairedState = { ...before, ...counts, phase: { ...phase, batch } };
  const rewards = rewardsOf(batch);
  if (rewards === null) return state;
  const answered = batch.pairs.map(([candidate], index): Answered => {
    return { candidate, ordinal: batch.ordinals[index]!, reward: rewards[index]! };
  });
  switch (phase.name) {
    case 'baseline':
      return afterBaseline(state, answered, decisions);
    case 'minibatch':
      return afterMinibatch(state, phase, answered, decisions);
    case 'gate':
      return afterGate(state, phase, answered, decisions);
    case 'evaluation':
      return afterEvaluation(state, phase, answered, decisions);
    case 'heldout':
      return afterHeldout(state, phase, answered);
  }
}
