/** What happened in a run, and what to do now: by rules, without a model. */
import type { EmptyCounts } from '../answers/empty-answers.js';
import type { EmptyReason } from '../answers/ending.js';
import type { Interval } from '../math/mean-interval.js';
import type { ProposalCounts } from './proposals.js';

export type DiagnosisCode =
  | 'all_wrong'
  | 'rollouts_failed'
  | 'answers_empty'
  | 'no_proposal_survived'
  | 'nothing_to_gain'
  | 'too_few_rows'
  | 'overfit'
  | 'noise'
  | 'budget_ended'
  | 'better'
  | 'worse'
  | 'no_better';

/** Why an answer earned nothing. `label_not_in_prompt`: of the expected label. */
export type RowCause = 'failed' | 'empty' | 'refusal' | 'format' | 'cut' | 'label_not_in_prompt' | 'scorer' | 'wrong';

/** A rollout that earned nothing, with its texts. */
export interface SampledRow {
  /** From 0. */
  row: number;
  rolloutId: string;
  input: string | null;
  /** Right answers, each of which counts; empty: the job knows none. */
  expected: readonly string[];
  /** null: the model gave none. */
  answered: string | null;
  finishReason: string | null;
  /** Why the model gave no answer. */
  empty: EmptyReason | null;
  /** Of a rollout that failed. */
  error: string | null;
  /** The scorer gave no reward. */
  unscored: boolean;
}

export interface DiagnosedRow {
  row: number;
  rolloutId: string;
  expected: string | null;
  answered: string | null;
  cause: RowCause;
  /** The cause in words. */
  because: string;
}

export type ExtensionLimit = 'max_rollouts' | 'max_cost_usd' | 'max_minutes';

export type ActionKind = 'extend' | 'deploy' | 'new_run' | 'more_rows' | 'read_rows';

/** What to do now; `label` is the text of a button. */
export interface Action {
  kind: ActionKind;
  label: string;
  /** `extend`: the limit, its new total, and what the difference costs (null: unknown). */
  extension?: { limit: ExtensionLimit; to: number; costUsd: number | null };
  /** `new_run`: what the prompt lacks. */
  promptAddition?: string;
}

export interface Diagnosis {
  code: DiagnosisCode;
  sentence: string;
  /** At most `mostFacts`. */
  facts: string[];
  /** At most `mostRows`. */
  rows: DiagnosedRow[];
  action: Action | null;
}

export const mostFacts = 3;
export const mostRows = 3;

/** What is known of the answers of a run. */
export interface AnswersRecord {
  /** The noun of an input. */
  unit: 'row' | 'task';
  isEnded: boolean;
  /** A search goes on despite some faults, so only more of them come before what it found. */
  isSearch: boolean;
  /** Finished rollouts: with a reward, and without. */
  scored: number;
  failed: number;
  /** Of the rewards; null: there are none. */
  rewards: Interval | null;
  /** Answers without a text that earned nothing. */
  empty: EmptyCounts;
  /** Whether a model gave the answers that knows only what its prompt lists. */
  isLocal: boolean;
  /** What brings answers and scorer together, where only the form is wrong. */
  formAdvice: string;
  /** Read only where `symptomOf` names one. */
  rows: readonly SampledRow[];
  /** The expected values, if these are labels; else empty. */
  labels: readonly string[];
  /** The text that the answers came from; null: it is not known. */
  prompt: string | null;
}

/** What is known of a search. Rewards are means. */
export interface SearchRecord extends AnswersRecord {
  /** The noun of a candidate. */
  thing: 'prompt' | 'graph';
  /** On the rows that selected; null: not measured. */
  baseline: number | null;
  best: number | null;
  isBaselineBest: boolean;
  /** null: nothing was compared. */
  comparison: {
    verdict: 'better' | 'worse' | 'inconclusive';
    basis: 'heldout' | 'evaluation';
    rows: number;
    baseline: number;
    winner: number;
    winnerInterval: Interval;
    difference: number;
    interval: Interval;
    /** In total; null: decided, or no number would. */
    rowsNeeded: number | null;
  } | null;
  /** By how much noise alone moves a mean reward, in 95 of 100 cases; null: not measured. */
  noise: number | null;
  proposals: ProposalCounts;
  stoppedBy: string | null;
  /** Why larger limits would change nothing; null: they would. */
  nothingLeft: string | null;
  /** The best reward after each generation. */
  history: readonly number[];
  /** That made the best candidate; null: not known. */
  bestGeneration: number | null;
  /** The length of `history` when limits were last raised; null: never. */
  extendedAt: number | null;
  /** Rows that select, and those held out; null: not known. */
  evaluationRows: number | null;
  heldoutRows: number | null;
  rollouts: number;
  /** The limits of the run; null: none. */
  limits: Readonly<Record<ExtensionLimit, number | null>>;
  /** null: unknown. */
  costUsd: number | null;
  isExtendable: boolean;
}
