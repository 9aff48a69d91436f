import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { route } from '../../util/router.js';
import { Empty, Loading, Problem } from '../../ui/basics.js';
import { Heading } from '../../ui/heading.js';
import { TraceFromAddress } from '../../ui/trace/from-address.js';
import { viewOf, type CompareView } from './address.js';
import { Chooser } from './chooser.js';
import { Configuration } from './configuration.js';
import { Prompts } from './prompts.js';
import { Rows } from './rows.js';
import { VerdictPanel } from './verdict-panel.js';

/** Up to eight runs, candidates or deployments beside a pinned baseline. */
export function ComparePage() {
  const view = viewOf(route.value.query);
  return (
    <>
      <div class="page-head">
        <Heading title="Compare" />
      </div>
      <Chooser view={view} />
      {view.ids.length > 1 ? <Compared view={view} /> : <Empty>Add at least two runs.</Empty>}
      <TraceFromAddress />
    </>
  );
}

function Compared({ view }: { view: CompareView }) {
  const { ids, baseline } = view;
  const key = `${ids.join()} ${baseline}`;
  const { data, error } = useResource(key, (signal) => client.value.compareMany(ids, { baseline, signal }));
  if (!data) return error ? <Problem error={error} /> : <Loading />;
  return (
    <>
      <VerdictPanel many={data} />
      <Configuration many={data} onlyDifferences={view.onlyDifferences} />
      <Rows key={key} many={data} view={view} />
      <Prompts many={data} view={view} />
    </>
  );
}
