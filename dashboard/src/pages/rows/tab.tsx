import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useResource } from '../../data/resource.js';
import { usePageList } from '../../data/page-list.js';
import { rowsOf } from '../../data/rows/source.js';
import type { Row, RowsFilter, RowsPage } from '../../data/rows/types.js';
import { useLast } from '../../ui/hooks/use-last.js';
import { useMedia } from '../../ui/hooks/use-media.js';
import { Empty, Loading, Problem } from '../../ui/basics.js';
import { SearchField } from '../../ui/search-field.js';
import { counted } from '../../../../src/core/math/words.js';
import { here, route, setQuery } from '../../util/router.js';
import { Bar } from './bar.js';
import { chipsOf, filterOf, noFilter } from './filter.js';
import { Groups } from './groups.js';
import { RowReview } from './review.js';
import { Clusters, LabelTable } from './label-table.js';
import { RowTable } from './list.js';

const pollMs = 3_000;

/** The rows of a job: which are wrong, and with which answers. The filter is in the address. */
export function RowsTab(props: {
  jobId: string;
  isLive: boolean;
  /** Whether the rows are in a data set, or are tasks; else in a container. */
  hasDataset: boolean;
  /** Held-out rows of a search, which run at its end if there is a winner to compare. */
  heldout?: number;
  giveHint?: ((text: string) => void) | null;
}) {
  const { jobId, isLive, hasDataset, heldout = 0, giveHint = null } = props;
  const isNarrow = useMedia('(max-width: 760px)');
  const source = useMemo(() => rowsOf(jobId), [jobId]);
  const filter = filterOf(route.value.query);
  const key = `${jobId} ${JSON.stringify(filter)}`;
  const {
    data: summary,
    error,
    reload,
  } = useResource(`rows ${key}`, (signal) => source.summary(filter, signal), isLive ? pollMs : null);
  useReloadAtEnd(isLive, reload);
  const list = usePageList<Row, RowsPage>(
    (after, signal) => source.page(filter, after, signal),
    key,
    // Rows of a live job may have ended between the list and the summary.
    summary || isLive ? JSON.stringify(summary?.groups ?? null) : null,
  );
  const state = list.state.value;
  const found = useLast(jobId, summary && state ? { ...summary, hasBaseline: state.hasBaseline } : undefined);
  const failure = error ?? list.error.value;
  const asked = Number(route.value.query.get('row') ?? NaN);
  const shown = Number.isInteger(asked) ? asked : null;
  const hasFilter = Object.keys(filter).length > 0;
  // On a phone the open row covers the list.
  const isCovered = shown !== null && isNarrow;
  return (
    <div class={shown === null ? 'rows' : 'rows rows-reviewed'}>
      <Problem error={failure} />
      <div inert={isCovered}>{found && <Groups summary={found} filter={filter} hasBaseline={found.hasBaseline} />}</div>
      <div class="rows-main" inert={isCovered}>
        {found?.table && <LabelTable table={found.table} filter={filter} />}
        {found && found.clusters.length > 1 && <Clusters clusters={found.clusters} filter={filter} />}
        <Search filter={filter} />
        {summary?.held_out === 0 && !hasFilter && <Unrun heldout={heldout} isLive={isLive} />}
        {summary && state ? (
          <>
            <Bar
              key={key}
              jobId={jobId}
              source={source}
              filter={filter}
              state={state}
              reviewed={summary.reviews}
              hasDataset={hasDataset}
              giveHint={giveHint}
            />
            {state.total === 0 ? (
              <Empty>{hasFilter ? 'No row passes the filter.' : 'No row is finished yet.'}</Empty>
            ) : (
              <RowTable
                key={`table ${key}`}
                jobId={jobId}
                list={list}
                total={state.total}
                hasBaseline={state.hasBaseline}
                shown={shown}
              />
            )}
          </>
        ) : (
          !failure && <Loading />
        )}
      </div>
      {shown !== null && summary && state && (
        <RowReview key={key} jobId={jobId} list={list} seed={shown} summary={summary} onSaved={() => void reload()} />
      )}
    </div>
  );
}

/** Reads once more when a job ends: its last rows ended after the last poll. */
function useReloadAtEnd(isLive: boolean, reload: () => Promise<void>): void {
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (wasLive.current && !isLive) void reload();
    wasLive.current = isLive;
  }, [isLive]);
}

/** Held-out rows, of which none has run. */
function Unrun({ heldout, isLive }: { heldout: number; isLive: boolean }) {
  if (heldout === 0) return null;
  const rows = counted(heldout, 'held-out row');
  return (
    <p class="quiet">
      {isLive
        ? `${rows} run at the end, if there is a better prompt to compare.`
        : `${rows} did not run and stay unseen.`}
    </p>
  );
}

/** The search for texts, and the filters that are on. */
function Search({ filter }: { filter: RowsFilter }) {
  const chips = chipsOf(filter);
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <SearchField value={filter.q ?? ''} onSearch={(text) => setQuery({ q: text || null })} />
      {chips.map(({ text, without }) => (
        <span key={text} class="column-chip row-chip">
          <bdi>{text}</bdi>
          <button type="button" aria-label={`Remove the filter ${text}`} onClick={() => setQuery(without)}>
            ✕
          </button>
        </span>
      ))}
      {Object.keys(filter).length > 0 && <a href={here(noFilter)}>All rows</a>}
    </form>
  );
}
