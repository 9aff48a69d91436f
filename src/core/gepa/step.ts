/**
 * GEPA (Agrawal et al., arXiv 2507.19457) as a search: `next` names the work it wants, `apply` folds the answers in. What
 * differs from the reference implementation, and why, is said in `generation.ts`.
 *
 * Invariants: all of a generation's proposals come from the pool as it stood when the generation began; answers are folded
 * in the order asked, so the path follows from config and answers alone; `next` only reads; `apply` leaves its argument as it
 * was and refuses answers to anything else than what `next` asks for.
 */
import type { Answers, Decision, ProposalRequest, RolloutAnswer, Search, Work } from '../work.js';
import { foldAnswers, requestsOf, rewardsOf } from './batch.js';
import { isBudgetLow, repeatableRollouts } from './budget.js';
import { minibatchOf } from './config.js';
import {
  afterBaseline,
  afterEvaluation,
  afterGate,
  afterHeldout,
  afterMinibatch,
  afterProposals,
} from './generation.js';
import { matchProposals } from './proposer.js';
import { addResults } from './results.js';
import type { GepaState, PhaseOf, RolloutPhase } from './state.js';
import { viewGepa } from './view.js';

/** GEPA as a search over a state that `createGepa` begins. */
export const gepa: Search<GepaState> = { next, apply, view: viewGepa };

function next(state: GepaState): Work {
  const { phase, generation } = state;
  switch (phase.name) {
    case 'baseline':
    case 'minibatch':
    case 'gate':
    case 'evaluation':
    case 'heldout':
      return { kind: 'rollouts', requests: requestsOf(phase.batch, phase.name, generation) };
    case 'proposals':
      return { kind: 'proposals', requests: proposalRequests(state, phase) };
    case 'done':
      return { kind: 'done', stoppedBy: phase.stoppedBy };
    case 'failed':
      return { kind: 'failed', code: phase.code, message: phase.message };
  }
}

function proposalRequests({ config, generation }: GepaState, { trials }: PhaseOf<'proposals'>): ProposalRequest[] {
  return trials.map(({ candidate, parents, offered }, place): ProposalRequest => {
    const request = { candidate, parent: parents[0]!, generation, ordinals: offered.map(({ ordinal }) => ordinal) };
    if (parents.length > 1) return { ...request, merge: parents };
    return { ...request, pick: { size: minibatchOf(config), place, of: trials.length } };
  });
}

function apply(state: GepaState, answers: Answers): { state: GepaState; decisions: Decision[] } {
  const decisions: Decision[] = [];
  const after = fold(state, answers, decisions);
  if (after.budgetWarned || !isBudgetLow(after)) return { state: after, decisions };
  decisions.push({ type: 'budget_warning', rolloutsUsed: after.asked, maxRollouts: after.config.maxRollouts! });
  return { state: { ...after, budgetWarned: true }, decisions };
}

function fold(state: GepaState, answers: Answers, decisions: Decision[]): GepaState {
  const { phase } = state;
  if (phase.name === 'proposals' && answers.kind === 'proposals') {
    return afterProposals(state, phase, matchProposals(phase.trials, answers.answers), decisions);
  }
  if ('batch' in phase && answers.kind === 'rollouts') return foldRollouts(state, phase, answers.answers, decisions);
  throw new Error(`answers of kind ${answers.kind} do not fit: the search asks for work of kind ${next(state).kind}`);
}

function foldRollouts(
  before: GepaState,
  phase: RolloutPhase,
  answers: readonly RolloutAnswer[],
  decisions: Decision[],
): GepaState {
  const { batch, nextOrdinal } = foldAnswers(phase.batch, answers, before.asked, repeatableRollouts(before));
  const answered = new Map<number, number>();
  for (const { candidate } of requestsOf(phase.batch, phase.name, before.generation)) {
    answered.set(candidate, (answered.get(candidate) ?? 0) + 1);
  }
  const state: GepaState = {
    ...before,
    phase: { ...phase, batch },
    asked: nextOrdinal,
    answered: before.answered + answers.length,
    candidates: before.candidates.map((candidate) => ({
      ...candidate,
      rolloutCount: candidate.rolloutCount + (answered.get(candidate.candidate) ?? 0),
    })),
  };
  const rewards = rewardsOf(batch);
  if (rewards === null) return state;
  if (phase.name === 'heldout') return afterHeldout(state, phase, rewards);
  const measured = batch.pairs.map(([candidate, seed], place) => {
    return { candidate, seed, ordinal: batch.ordinals[place]!, reward: rewards[place]! };
  });
  const known = { ...state, results: addResults(state.results, measured) };
  switch (phase.name) {
    case 'baseline':
      return afterBaseline(known, decisions);
    case 'minibatch':
      return afterMinibatch(known, phase, decisions);
    case 'gate':
      return afterGate(known, phase, decisions);
    case 'evaluation':
      return afterEvaluation(known, phase, decisions);
  }
}
