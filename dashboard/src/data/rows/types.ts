import type { Answer, Item } from '../../../../src/client/index.js';
import type { Review, ReviewVerdict } from '../reviews/types.js';

export type RowGroup = Item<'listSessionRows'>['group'];
export type ReviewFilter = 'none' | 'any' | ReviewVerdict;
export type RowsSummary = Answer<'getSessionRowsSummary'>;

/** Which rows are shown. */
export interface RowsFilter {
  group?: RowGroup;
  seen?: boolean;
  expected?: string;
  answered?: string;
  other_answers?: true;
  feedback?: string;
  review?: ReviewFilter;
  q?: string;
}

/** What one side answered. `reward` null: it failed. */
export interface RowAnswer {
  reward: number | null;
  /** null: none, or its texts have expired. */
  answer: string | null;
  feedback: string | null;
  error: string | null;
  traceId: string;
}

/** A row of any kind of job. */
export interface Row {
  seed: number;
  /** The task of a graph job, else the number. */
  name: string;
  group: RowGroup;
  /** Whether the search selected on it; null: there is no search. */
  seen: boolean | null;
  input: string | null;
  expected: string | null;
  before: RowAnswer | null;
  after: RowAnswer | null;
  /** What people say of the answer. */
  reviews: Review[];
}

/** `next`: where the next page begins; null: this is the last. */
export interface RowsPage {
  rows: Row[];
  /** null: a page behind the first. */
  total: number | null;
  next: string | null;
  /** Whether a baseline stands beside the candidate. */
  hasBaseline: boolean;
}
