/** Selects the rows of a job that pass a filter. */
import { collectRows, type Row, type RowSides } from '../../core/rows/collect.js';
import { clusterText } from '../../core/rows/clusters.js';
import { readsTexts, type FilteredRow, type RowFilter } from '../../core/rows/filter.js';
import { isRight } from '../../core/rows/groups.js';
import { answerReader, labelTable, type LabelTable } from '../../core/rows/label-table.js';
import { readReviews, type Review } from '../../reviews/store/reviews.js';
import { groupBy } from '../../util/group.js';
import type { Tx } from '../../platform/db/db.js';
import { readRuns } from '../store/runs.js';
import { readFilterTexts, type FilterTexts, type RowsSource } from '../store/texts.js';

/** The rows of a job that a request looks at. */
export interface RowsOf extends RowSides {
  jobId: string;
  source: RowsSource;
  /** Whether the search selected on a row. */
  isSeen(seed: number): boolean;
}

/** A row with what filters look at. */
export type SelectableRow = Row & FilteredRow & { reviews: Review[] };

export interface Selectable {
  rows: SelectableRow[];
  /** Of all rows; null: their expected values are no labels, or no texts were read. */
  table: LabelTable | null;
}

/** All rows of a job, with their texts if the filter looks at them. */
export async function readSelectable(
  tx: Tx,
  { jobId, source, isSeen, ...sides }: RowsOf,
  filter: RowFilter,
  withTexts = readsTexts(filter),
): Promise<Selectable> {
  const { baselineId, candidateId } = sides;
  const ids = candidateId === null ? null : [candidateId, ...(baselineId === null ? [] : [baselineId])];
  const rows = collectRows(await readRuns(tx, jobId, ids), sides);
  const reviews = groupBy(await readReviews(tx, jobId), ({ subjectId }) => subjectId);
  const seen = rows.map((row) => {
    const ofRow = reviews.get(row.candidate?.shown ?? '') ?? [];
    const verdicts = ofRow.flatMap(({ verdict }) => verdict ?? []);
    return { ...row, seen: isSeen(row.seed), reviews: ofRow, verdicts };
  });
  if (!withTexts) return { rows: seen.map((row) => ({ ...row, texts: null })), table: null };
  const wanted = rows.map(({ seed, candidate }) => ({ seed, rolloutId: candidate?.shown ?? null }));
  const texts = await readFilterTexts(tx, jobId, source, wanted, filter.part ?? null);
  const table = labelTable(texts);
  const bySeed = new Map(texts.map((each) => [each.seed, each]));
  const columnOf = table ? answerReader(table) : (answer: string) => answer.trim();
  return { rows: seen.map((row) => ({ ...row, texts: filterTexts(row, bySeed.get(row.seed)!, columnOf) })), table };
}

function filterTexts(
  { candidate }: Row,
  { expected, answer, feedback, hasPart }: FilterTexts,
  columnOf: (answer: string) => string | null,
): FilteredRow['texts'] {
  const isWrong = candidate?.reward != null && !isRight(candidate.reward);
  return {
    expected,
    answer,
    column: answer === null ? null : columnOf(answer),
    cluster: (isWrong && feedback !== null && clusterText(feedback)) || null,
    hasPart,
  };
}
