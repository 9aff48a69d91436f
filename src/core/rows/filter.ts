/** Which rows pass a filter. */
import type { ReviewVerdict } from '../../contracts/review.js';
import type { RowGroup } from './groups.js';

/** any: with a verdict of somebody. none: without. */
export type ReviewFilter = ReviewVerdict | 'any' | 'none';

/** Absent fields pass all rows. */
export interface RowFilter {
  group?: RowGroup | undefined;
  /** Whether the search selected on the row. */
  seen?: boolean | undefined;
  expected?: string | undefined;
  /** A column of the label table. */
  answered?: string | undefined;
  /** Whether the answer has no column. */
  otherAnswers?: boolean | undefined;
  /** The text of a cluster. */
  feedback?: string | undefined;
  review?: ReviewFilter | undefined;
  /** A part of a text. */
  part?: string | undefined;
}

/** What a filter looks at. */
export interface FilteredRow {
  group: RowGroup;
  seen: boolean;
  /** What people say of the shown answer. */
  verdicts: readonly ReviewVerdict[];
  /** null: not read, which no filter of texts passes. */
  texts: {
    expected: string | null;
    /** null: no answer. */
    answer: string | null;
    /** The column of the answer; null: none. */
    column: string | null;
    cluster: string | null;
  } | null;
  /** Whether a text of the row has the part; true without one. */
  hasPart: boolean;
}

/** Parts of a filter that a summary counts by. */
type Facet = 'group' | 'seen' | 'table' | 'feedback' | 'review';

/** Whether a filter looks at labels or feedback. */
export function readsTexts({
  group: _group,
  seen: _seen,
  review: _review,
  part: _part,
  ...ofTexts
}: RowFilter): boolean {
  return Object.values(ofTexts).some((wanted) => wanted !== undefined);
}

/** Whether a row passes; `but`: without this part of the filter. */
export function passes(row: FilteredRow, filter: RowFilter, but?: Facet): boolean {
  const { group, seen, expected, answered, otherAnswers, feedback, review, part } = filter;
  const { texts } = row;
  return (
    (but === 'group' || group === undefined || row.group === group) &&
    (but === 'seen' || seen === undefined || row.seen === seen) &&
    (but === 'table' || expected === undefined || texts?.expected === expected) &&
    (but === 'table' || answered === undefined || texts?.column === answered) &&
    (but === 'table' || otherAnswers === undefined || otherAnswers === hasOtherAnswer(texts)) &&
    (but === 'review' || review === undefined || isReviewed(row, review)) &&
    (but === 'feedback' || feedback === undefined || texts?.cluster === feedback) &&
    (part === undefined || row.hasPart)
  );
}

function isReviewed({ verdicts }: FilteredRow, review: ReviewFilter): boolean {
  if (review === 'none') return verdicts.length === 0;
  return review === 'any' ? verdicts.length > 0 : verdicts.includes(review);
}

const hasOtherAnswer = (texts: FilteredRow['texts']): boolean =>
  texts !== null && texts.answer !== null && texts.column === null;
