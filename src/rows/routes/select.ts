/** Selects the rows of a job that pass a filter. */
import { collectRows, type Row, type RowSides, type SideRuns } from '../../core/rows/collect.js';
import { clusterText } from '../../core/rows/clusters.js';
import { readsTexts, type FilteredRow, type RowFilter } from '../../core/rows/filter.js';
import { isRight } from '../../core/rows/groups.js';
import { answerReader, labelTable, type LabelTable } from '../../core/rows/label-table.js';
import { readReviews, type Review } from '../../reviews/store/reviews.js';
import { groupBy } from '../../util/group.js';
import type { Tx } from '../../platform/db/db.js';
import { readRuns } from '../store/runs.js';
import { readFilterTexts, readSeedsWithPart, type FilterTexts, type RowsSource } from '../store/texts.js';

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
  of: RowsOf,
  filter: RowFilter,
  withTexts = readsTexts(filter),
): Promise<Selectable> {
  const { jobId, source, isSeen } = of;
  const rows = collectRows(await readSides(tx, of), of);
  const reviews = groupBy(await readReviews(tx, jobId), ({ subjectId }) => subjectId);
  const wanted = rows.map(({ seed, candidate }) => ({ seed, rolloutId: candidate?.shown ?? null }));
  const withPart = filter.part === undefined ? null : await readSeedsWithPart(tx, jobId, source, wanted, filter.part);
  const { table, textsOf } = withTexts
    ? readTable(await readFilterTexts(tx, jobId, source, wanted))
    : { table: null, textsOf: () => null };
  const selectable = rows.map((row): SelectableRow => {
    const { seed, group, baseline, candidate } = row;
    const ofRow = reviews.get(candidate?.shown ?? '') ?? [];
    const verdicts = ofRow.flatMap(({ verdict }) => verdict ?? []);
    const hasPart = withPart?.has(seed) ?? true;
    return {
      seed,
      group,
      baseline,
      candidate,
      seen: isSeen(seed),
      reviews: ofRow,
      verdicts,
      texts: textsOf(row),
      hasPart,
    };
  });
  return { rows: selectable, table };
}

async function readSides(tx: Tx, { jobId, baselineId, candidateId }: RowsOf): Promise<SideRuns> {
  const candidate = await readRuns(tx, jobId, candidateId);
  if (baselineId === null) return { baseline: [], candidate };
  return { baseline: baselineId === candidateId ? candidate : await readRuns(tx, jobId, baselineId), candidate };
}

function readTable(texts: readonly FilterTexts[]) {
  const table = labelTable(texts);
  const bySeed = new Map(texts.map((each) => [each.seed, each]));
  const columnOf = table ? answerReader(table) : (answer: string) => answer.trim();
  return { table, textsOf: (row: Row) => filterTexts(row, bySeed.get(row.seed)!, columnOf) };
}

function filterTexts(
  { candidate }: Row,
  { expected, answer, feedback }: FilterTexts,
  columnOf: (answer: string) => string | null,
): FilteredRow['texts'] {
  const isWrong = candidate?.reward != null && !isRight(candidate.reward);
  return {
    expected,
    answer,
    column: answer === null ? null : columnOf(answer),
    cluster: (isWrong && feedback !== null && clusterText(feedback)) || null,
  };
}
