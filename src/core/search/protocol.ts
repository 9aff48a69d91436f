/**
 * The protocol between a search and its caller. A search does no I/O: `next(state)` returns its
 * request, `apply(state, response)` folds the response in, and the state is plain JSON.
 */
import type { EmptyReason } from '../answers/ending.js';
import type { Approach } from '../proposals/approach.js';
import type { TriedCandidate } from '../proposals/tried-candidate.js';
import type { Interval } from '../math/mean-interval.js';
import type { Conclusion, Tested } from '../math/statistics.js';

/** The purpose of a rollout. */
export type Stage = 'baseline' | 'minibatch' | 'gate' | 'evaluation' | 'heldout';

/** A rollout of a candidate (0 is the baseline) on a seed; ordinals count from 0 without gaps. */
export interface RolloutRequest {
  ordinal: number;
  candidate: number;
  seed: number;
  stage: Stage;
  generation: number;
}

/**
 * `reward` null: it failed; `infrastructure`: not by the candidate; `unverified`: the judge failed,
 * which says nothing about the output. `empty`: why the model gave no answer. `cost`, in one unit
 * for the search: only if candidates differ in cost and it is known.
 */
export interface RolloutAnswer {
  ordinal: number;
  reward: number | null;
  infrastructure: boolean;
  unverified?: true;
  empty?: EmptyReason;
  cost?: number;
}

/**
 * `rewrite`: a model rewrites texts of the parent; `edit`: a model edits the parent's graph;
 * without a model, `merge` and `compose` combine parts of known candidates, and `ablate` removes a
 * step of the parent's graph or sentences of its prompt. A person wrote the text of `given`.
 */
export interface ProposalRequest {
  kind: 'rewrite' | 'edit' | 'merge' | 'compose' | 'ablate' | 'given';
  candidate: number;
  parent: number;
  generation: number;
  /** Rollouts that the proposer may be shown. */
  ordinals: number[];
  /** `rewrite` and `edit`: which of these rollouts it is shown; `compress` shows none. */
  pick?: FailurePick;
  /** `rewrite`: rollouts that the parent gets right, shown beside the failures. */
  solved?: number[];
  /** `rewrite`: earlier children of the parent, the newest first. */
  tried?: TriedCandidate[];
  /** `rewrite`: how components are chosen. */
  components?: ComponentChoice;
  /** `rewrite` in a stalled search: how the model is asked. `compose`: `compress` adds no turn. */
  approach?: Approach;
  /** `rewrite`: the question has the description of the task, and a tip. */
  guide?: { tip: string | null };
  merge?: number[];
  compose?: Composition;
  /** `given`: the id of the person's prompt. */
  given?: string;
  /** `ablate`: which of the steps, or of the halves of the sentences, is removed. */
  ablation?: number;
}

/** `size` failures with similar feedback: group `index` of `of` groups. */
export interface FailurePick {
  size: number;
  index: number;
  of: number;
}

/** `feedback`: those that the feedback names; `round_robin`: one in turn; `all`: all each time. */
export type ComponentSelection = 'feedback' | 'round_robin' | 'all';

/** Which components a rewrite changes; `turn` numbers the rewrites where components take turns. */
export interface ComponentChoice {
  selection: ComponentSelection;
  turn: number;
}

/** The candidate that gives each component's text, demonstrations, and the parents to record. */
export interface Composition {
  texts: number[];
  demos: DemoSlot[];
  parents: number[];
}

/**
 * Rollouts, by ordinal, as demonstrations in a component's calls; null: in every call.
 * `bootstrapped` show the answer, `labeled` the container's right answer.
 */
export interface DemoSlot {
  component: string | null;
  bootstrapped: number[];
  labeled: number[];
}

/**
 * `proposed`: a new valid text is stored; `duplicate`: the text is known; `refused`: it is longer
 * than the job allows, which is no fault of the proposer. `shown`: the picked
 * ordinals; `removed`: candidates whose contributions it lacks; `parents`: those merged.
 */
export interface ProposalAnswer {
  candidate: number;
  outcome: 'proposed' | 'duplicate' | 'refused' | 'failed';
  reason?: string;
  shown?: number[];
  removed?: number[];
  parents?: number[];
}

export type StoppedBy = 'generations' | 'max_rollouts' | 'solved' | 'train_solved' | 'patience' | 'target_reward';

/**
 * Which of `ordinals` can be demonstrations, those first that cover most of the questions of
 * `open`; `describe`: those for the task.
 */
export interface DemoRequest {
  generation: number;
  ordinals: number[];
  open: number[];
  describe: number[];
}

/**
 * The usable ordinals of a slot, in the order of coverage. `sameAnswer`: ordinals by answer, of
 * answers that several labeled rollouts share, such as labels. `room`: the number of labeled
 * demonstrations that fit into a prompt.
 */
export interface UsableSlot extends DemoSlot {
  sameAnswer: number[][];
  room: number;
}

/** The prompt's components, and the usable ordinals of each slot. */
export interface DemoAnswer {
  components: string[];
  slots: UsableSlot[];
}

export type SearchRequest =
  | { kind: 'rollouts'; requests: RolloutRequest[] }
  | { kind: 'proposals'; requests: ProposalRequest[] }
  /** Both, side by side. */
  | { kind: 'round'; rollouts: RolloutRequest[]; proposals: ProposalRequest[] }
  | { kind: 'demos'; request: DemoRequest }
  | { kind: 'done'; stoppedBy: StoppedBy }
  | { kind: 'failed'; code: string; message: string };

