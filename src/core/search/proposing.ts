/** Proposal requests of a generation, and the candidates that follow from the answers. */
import { duplicateProposal } from '../proposals/failure-reasons.js';
import { mutationOf, type MutationConfig } from '../proposals/mutation.js';
import { recordProposals } from '../proposals/proposer-failures.js';
import { minibatchOf, type SearchConfig } from './config.js';
import type { Approach } from '../proposals/approach.js';
import type { CandidateSummary, Composition, Decision, ProposalAnswer, ProposalRequest } from './protocol.js';
import type { EndPhase, SearchState } from './state.js';

/** A candidate to propose; several parents make a merge. */
export interface PlannedProposal {
  candidate: number;
  /** Absent: the search's. */
  generation?: number;
  parents: number[];
  /** Rollouts that the proposer may be shown. */
  offered?: readonly { ordinal: number }[];
  /** The candidate is its parent's graph without a step, or its prompt without sentences. */
  ablation?: number;
  /** A person's prompt, by its id. */
  given?: string;
  /** The candidate's parts, all known. */
  compose?: Composition;
  /** How the model is asked; absent: as in a search that is not stalled. */
  approach?: Approach;
}

/** The requests for proposals that are asked for at once. */
export function proposalRequests(
  planned: readonly PlannedProposal[],
  current: number,
  config: SearchConfig & MutationConfig,
): ProposalRequest[] {
  const reflections = planned.filter(isReflection);
  return planned.map((proposal): ProposalRequest => {
    const { candidate, parents, offered = [], generation = current } = proposal;
    const { ablation, approach, given, compose } = proposal;
    const request = { candidate, parent: parents[0]!, generation, ordinals: offered.map(({ ordinal }) => ordinal) };
    if (given !== undefined) return { ...request, kind: 'given', given };
    if (compose !== undefined) return { ...request, kind: 'compose', compose, ...(approach && { approach }) };
    if (parents.length > 1) return { ...request, kind: 'merge', merge: parents };
    if (ablation !== undefined) return { ...request, kind: 'ablate', ablation };
    if (approach !== undefined) {
      const varied = { ...request, ...mutationOf(candidate, config, approach), approach };
      return approach === 'compress' ? varied : { ...varied, pick: { size: offered.length, index: 0, of: 1 } };
    }
    // Each reflection of a round is about other failures, so these are counted together.
    const of = reflections.length;
    const size = Math.min(minibatchOf(config), Math.ceil(offered.length / of));
    return { ...request, ...mutationOf(candidate, config), pick: { size, index: reflections.indexOf(proposal), of } };
  });
}

function isReflection({ parents, ablation, approach, given, compose }: PlannedProposal): boolean {
  const isOther = [ablation, approach, given, compose].some((origin) => origin !== undefined);
  return parents.length === 1 && !isOther;
}

/**
 * The state with the proposed candidates. `answers` are the proposer's, without merges; too many
 * failures end the search.
 */
export function addProposals<State extends SearchState>(
  before: State,
  proposed: readonly Pick<PlannedProposal, 'candidate' | 'parents' | 'approach' | 'given'>[],
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
  generationOf: (candidate: number) => number = () => before.generation,
): State {
  const added = proposed.map(({ candidate, parents, approach, given }): CandidateSummary => {
    const generation = generationOf(candidate);
    const origin = { ...(approach && { approach }), ...(given !== undefined && { isGiven: true as const }) };
    decisions.push({ type: 'candidate_proposed', candidate, parents, generation, ...origin });
    return { candidate, parents, generation, status: 'proposed', reward: null };
  });
  reportFailedProposals(answers, generationOf, decisions);
  const state = { ...before, candidates: [...before.candidates, ...added] };
  if (answers.length === 0) return state;
  const { record, failure } = recordProposals(before.proposer, answers);
  if (failure === null) return { ...state, proposer: record };
  const phase: EndPhase = { name: 'failed', code: 'proposer_failed', message: failure };
  return { ...state, proposer: record, phase };
}

export function reportFailedProposals(
  answers: readonly ProposalAnswer[],
  generationOf: (candidate: number) => number,
  decisions: Decision[],
): void {
  for (const { candidate, outcome, reason = 'no reason was given' } of answers) {
    if (outcome === 'proposed') continue;
    const isDuplicate = outcome === 'duplicate';
    const why = isDuplicate ? duplicateProposal : reason;
    decisions.push({ type: 'proposal_failed', candidate, generation: generationOf(candidate), reason: why });
  }
}
