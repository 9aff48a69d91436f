/**
 * What an algorithm may ask for, and how it is answered. The algorithms in this folder do no I/O: `next(state)` names the
 * work they want, `apply(state, answers)` folds the answers in, and the state between is plain JSON.
 */

/** Why a rollout is run. */
export type Stage = 'baseline' | 'minibatch' | 'gate' | 'evaluation' | 'heldout';

/** One rollout wanted: candidate (by its lever version, 0 = baseline) on a seed. `ordinal` counts requests from 0, no gaps. */
export interface RolloutRequest {
  ordinal: number;
  candidate: number;
  seed: number;
  stage: Stage;
  generation: number;
}

/**
 * Its one outcome. `reward` is null when it failed; `infrastructure` says that the failure was not the candidate's. `cost`: what
 * it took, in a unit that is the same for all of a search; only where candidates do not all cost the same, and it is known.
 */
export interface RolloutAnswer {
  ordinal: number;
  reward: number | null;
  infrastructure: boolean;
  cost?: number;
}

/**
 * A better text wanted for `parent`; it becomes candidate number `candidate`. `ordinals` are the rollouts that the reflection
 * is shown; with `pick` only so many of them that share a cause, the `place`-th of `of` requests taking another cause than
 * the others. With `merge` or `compose` no model is asked: what candidates have is combined.
 */
export interface ProposalRequest {
  candidate: number;
  parent: number;
  generation: number;
  ordinals: number[];
  pick?: { size: number; index: number; of: number };
  merge?: number[];
  rewrite?: Rewrite;
  compose?: Composition;
}

/** The one component that is rewritten, by its place in the prompt; the good rollouts shown beside; what to keep in mind. */
export interface Rewrite {
  component: number;
  examples: number[];
  tip: string | null;
}

/** A candidate put together without asking a model: each component's text is that of a candidate, demonstrations by rollout. */
export interface Composition {
  texts: number[];
  demos: DemoSlot[];
}

/**
 * Rollouts by ordinal that are, or can be, shown as demonstrations in the calls of a component; `component` null: in every
 * call. `bootstrapped` show what was answered, `labeled` what the container told was the right answer.
 */
export interface DemoSlot {
  component: string | null;
  bootstrapped: number[];
  labeled: number[];
}

/**
 * `proposed`: a new valid text is stored under that number. `duplicate`: the text is one already known. `shown`: the
 * ordinals that were picked; `removed`: the candidates that had brought in what the new text lacks of its parent's; `parents`:
 * those that a merge did combine.
 */
export interface ProposalAnswer {
  candidate: number;
  outcome: 'proposed' | 'duplicate' | 'failed';
  reason?: string;
  shown?: number[];
  removed?: number[];
  parents?: number[];
}

export type StoppedBy = 'generations' | 'max_rollouts' | 'solved' | 'patience' | 'target_reward';

/** Which of the rollouts `ordinals` (best first) can be shown; from those in `describe` the task is described, once. */
export interface DemoRequest {
  generation: number;
  ordinals: number[];
  describe: number[];
}

/** The components of the prompt in their order, and of the rollouts asked about those that can be shown, in the order asked. */
export interface DemoAnswer {
  components: string[];
  slots: DemoSlot[];
}

export type SearchRequest =
  | { kind: 'rollouts'; requests: RolloutRequest[] }
  | { kind: 'proposals'; requests: ProposalRequest[] }
  | { kind: 'demos'; request: DemoRequest }
  | { kind: 'done'; stoppedBy: StoppedBy }
  | { kind: 'failed'; code: string; message: string };

export type SearchResponse =
  | { kind: 'rollouts'; answers: RolloutAnswer[] }
  | { kind: 'proposals'; answers: ProposalAnswer[] }
  | { kind: 'demos'; answer: DemoAnswer };

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
  | {
      type: 'candidate_accepted';
      candidate: number;
      generation: number;
      parentSum: number;
      childSum: number;
      /** The mean that is expected of it on the evaluation seeds. */
      estimate: number;
      /** It gains nothing and loses nothing, and costs less; absent: it gains. */
      reason?: 'cheaper';
    }
  | { type: 'candidate_evaluated'; candidate: number; generation: number; reward: number; seedsEvaluated: number }
  | { type: 'generation_complete'; generation: number; bestReward: number; bestCandidate: number }
  | { type: 'budget_warning'; rolloutsUsed: number; maxRollouts: number }
  | { type: 'proposal_failed'; candidate: number; generation: number; reason: string };

/** The winner's rewards less the baseline's on the same seeds: their mean and its 95 % interval. */
export interface Verdict {
  verdict: 'better' | 'not_significantly_better' | 'worse';
  /** On what it rests: seeds that the search never saw, or those that the winner was chosen by. */
  basis: 'heldout' | 'evaluation';
  seeds: number;
  baseline: number;
  winner: number;
  difference: number;
  low: number;
  high: number;
}

/** What operators and HTTP see of a search at any time. */
export interface SearchView {
  generation: number;
  totalGenerations: number;
  bestCandidate: number | null;
  bestReward: number | null;
  rolloutsPlanned: number;
  rolloutsCompleted: number;
  maxRollouts: number | null;
  /** What is expected of the most promising candidate on the evaluation seeds, with its 95 % interval; absent: not known. */
  estimate?: { candidate: number; reward: number; low: number; high: number } | null;
  /** Standard deviation of equal rollouts, and how many comparisons it rests on; null: none was repeated. */
  noise?: { sd: number; comparisons: number } | null;
  /** How many rollouts an evaluation's mean is of. */
  evaluationRollouts?: number;
  /** The winner against the baseline, once all is decided. */
  verdict?: Verdict | null;
  candidates: CandidateSummary[];
  history: { generation: number; bestReward: number }[];
}

/** An algorithm: pure functions over a state that is plain JSON and carries its random generator. */
export interface SearchAlgorithm<State> {
  next(state: State): SearchRequest;
  apply(state: State, answers: SearchResponse): { state: State; decisions: Decision[] };
  view(state: State): SearchView;
}
