import { useEffect } from 'preact/hooks';
import { dollars, milliseconds, reward, shortId } from '../../util/format.js';
import type { Outputs, ResultTexts } from '../../data/outputs.js';
import { openTrace } from '../../ui/trace/from-address.js';
import type { Row } from './rows.js';
import { isActive } from '../../data/job.js';
import type { Column, Result } from '../../data/evaluation/types.js';

/** A row of the matrix; asks for its texts when it comes into view. */
export function MatrixRow(props: { row: Row; columns: Column[]; outputs: Outputs[]; indexes: Map<string, number>[] }) {
  const { row, columns, outputs, indexes } = props;
  useEffect(() => {
    for (const [n, cell] of row.cells.entries())
      if (cell) outputs[n]!.want(cell.trace_id, indexes[n]!.get(cell.trace_id)!);
  }, [row, outputs]);
  for (const { version } of outputs) void version.value;
  const texts = row.cells.map((cell, n) => (cell ? outputs[n]!.of(cell.trace_id) : undefined));
  const data = texts.find((each) => each?.input !== undefined);
  return (
    <>
      <div role="rowheader" class="matrix-cell matrix-row-head">
        <strong>{row.seed}</strong>
        <span class="matrix-text" dir="auto" title={data?.input ?? ''}>
          {data?.input}
        </span>
        {data?.expected && (
          <span class="matrix-expected" title={data.expected}>
            <span class="quiet">expected</span> <bdi>{data.expected}</bdi>
          </span>
        )}
      </div>
      {columns.map(({ job }, n) => (
        <div key={job.job_id} role="cell" class="matrix-cell">
          {row.cells[n] ? (
            <Cell
              id={job.job_id}
              result={row.cells[n]}
              texts={texts[n]}
              isUnread={outputs[n]!.hasFailed(indexes[n]!.get(row.cells[n].trace_id)!)}
            />
          ) : (
            <span class="quiet">{isActive(job.status) ? 'not finished' : 'not of this evaluation'}</span>
          )}
        </div>
      ))}
    </>
  );
}

function Cell(props: { id: string; result: Result; texts: ResultTexts | undefined; isUnread: boolean }) {
  const { id, result, texts, isUnread } = props;
  const isFailed = result.status === 'failed';
  const missing = texts ? 'no output' : isUnread ? 'output not read' : '…';
  const text = isFailed ? (result.error ?? 'failed') : (texts?.output ?? missing);
  const share = Math.min(1, Math.max(0, result.reward ?? 0));
  return (
    <button
      type="button"
      class={isFailed ? 'matrix-result matrix-failed' : 'matrix-result'}
      style={{ '--reward': `${Math.round(share * 100)}%` }}
      onClick={() => openTrace(id, result.trace_id)}
    >
      <span class="visually-hidden">
        Trace of row {result.seed} in {shortId(id)}:{' '}
      </span>
      <span class="matrix-text" dir="auto">
        {text}
      </span>
      <span class="matrix-figures">
        <span class="matrix-reward">{isFailed ? 'failed' : reward(result.reward)}</span>
        <span>{milliseconds(result.latency_ms)}</span>
        <span>{dollars(result.cost_usd)}</span>
      </span>
    </button>
  );
}
