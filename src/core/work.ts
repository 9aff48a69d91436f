/**
 * What an algorithm may ask for, and how it is answered. The algorithms in this folder do no I/O: `next(state)` names the
 * work they want, `apply(state, answers)` folds the answers in, and the state between is plain JSON.
 */

/** Why a rollout is run. */
export type Stage = 'baseline' | 'minibatch' | 'gate' | 'evaluation';

/** One rollout wanted: candidate (by its lever version, 0 = baseline) on a seed. `ordinal` counts requests from 0, no gaps. */
export interface RolloutRequest {
  ordinal: number;
  candidate: number;
  seed: number;
  stage: Stage;
  generation: number;
}

/** Its one outcome. `reward` is null when it failed; `infrastructure` says that the failure was not the candidate's. */
export interface RolloutAnswer {
  ordinal: number;
  reward: number | null;
  infrastructure: boolean;
}

/** A better text wanted for `parent`, shown the parent's rollouts `ordinals`; it becomes candidate number `candidate`. */
export interface ProposalRequest {
  candidate: number;
  parent: number;
  generation: number;
  ordinals: number[];
}

/** `proposed`: a new valid text is stored under that number. `duplicate`: the text is one already known. */
export interface ProposalAnswer {
  candidate: number;
  outcome: 'proposed' | 'duplicate' | 'failed';
  reason?: string;
}

export type StoppedBy = 'generations' | 'max_rollouts';

export type Work =
  | { kind: 'rollouts'; requests: RolloutRequest[] }
  | { kind: 'proposals'; requests: ProposalRequest[] }
  | { kind: 'done'; stoppedBy: StoppedBy }
  | { kind: 'failed'; code: string; message: string };

export type Answers = { kind: 'rollouts'; answers: RolloutAnswer[] } | { kind: 'proposals'; answers: ProposalAnswer[] };

/** A candidate as the algorithm sees it; its text lives in Postgres under the same number. */
export interface CandidateSummary {
  candidate: number;
  parents: number[];
  generation: number;
  status: 'proposed' | 'rejected' | 'evaluated';
  /** Mean reward over the evaluation seeds, once evaluated. */
  reward: number | null;
  rolloutCount: number;
}

/** What `apply` decided, in order; each becomes one event with a semantic key of its own. */
export type Decision =
  | { type: 'candidate_proposed'; candidate: number; parents: number[]; generation: number }
  | {
      type: 'candidate_rejected';
      candidate: number;
      generation: number;
      reason: string;
      parentSum: number;
      childSum: number;
    }
  | { type: 'candidate_evaluated'; candidate: number; generation: number; reward: number; seedsEvaluated: number }
  | { type: 'generation_complete'; generation: number; bestReward: number; bestCandidate: number }
  | { type: 'budget_warning'; rolloutsUsed: number; maxRollouts: number }
  | { type: 'proposal_failed'; candidate: number; generation: number; reason: string };

/** What operators and HTTP see of a search at any time. */
export interface SearchView {
  generation: number;
  totalGenerations: number;
  bestCandidate: number | null;
  bestReward: number | null;
  rolloutsPlanned: number;
  rolloutsCompleted: number;
  maxRollouts: number | null;
  candidates: CandidateSummary[];
  history: { generation: number; bestReward: number }[];
}

/** An algorithm: pure functions over a state that is plain JSON and carries its random generator. */
export interface Search<State> {
  next(state: State): Work;
  apply(state: State, answers: Answers): { state: State; decisions: Decision[] };
  view(state: State): SearchView;
}
