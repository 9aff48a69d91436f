import { useCallback, useMemo } from 'preact/hooks';
import { client } from '../../data/client.js';
import { usePageList, useRowAt, type ListPage, type PageList } from '../../data/page-list.js';
import { count, reward, shortId, words } from '../../util/format.js';
import { here, setQuery } from '../../util/router.js';
import { Empty, Loading, Panel, Problem } from '../../ui/basics.js';
import { Choice } from '../../ui/choice.js';
import { SearchField } from '../../ui/search-field.js';
import { openTrace } from '../../ui/trace/from-address.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { letterOf, type CompareView, type Outcome } from './address.js';
import { ColumnSelect } from './column-select.js';
import type { Cell, Many, Row } from './types.js';

const rowHeight = 84;
const headHeight = 40;
const pageSize = 100;

type Counts = Record<Outcome | 'all', number>;

/** `counts` null: a page behind the first. */
interface RowsPage extends ListPage<Row> {
  counts: Counts | null;
}
type Rows = PageList<Row, RowsPage>;

/** The rows of the counts with every answer; the filter is in the address. */
export function Rows({ many, view }: { many: Many; view: CompareView }) {
  const { ids, baseline, outcome, column, q } = view;
  const key = `${outcome} ${column} ${q}`;
  const list: Rows = usePageList<Row, RowsPage>((after, signal) => readPage(view, after, signal), key, '');
  const state = list.state.value;
  const others = ids.filter((id) => id !== baseline);
  const names = (counts: Counts) => ({
    all: `All ${count(counts.all)}`,
    lost: `Lost ${count(counts.lost)}`,
    won: `Won ${count(counts.won)}`,
    different: `Different ${count(counts.different)}`,
    failed: `Failed ${count(counts.failed)}`,
  });
  return (
    <Panel title="Rows">
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        {state?.counts && (
          <Choice
            label="Rows"
            value={outcome ?? 'all'}
            options={names(state.counts)}
            onChange={(value) => setQuery({ rows: value === 'all' ? null : value })}
          />
        )}
        {others.length > 1 && (
          <label>
            of{' '}
            <ColumnSelect
              ids={ids}
              value={column ?? ''}
              any="any column"
              onChange={(id) => setQuery({ of: id || null })}
            />
          </label>
        )}
        <SearchField value={q} onSearch={(text) => setQuery({ q: text || null })} />
        {state && <span class="quiet" role="status">{`${count(state.total)} rows`}</span>}
        {(outcome !== null || column !== null || q !== '') && (
          <a href={here({ rows: null, of: null, q: null })}>All rows</a>
        )}
      </form>
      <Problem error={list.error.value} />
      {!state && !list.error.value && <Loading />}
      {state?.total === 0 && <Empty>No such row.</Empty>}
      {state && state.total > 0 && <Matrix key={key} many={many} list={list} total={state.total} />}
    </Panel>
  );
}

async function readPage(view: CompareView, after: string | null, signal: AbortSignal): Promise<RowsPage> {
  const { ids, baseline, outcome, column, q } = view;
  const filter = { ...(outcome && { outcome }), ...(column && { column }), ...(q && { q }) };
  const query = { baseline, limit: pageSize, ...filter, ...(after !== null && { cursor: after }) };
  const { data, total, next_cursor: next, counts } = await client.value.comparedRows(ids, query, { signal });
  return { rows: data, total, next, counts };
}

function Matrix({ many, list, total }: { many: Many; list: Rows; total: number }) {
  const { columns, baseline } = many;
  const heads = useMemo(() => headsOf(columns, baseline), [columns, baseline]);
  const row = useCallback((index: number) => <RowCells list={list} index={index} heads={heads} />, [list, heads]);
  const names = columns.map(({ id, name }) => name ?? shortId(id));
  return (
    <div class="matrix compare-rows" style={{ '--columns': columns.length }}>
      <VirtualList
        count={total}
        rowHeight={rowHeight}
        label="Rows with all answers"
        height={`min(70vh, ${total * rowHeight + headHeight + 18}px)`}
        head={['Row', ...heads].map((head, at) => (
          <div key={head} role="columnheader" class="matrix-cell matrix-head">
            <span class="matrix-name">
              {head} {at > 0 && <bdi class="quiet">{names[at - 1]}</bdi>}
            </span>
          </div>
        ))}
        row={row}
      />
    </div>
  );
}

function headsOf(columns: Many['columns'], baseline: string): string[] {
  const ids = columns.map(({ id }) => id);
  return ids.map((id) => `${letterOf(ids, id)}${id === baseline ? ', baseline' : ''}`);
}

function RowCells({ list, index, heads }: { list: Rows; index: number; heads: string[] }) {
  const row = useRowAt(list, index);
  // Each page that arrives renders every row in view again.
  return useMemo(() => (row ? <Cells row={row} heads={heads} /> : <Unread />), [row, heads]);
}

const Unread = () => (
  <div role="cell" class="matrix-cell quiet">
    …
  </div>
);

function Cells({ row, heads }: { row: Row; heads: string[] }) {
  return (
    <>
      <div role="rowheader" class="matrix-cell matrix-row-head">
        <strong>{row.task_id ?? row.row}</strong>
        <span class="matrix-text" dir="auto" title={row.input ?? ''}>
          {row.input}
        </span>
        {row.expected !== null && (
          <span class="matrix-expected quiet" title={row.expected}>
            expected <bdi>{row.expected}</bdi>
          </span>
        )}
      </div>
      {row.cells.map((cell, at) => (
        <AnswerCell key={at} cell={cell} name={heads[at]!} row={row} />
      ))}
    </>
  );
}

const tones: Record<Cell['outcome'], string> = {
  won: 'good',
  lost: 'bad',
  failed: 'bad',
  tied: 'quiet',
  left_out: 'quiet',
  baseline: 'quiet',
};
const said: Partial<Record<Cell['outcome'], string>> = { tied: 'equal', left_out: 'does not count', baseline: '' };

function AnswerCell({ cell, name, row }: { cell: Cell | null; name: string; row: Row }) {
  if (!cell)
    return (
      <div role="cell" class="matrix-cell quiet">
        not run
      </div>
    );
  const { outcome, reward: own, job_id: jobId, trace_id: traceId } = cell;
  const share = Math.min(1, Math.max(0, own ?? 0));
  const text = own === null ? (cell.error ?? 'failed') : (cell.answer ?? cell.feedback ?? '');
  return (
    <div role="cell" class="matrix-cell">
      <button
        type="button"
        class={`matrix-result ${own === null ? 'matrix-failed' : ''}`}
        style={{ '--reward': `${Math.round(share * 100)}%` }}
        title={`${text}${cell.feedback ? `\n\n${cell.feedback}` : ''}`}
        onClick={() => openTrace(jobId, traceId)}
      >
        <span class="visually-hidden">
          Trace of row {row.task_id ?? row.row} in {name}:{' '}
        </span>
        <span class="matrix-text" dir="auto">
          {text}
        </span>
        <span class="matrix-figures">
          <span class="matrix-reward">{reward(own)}</span>
          <span class={tones[outcome]}>{said[outcome] ?? words(outcome)}</span>
        </span>
      </button>
    </div>
  );
}
