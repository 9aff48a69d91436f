/**
 * GEPA (Agrawal et al., arXiv 2507.19457, algorithms 1 and 2) generation by generation, after the reference
 * implementation `gepa` 0.1.4 with independent proposals and without merge. In lockstep: all parents' minibatches of a
 * generation are one batch, then all its proposals, then all children's minibatches (the gate), then the evaluations.
 *
 * Invariants: all of a generation's parents come from the pool as it stood when the generation began; answers are
 * folded in the order asked, so the path follows from config and answers alone; `next` only reads; `apply` leaves its
 * argument as it was and refuses answers to anything else than what `next` asks for.
 */
import type { Answers, Decision, ProposalRequest, RolloutAnswer, Search, Work } from '../../work.js';
import { foldAnswers, requestsOf, rewardsOf } from '../../search/batch.js';
import { isBudgetLow, repeatableRollouts } from './budget.js';
import { afterBaseline, afterEvaluation, afterGate, afterMinibatch, afterProposals } from './generation.js';
import { countRollouts } from '../../search/counting.js';
import { matchProposals } from '../../search/proposer.js';
import type { LockstepState, RolloutPhase, Trial } from './state.js';
import { viewLockstep } from './view.js';

/** GEPA as a search over a state that `createLockstep` begins. */
export const gepa: Search<LockstepState> = { next, apply, view: viewLockstep };

function next({ phase, generation }: LockstepState): Work {
  switch (phase.name) {
    case 'baseline':
    case 'minibatch':
    case 'gate':
    case 'evaluation':
      return { kind: 'rollouts', requests: requestsOf(phase.batch, phase.name, generation) };
    case 'proposals':
      return { kind: 'proposals', requests: phase.trials.map((trial) => proposalRequest(trial, generation)) };
    case 'done':
      return { kind: 'done', stoppedBy: phase.stoppedBy };
    case 'failed':
      return { kind: 'failed', code: phase.code, message: phase.message };
  }
}

function proposalRequest({ candidate, parent, ordinals }: Trial, generation: number): ProposalRequest {
  return { candidate, parent, generation, ordinals };
}

function apply(state: LockstepState, answers: Answers): { state: LockstepState; decisions: Decision[] } {
  const decisions: Decision[] = [];
  const after = fold(state, answers, decisions);
  if (after.budgetWarned || !isBudgetLow(after)) return { state: after, decisions };
  decisions.push({ type: 'budget_warning', rolloutsUsed: after.asked, maxRollouts: after.config.maxRollouts! });
  return { state: { ...after, budgetWarned: true }, decisions };
}

function fold(state: LockstepState, answers: Answers, decisions: Decision[]): LockstepState {
  const { phase } = state;
  switch (phase.name) {
    case 'baseline':
    case 'minibatch':
    case 'gate':
    case 'evaluation':
      if (answers.kind !== 'rollouts') throw unasked(state, answers);
      return foldRollouts(state, phase, answers.answers, decisions);
    case 'proposals':
      if (answers.kind !== 'proposals') throw unasked(state, answers);
      return afterProposals(state, phase, matchProposals(phase.trials, answers.answers), decisions);
    case 'done':
    case 'failed':
      throw unasked(state, answers);
  }
}

function foldRollouts(
  before: LockstepState,
  phase: RolloutPhase,
  answers: readonly RolloutAnswer[],
  decisions: Decision[],
): LockstepState {
  const { batch, nextOrdinal } = foldAnswers(phase.batch, answers, before.asked, repeatableRollouts(before));
  const state: LockstepState = {
    ...before,
    phase: { ...phase, batch },
    asked: nextOrdinal,
    answered: before.answered + answers.length,
    candidates: countRollouts(before.candidates, requestsOf(phase.batch, phase.name, before.generation)),
  };
  const rewards = rewardsOf(batch);
  if (rewards === null) return state;
  switch (phase.name) {
    case 'baseline':
      return afterBaseline(state, rewards, decisions);
    case 'minibatch':
      return afterMinibatch(state, phase, { ordinals: batch.ordinals, rewards }, decisions);
    case 'gate':
      return afterGate(state, phase, rewards, decisions);
    case 'evaluation':
      return afterEvaluation(state, phase, rewards, decisions);
  }
}

function unasked(state: LockstepState, answers: Answers): Error {
  return new Error(`answers of kind ${answers.kind} do not fit: the search asks for work of kind ${next(state).kind}`);
}
