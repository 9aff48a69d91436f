import { route } from '../../router.js';
import { Loading, Panel, Problem } from '../../ui/basics.js';
import { TraceFromAddress } from '../../ui/trace/from-address.js';
import { Columns, mostColumns } from './columns.js';
import { useColumns } from './data.js';
import { Distribution } from './distribution.js';
import { Figures } from './figures.js';
import { Head } from './head.js';
import { Matrix } from './matrix.js';

/** An evaluation, with others beside it. */
export function EvaluationPage({ id }: { id: string }) {
  const beside = (route.value.query.get('with') ?? '').split(',').filter((other) => other && other !== id);
  const { data: columns, error, reload } = useColumns([id, ...new Set(beside)].slice(0, mostColumns));
  const [own] = columns ?? [];
  return (
    <>
      <Problem error={error} />
      {!own && !error && <Loading />}
      {own && columns && (
        <>
          <Head job={own.job} onDone={reload} />
          <Figures job={own.job} />
          <Panel title="Rows" aside={<Columns job={own.job} columns={columns} />}>
            <Matrix columns={columns} />
          </Panel>
          <Distribution columns={columns} />
        </>
      )}
      <TraceFromAddress />
    </>
  );
}
