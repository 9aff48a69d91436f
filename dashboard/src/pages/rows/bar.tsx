import { guessColumns } from '../../../../src/core/prompts/columns.js';
import { useState } from 'preact/hooks';
import { allRows, type RowsSource } from '../../data/rows/source.js';
import type { Row, RowsFilter, RowsSummary } from '../../data/rows/types.js';
import { ownReview } from '../../data/reviews/reviews.js';
import { ActionButton } from '../../ui/basics.js';
import { Copy, copyText } from '../../ui/copy.js';
import { DatasetLink } from '../../ui/dataset-link.js';
import { count } from '../../util/format.js';
import { go, link } from '../../util/router.js';
import { change } from '../new/form/store.js';
import { csvOf } from './csv.js';
import { hintOfRows } from './hint.js';
import { firstToReview, openRow } from './review.js';

type Dataset = Awaited<ReturnType<RowsSource['dataset']>>;

/** What can be done with the shown rows. `giveHint` null: no proposer takes one. */
export function Bar(props: {
  jobId: string;
  source: RowsSource;
  filter: RowsFilter;
  state: { rows: Row[]; total: number };
  reviewed: RowsSummary['reviews'];
  hasDataset: boolean;
  giveHint: ((text: string) => void) | null;
}) {
  const { jobId, source, filter, state, reviewed, hasDataset, giveHint } = props;
  const { rows, total } = state;
  const [made, setMade] = useState<Dataset | null>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(csvOf(await allRows(source, filter)));
    setCopied(true);
  };
  const hint = async () => {
    const text = hintOfRows((await source.page({ ...filter, seen: true }, null)).rows);
    if (text === null) throw new Error('A hint shows wrong rows that the search has seen, and none of these is one.');
    giveHint!(text);
  };
  const review = () => {
    const isReviewed = ({ after, before, reviews }: Row) =>
      ownReview({ jobId, subjectId: (after ?? before)!.traceId }, reviews).verdict !== null;
    openRow(firstToReview(rows, isReviewed)!.seed);
  };
  return (
    <div class="row-bar" role="group" aria-label="Shown rows">
      <strong role="status">{count(total)} rows</strong>
      <span class="quiet" title="The first row of the data is row 0, here and in the API">
        counted from 0
      </span>
      <button type="button" class="button button-plain" disabled={total === 0} onClick={review}>
        Review these
      </button>
      <span class="quiet">
        {count(reviewed.any)} of {count(reviewed.any + reviewed.none)} reviewed
      </span>
      {hasDataset && (
        <ActionButton disabled={total === 0} run={async () => setMade(await source.dataset(filter, false))}>
          Make a data set of these
        </ActionButton>
      )}
      {hasDataset && reviewed.any > 0 && (
        <ActionButton disabled={total === 0} run={async () => setMade(await source.dataset(filter, true))}>
          Make a corrected data set
        </ActionButton>
      )}
      <ActionButton disabled={total === 0} run={copy}>
        {isCopied ? 'Copied' : 'Copy as CSV'}
      </ActionButton>
      {giveHint && (
        <ActionButton disabled={total === 0} run={hint}>
          Give a hint from these
        </ActionButton>
      )}
      {made && <Made dataset={made} />}
    </div>
  );
}

function Made({ dataset }: { dataset: Dataset }) {
  const { dataset_id: id, num_rows: rows, columns, corrected, left_out: leftOut } = dataset;
  const start = () => {
    change({ datasetId: id, ...guessColumns(columns) });
    go(link(['new']));
  };
  return (
    <span class="row-made" role="status">
      Data set <DatasetLink dataset={dataset} /> of {count(rows)} rows
      {corrected > 0 && `, ${count(corrected)} corrected`}
      {leftOut > 0 && `, ${count(leftOut)} left out`} <Copy text={id} label="Copy its id" />
      <button type="button" class="button button-small" onClick={start}>
        New run on it
      </button>
    </span>
  );
}
