import { useMemo } from 'preact/hooks';
import { shortId } from '../../util/format.js';
import { Panel } from '../../ui/basics.js';
import { histogramOf } from './histogram.js';
import type { Column } from '../../data/evaluation/types.js';

/** How many rows have which reward, for each evaluation. */
export function Distribution({ columns }: { columns: Column[] }) {
  return (
    <Panel title="Distribution of rewards">
      <div class="histograms">
        {columns.map((column) => (
          <Histogram key={column.job.job_id} column={column} />
        ))}
      </div>
    </Panel>
  );
}

function Histogram({ column: { job, results } }: { column: Column }) {
  const bins = useMemo(() => histogramOf(results.flatMap(({ reward }) => reward ?? [])), [results]);
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const said = bins.filter(({ count }) => count > 0).map(({ from, to, count }) => `${range(from, to)}: ${count}`);
  const name = job.name ?? shortId(job.job_id);
  return (
    <figure class="histogram">
      <div class="histogram-bars" role="img" aria-label={`Rows by reward in ${name}. ${said.join(', ') || 'No rows'}`}>
        {bins.map(({ from, to, count }) => (
          <span key={from} class="histogram-bin" title={`${range(from, to)}: ${count} rows`}>
            <span class="histogram-count">{count > 0 && count}</span>
            <span class="histogram-bar" style={{ height: `${(70 * count) / most}px` }} />
          </span>
        ))}
      </div>
      <div class="histogram-axis" aria-hidden="true">
        <span>{bins[0]!.from.toFixed(1)}</span>
        <span>{bins.at(-1)!.to.toFixed(1)}</span>
      </div>
      <figcaption class="quiet">{name}</figcaption>
    </figure>
  );
}

const range = (from: number, to: number): string => `${from.toFixed(2)} to ${to.toFixed(2)}`;
