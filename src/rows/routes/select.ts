/** Selects the rows of a job that pass a filter. */
import { collectRows, type Row, type RowRun, type RowSides } from '../../core/rows/collect.js';
import { clusterText } from '../../core/rows/clusters.js';
import { passes, readsTexts, type FilteredRow, type RowFilter } from '../../core/rows/filter.js';
import { isRight } from '../../core/rows/groups.js';
import { answerReader, labelTable, type LabelTable } from '../../core/rows/label-table.js';
import { readReviews, type Review } from '../../reviews/store/reviews.js';
import { groupBy } from '../../util/group.js';
import type { Tx } from '../../platform/db/db.js';
import { readRuns, readRunsAfter, type RunsOf } from '../store/runs.js';
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
  const read: RowRun[][] = [];
  for (const side of sidesOf(of)) read.push(await readRuns(tx, side));
  return readSelectableOf(tx, of, read, await readReviewed(tx, of), filter, withTexts);
}

/** At least `least` rows after one that pass a filter, if there are so many. */
export async function readPassingAfter(
  tx: Tx,
  of: RowsOf,
  filter: RowFilter,
  after: number,
  least: number,
): Promise<SelectableRow[]> {
  const reviewed = await readReviewed(tx, of);
  const passing: SelectableRow[] = [];
  for await (const read of readRunsAfter(tx, sidesOf(of), after, 2 * least)) {
    const { rows } = await readSelectableOf(tx, of, read, reviewed, filter, false);
    passing.push(...rows.filter((row) => passes(row, filter)));
    if (passing.length >= least) break;
  }
  return passing;
}

/** The candidate, and the baseline if it is another. */
function sidesOf({ jobId, baselineId, candidateId }: RowsOf): RunsOf[] {
  const isAlone = baselineId === null || baselineId === candidateId;
  return [candidateId, ...(isAlone ? [] : [baselineId])].map((id) => ({ jobId, candidateId: id }));
}

/** The reviews of a job by the rollout that they are of. */
const readReviewed = async (tx: Tx, { jobId }: RowsOf) =>
  groupBy(await readReviews(tx, jobId), ({ subjectId }) => subjectId);

async function readSelectableOf(
  tx: Tx,
  of: RowsOf,
  [candidate = [], baseline = candidate]: readonly (readonly RowRun[])[],
  reviewed: ReadonlyMap<string, Review[]>,
  filter: RowFilter,
  withTexts: boolean,
): Promise<Selectable> {
  const { jobId, source, isSeen } = of;
  const rows = collectRows({ baseline, candidate }, of);
  const wanted = rows.map(({ seed, candidate }) => ({ seed, rolloutId: candidate?.shown ?? null }));
  const withPart = filter.part === undefined ? null : await readSeedsWithPart(tx, jobId, source, wanted, filter.part);
  const { table, textsOf } = withTexts
    ? readTable(await readFilterTexts(tx, jobId, source, wanted))
    : { table: null, textsOf: () => null };
  const selectable = rows.map((row): SelectableRow => {
    const { seed, group, baseline, candidate } = row;
    const ofRow = reviewed.get(candidate?.shown ?? '') ?? [];
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