export type SearchResponse =
  | { kind: 'rollouts'; answers: RolloutAnswer[] }
  | { kind: 'proposals'; answers: ProposalAnswer[] }
  | { kind: 'round'; rollouts: RolloutAnswer[]; proposals: ProposalAnswer[] }
  | { kind: 'demos'; answer: DemoAnswer };

/** A candidate in the search; Postgres holds its text under the same number. */
export interface CandidateSummary {
  candidate: number;
  parents: number[];
  generation: number;
  status: 'proposed' | 'rejected' | 'evaluated';
  /** Mean reward over the evaluation seeds; null until evaluated. */
  reward: number | null;
  /** 95 %, for unseen rows of their kind; absent until evaluated. */
  interval?: Interval;
}

/**
 * A tested seed, packed for history: the seed, the ordinal of the ancestor's rollout to compare
 * with (null: none), and the ordinals of the candidate's rollouts.
 */
export type TestedSeed = readonly [seed: number, ancestor: number | null, ...rollouts: number[]];

/** The test of an undecided candidate, in the order of its rollouts. */
export interface CandidateTest {
  candidate: number;
  seeds: TestedSeed[];
}

/** The decisions of `apply`, in order; all but `rollouts_repeated` become events. */
export type Decision =
  | {
      type: 'candidate_proposed';
      candidate: number;
      parents: number[];
      generation: number;
      approach?: Approach;
      isGiven?: true;
    }
  | {
      type: 'candidate_rejected';
      candidate: number;
      generation: number;
      reason: string;
      parentSum: number;
      childSum: number;
      tested: number;
    }
  | {
      type: 'candidate_accepted';
      candidate: number;
      generation: number;
      parentSum: number;
      childSum: number;
      tested: number;
      /** The expected mean on the evaluation seeds. */
      estimate: number;
      /** Accepted for its cost or its length, without gain or loss; absent: it gains. */
      reason?: 'cheaper' | 'shorter';
    }
  | {
      type: 'candidate_evaluated';
      candidate: number;
      generation: number;
      reward: number;
      interval: Interval;
      seedsEvaluated: number;
    }
  | { type: 'generation_complete'; generation: number; bestReward: number; bestCandidate: number }
  | { type: 'budget_warning'; rolloutsUsed: number; maxRollouts: number }
  /** These failed rollouts do not count: they were requested again, or stay unverified. */
  | { type: 'rollouts_repeated'; ordinals: number[] }
  | { type: 'proposal_failed'; candidate: number; generation: number; reason: string };

/** The decision on a candidate's test. */
export type AcceptanceDecision = Extract<Decision, { type: 'candidate_accepted' | 'candidate_rejected' }>;

/** The winner's rewards minus the baseline's: the mean and its 95 % interval. */
export interface SearchVerdict extends Tested {
  verdict: Conclusion;
  /** Held-out seeds, or the evaluation seeds that chose the winner. */
  basis: 'heldout' | 'evaluation';
  seeds: number;
  baseline: number;
  winner: number;
  /** Of each mean, for unseen rows. */
  baselineInterval: Interval;
  winnerInterval: Interval;
}

/** The open round: its rollouts (0: it waits for proposals), those answered, and their rewards. */
export interface SearchPhase {
  name: 'baseline' | 'search' | 'evaluation' | 'heldout';
  rollouts: number;
  answered: number;
  rewardSum: number;
}

export interface SearchView {
  generation: number;
  totalGenerations: number;
  bestCandidate: number | null;
  bestReward: number | null;
  /** Of `bestReward`, 95 %, for unseen rows; null: another sample of live traffic, or no reward. */
  bestInterval?: Interval | null;
  rolloutsPlanned: number;
  rolloutsCompleted: number;
  maxRollouts: number | null;
  /** Expected mean of the most promising candidate, with the 95 % interval for unseen rows. */
  estimate?: { candidate: number; reward: number; low: number; high: number } | null;
  /** Standard deviation of equal rollouts, and its degrees of freedom; null: none was repeated. */
  noise?: { sd: number; comparisons: number } | null;
  evaluationRollouts?: number;
  /** The winner against the baseline; null before the end. */
  verdict?: SearchVerdict | null;
  /** Why larger limits would not continue an ended search; null: they would. */
  nothingLeft?: StoppedBy | null;
  extendedAt?: number;
  evaluationSeeds: number;
  heldoutSeeds: number;
  candidates: CandidateSummary[];
  /** The tests that are running; absent: none, or over live traffic without instances. */
  tests?: CandidateTest[];
  history: { generation: number; bestReward: number }[];
  phase?: SearchPhase | null;
}

/** The limits of a search that can be raised while its state is kept. */
export type SearchLimits = Record<'maxRollouts' | 'trials', number | null> & { generations: number };

/** A state, and the decisions that led to it. */
export interface Step<State> {
  state: State;
  decisions: Decision[];
}

/** A search: pure functions over a plain JSON state with its random generator. */
export interface SearchAlgorithm<State> {
  next(state: State): SearchRequest;
  apply(state: State, answers: SearchResponse): Step<State>;
  /** Takes a person's prompt, to be tested after the current tests; null: the search is ending. */
  give(state: State, id: string): State | null;
  /** Goes on with other limits, also after the end; `endsBy`: why the search would end at once. */
  extend(state: State, limits: Partial<SearchLimits>): Step<State> | { endsBy: string };
  view(state: State): SearchView;
}
