import { useEffect } from 'preact/hooks';
import type { RowList } from '../../data/rows/list.js';
import type { Row, RowsSummary } from '../../data/rows/types.js';
import { Loading, Problem } from '../../ui/basics.js';
import { ReviewPanel } from '../../ui/review/panel.js';
import { TraceView, useTrace } from '../../ui/trace/view.js';
import { setQuery } from '../../util/router.js';

/** Rows that are read before the last one is reached. */
const ahead = 20;

/** Shows a row of the list beside it; null closes. */
export const openRow = (seed: number | null): void => setQuery({ row: seed === null ? null : String(seed) });

/** The row of the address beside its list, with its trace. */
export function RowReview(props: {
  jobId: string;
  list: RowList;
  seed: number;
  summary: RowsSummary;
  onSaved: () => void;
}) {
  const { jobId, list, seed, summary, onSaved } = props;
  const { rows, total } = list.state.value!;
  const index = rows.findIndex((row) => row.seed === seed);
  useEffect(() => {
    if (index < 0) list.seek((row) => row.seed === seed);
    else if (index + ahead >= rows.length) list.want(Math.min(total, index + ahead));
  }, [list, seed, index, rows]);
  const row = rows[index];
  if (!row) return list.isWhole ? <Missing seed={seed} /> : <Loading />;
  const shown = row.after ?? row.before!;
  const to = (at: number) => rows[at] && openRow(rows[at].seed);
  const close = () => {
    openRow(null);
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`.row-open[data-row="${seed}"]`)?.focus());
  };
  return (
    <ReviewPanel
      of={{
        subject: { jobId, subjectId: shown.traceId },
        place: String(seed),
        title: `Row ${row.name}`,
        reviews: row.reviews,
        input: row.input,
        expected: row.expected,
        answer: shown.answer ?? shown.error,
        feedback: shown.feedback,
        hasExpected: true,
      }}
      index={index}
      total={total}
      counts={{ done: summary.reviews.any, all: summary.reviews.any + summary.reviews.none }}
      move={(by) => to(index + by)}
      goTo={(place) => openRow(Number(place))}
      onSaved={onSaved}
      onClose={close}
    >
      <RowTrace key={shown.traceId} jobId={jobId} traceId={shown.traceId} />
    </ReviewPanel>
  );
}

function Missing({ seed }: { seed: number }) {
  return (
    <aside class="review" aria-label={`Review of row ${seed}`}>
      <p class="quiet">Row {seed} does not pass the filter.</p>
      <button type="button" class="button button-small" onClick={() => openRow(null)}>
        Close
      </button>
    </aside>
  );
}

function RowTrace({ jobId, traceId }: { jobId: string; traceId: string }) {
  const { data: trace, error } = useTrace(jobId, traceId);
  return (
    <section class="trace-part" aria-label="Trace">
      <h3>Trace</h3>
      <Problem error={error} />
      {!trace && !error && <Loading />}
      {trace && <TraceView trace={trace} onLeave={() => {}} />}
    </section>
  );
}

/** The first row without a verdict, else the first. */
export function firstToReview(rows: readonly Row[], isReviewed: (row: Row) => boolean): Row | undefined {
  return rows.find((row) => !isReviewed(row)) ?? rows[0];
}
