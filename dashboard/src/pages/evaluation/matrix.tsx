import { useMemo } from 'preact/hooks';
import { useOutputs } from '../../data/outputs.js';
import { reward, shortId } from '../../util/format.js';
import { pageOf, route, setQuery } from '../../util/router.js';
import { Badge, Empty } from '../../ui/basics.js';
import { OutputsProblem } from '../../ui/outputs-problem.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { MatrixRow } from './matrix-row.js';
import { chooseRows, filters, rowsOf, sorts, type Filter, type Sort } from './rows.js';
import type { Column } from '../../data/evaluation/types.js';

const rowHeight = 104;
const headHeight = 62;
const longest = '70vh';

const filterNames: Record<Filter, string> = {
  all: 'All rows',
  failed: 'Failed rows',
  low: 'Reward below 0.5',
  differ: 'Different rewards',
};
const sortNames: Record<Sort, string> = {
  row: 'In order',
  reward: 'Lowest reward first',
  latency: 'Slowest first',
  cost: 'Most expensive first',
  difference: 'Largest difference first',
};

/** A value of the query, if it is one of the names. */
function chosen<Name extends string>(query: string, names: readonly Name[]): Name {
  const given = route.value.query.get(query) as Name | null;
  return given !== null && names.includes(given) ? given : names[0]!;
}

/** Rows down, evaluations across; the texts of the rows in view. */
export function Matrix({ columns }: { columns: Column[] }) {
  const filter = chosen('show', filters);
  const sort = chosen('sort', sorts);
  const outputs = useOutputs(columns.map(({ job }) => job.job_id));
  const all = useMemo(() => rowsOf(columns), [columns]);
  const rows = useMemo(() => chooseRows(all, filter, sort), [all, filter, sort]);
  const indexes = useMemo(() => columns.map(indexesOf), [columns]);
  return (
    <>
      <div class="filters">
        <Select label="Rows" query="show" value={filter} names={filterNames} isAlone={columns.length === 1} />
        <Select label="Order" query="sort" value={sort} names={sortNames} isAlone={columns.length === 1} />
        <span class="quiet" role="status">
          {rows.length} of {all.length} rows
        </span>
      </div>
      <OutputsProblem outputs={outputs} />
      {rows.length === 0 ? (
        <Empty>{all.length === 0 ? 'No row is finished yet.' : 'No row passes the filter.'}</Empty>
      ) : (
        <div class="matrix" style={{ '--columns': columns.length }}>
          <VirtualList
            count={rows.length}
            rowHeight={rowHeight}
            label="Rows and evaluations"
            height={`min(${longest}, ${rows.length * rowHeight + headHeight + 18}px)`}
            head={<MatrixHead columns={columns} />}
            row={(index) => (
              <MatrixRow
                key={rows[index]!.seed}
                row={rows[index]!}
                columns={columns}
                outputs={outputs}
                indexes={indexes}
              />
            )}
          />
        </div>
      )}
    </>
  );
}

const indexesOf = ({ results }: Column) => new Map(results.map(({ trace_id }, index) => [trace_id, index]));

function Select<Name extends string>(props: {
  label: string;
  query: string;
  value: Name;
  names: Record<Name, string>;
  isAlone: boolean;
}) {
  const { label, query, value, names, isAlone } = props;
  const all = Object.entries(names) as [Name, string][];
  const shown = all.filter(([name]) => !isAlone || !['differ', 'difference'].includes(name));
  return (
    <select
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) =>
        setQuery({ [query]: currentTarget.value === all[0]![0] ? null : currentTarget.value })
      }
    >
      {shown.map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  );
}

function MatrixHead({ columns }: { columns: Column[] }) {
  return (
    <>
      <div role="columnheader" class="matrix-cell matrix-head">
        Row
      </div>
      {columns.map(({ job }, n) => (
        <div key={job.job_id} role="columnheader" class="matrix-cell matrix-head">
          <span class="matrix-name">
            {n === 0 ? (
              <strong>{job.name ?? shortId(job.job_id)}</strong>
            ) : (
              <a href={pageOf(job.job_id)}>{job.name ?? shortId(job.job_id)}</a>
            )}
            {job.status !== 'completed' && <Badge status={job.status} />}
          </span>
          <span class="quiet">
            mean {reward(job.summary.mean_reward)}
            {job.summary.num_failed > 0 && `, ${job.summary.num_failed} failed`} · {job.policy.provider}/
            {job.policy.model}
          </span>
        </div>
      ))}
    </>
  );
}
