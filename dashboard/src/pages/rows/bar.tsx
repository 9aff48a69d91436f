import { useState } from 'preact/hooks';
import { allRows, type RowsSource } from '../../data/rows/source.js';
import type { RowsFilter } from '../../data/rows/types.js';
import { ActionButton } from '../../ui/basics.js';
import { Copy, copyText } from '../../ui/copy.js';
import { count } from '../../util/format.js';
import { go, link } from '../../util/router.js';
import { guessColumns } from '../new/draft.js';
import { change } from '../new/store.js';
import { csvOf } from './csv.js';
import { hintOf } from './hint.js';

type Dataset = Awaited<ReturnType<RowsSource['dataset']>>;

/** What can be done with the shown rows. `giveHint` null: no proposer takes one. */
export function Bar(props: {
  source: RowsSource;
  filter: RowsFilter;
  total: number;
  hasDataset: boolean;
  giveHint: ((text: string) => void) | null;
}) {
  const { source, filter, total, hasDataset, giveHint } = props;
  const [made, setMade] = useState<Dataset | null>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(csvOf(await allRows(source, filter)));
    setCopied(true);
  };
  const hint = async () => {
    const text = hintOf((await source.page({ ...filter, seen: true }, null)).rows);
    if (text === null) throw new Error('A hint shows rows that the search has seen, and all of these are held out.');
    giveHint!(text);
  };
  return (
    <div class="row-bar" role="group" aria-label="Shown rows">
      <strong role="status">{count(total)} rows</strong>
      {hasDataset && (
        <ActionButton disabled={total === 0} run={async () => setMade(await source.dataset(filter))}>
          Make a data set of these
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

function Made({ dataset: { dataset_id: id, num_rows: rows, columns } }: { dataset: Dataset }) {
  const start = () => {
    change({ datasetId: id, ...guessColumns(columns.map(({ name }) => name)) });
    go(link(['new']));
  };
  return (
    <span class="row-made" role="status">
      Data set of {count(rows)} rows: <code>{id}</code> <Copy text={id} />
      <button type="button" class="button button-small" onClick={start}>
        New run on it
      </button>
    </span>
  );
}
