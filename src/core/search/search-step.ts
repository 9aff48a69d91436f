/** What a turn is in both searches of sessions, by seeds (`step.ts`) and by live traffic (`unpaired/step.ts`). */
import type {
  SearchResponse,
  CandidateSummary,
  Decision,
  ProposalAnswer,
  ProposalRequest,
  RolloutAnswer,
  Stage,
  StoppedBy,
  SearchRequest,
} from './protocol.js';
import { foldAnswers, requestsOf, type Batch } from './batch.js';
import { isBudgetLow, repeatableRollouts, type Budgeted } from './budget.js';
import type { GepaConfig } from '../algorithms/gepa/config.js';
import { minibatchOf } from './config.js';
import { countRollouts } from './counting.js';
import { mutationOf } from '../proposals/mutation.js';

/** A phase in which rollouts are outstanding, and the two that end a search; each search has more of its own. */
type Outstanding = { name: Stage; batch: Batch };
type Ended = { name: 'done'; stoppedBy: StoppedBy } | { name: 'failed'; code: string; message: string };

/** What a proposal is wanted for: the number that it gets, whom it comes from, and the rollouts that it may be shown. */
export interface PlannedProposal {
  candidate: number;
  parents: number[];
  offered: readonly { ordinal: number }[];
}

/** The rollouts that a phase asks for, or how the search ended. */
export function requestOf(phase: Outstanding | Ended, generation: number): SearchRequest {
  switch (phase.name) {
    case 'done':
      return { kind: 'done', stoppedBy: phase.stoppedBy };
    case 'failed':
      return { kind: 'failed', code: phase.code, message: phase.message };
    case 'baseline':
    case 'minibatch':
    case 'gate':
    case 'evaluation':
    case 'heldout':
      return { kind: 'rollouts', requests: requestsOf(phase.batch, phase.name, generation) };
  }
}

/** The proposals of a generation, each asked for failures of another cause; one with several parents is a merge. */
export function proposalRequest(
  wanted: readonly PlannedProposal[],
  generation: number,
  config: GepaConfig,
): SearchRequest {
  const requests = wanted.map(({ candidate, parents, offered }, index): ProposalRequest => {
    const request = { candidate, parent: parents[0]!, generation, ordinals: offered.map(({ ordinal }) => ordinal) };
    if (parents.length > 1) return { ...request, kind: 'merge', merge: parents };
    const pick = { size: minibatchOf(config), index, of: wanted.length };
    return { ...request, ...mutationOf(candidate, config), pick };
  });
  return { kind: 'proposals', requests };
}

/** The error for answers of another kind than was asked for. */
export function mismatchedResponse(answers: SearchResponse, work: SearchRequest): Error {
  return new Error(`answers of kind ${answers.kind} do not fit: the search asks for work of kind ${work.kind}`);
}

interface Counted extends Budgeted {
  generation: number;
  answered: number;
  candidates: CandidateSummary[];
}

/** The batch with its answers, and what they change of the counts. */
export function answerBatch(
  state: Counted,
  phase: Outstanding,
  answers: readonly RolloutAnswer[],
): { batch: Batch; counts: Pick<Counted, 'asked' | 'answered' | 'candidates'> } {
  const { batch, nextOrdinal } = foldAnswers(phase.batch, answers, state.asked, repeatableRollouts(state, phase.name));
  const answered = requestsOf(phase.batch, phase.name, state.generation);
  const counts = {
    asked: nextOrdinal,
    answered: state.answered + answers.length,
    candidates: countRollouts(state.candidates, answered),
  };
  return { batch, counts };
}

/** The candidates that proposals brought, by ascending number, each with its decision. */
export function newCandidates(
  proposed: readonly Pick<PlannedProposal, 'candidate' | 'parents'>[],
  generation: number,
  decisions: Decision[],
): CandidateSummary[] {
  return proposed.map(({ candidate, parents }) => {
    decisions.push({ type: 'candidate_proposed', candidate, parents, generation });
    return { candidate, parents, generation, status: 'proposed', reward: null, rolloutCount: 0 };
  });
}

/** The decisions on proposals that came to nothing. */
export function reportFailedProposals(
  answers: readonly ProposalAnswer[],
  generation: number,
  decisions: Decision[],
): void {
  for (const { candidate, outcome, reason } of answers) {
    if (outcome === 'proposed') continue;
    const why = outcome === 'duplicate' ? 'duplicate: the proposed text is that of a known candidate' : undefined;
    decisions.push({ type: 'proposal_failed', candidate, generation, reason: why ?? reason ?? 'no reason was given' });
  }
}

/** The state that has warned, once, when the budget is nearly used. */
export function warnOfBudget<State extends Budgeted & { budgetWarned: boolean }>(
  state: State,
  decisions: Decision[],
): State {
  if (state.budgetWarned || !isBudgetLow(state)) return state;
  decisions.push({ type: 'budget_warning', rolloutsUsed: state.asked, maxRollouts: state.config.maxRollouts! });
  return { ...state, budgetWarned: true };
}

/** The candidates with one of them changed. */
export function changeCandidate(
  candidates: readonly CandidateSummary[],
  candidate: number,
  changes: Partial<CandidateSummary>,
): CandidateSummary[] {
  return candidates.map((one) => (one.candidate === candidate ? { ...one, ...changes } : one));
}
