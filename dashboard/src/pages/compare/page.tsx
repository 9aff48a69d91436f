import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { route } from '../../util/router.js';
import { Empty, Loading, Problem } from '../../ui/basics.js';
import { CopyLink } from '../../ui/copy.js';
import { Heading } from '../../ui/heading.js';
import { TraceFromAddress } from '../../ui/trace/from-address.js';
import { viewOf, type CompareView } from './address.js';
import { Chooser } from './chooser.js';
import { Configuration } from './configuration.js';
import { Prompts } from './prompts.js';
import { Rows } from './rows.js';
import type { Many } from './types.js';
import { VerdictPanel } from './verdict-panel.js';

/** Up to eight runs, candidates or deployments beside a pinned baseline. */
export function ComparePage() {
  const view = viewOf(route.value.query);
  return (
    <>
      <div class="page-head">
        <Heading title="Compare" />
        <CopyLink />
      </div>
      <Compared view={view} />
      <TraceFromAddress />
    </>
  );
}

function Compared({ view }: { view: CompareView }) {
  const { ids, baseline } = view;
  const key = `${ids.join()} ${baseline}`;
  const { data, error } = useResource(key, async (signal) =>
    ids.length > 1 ? client.value.compareMany(ids, { baseline, signal }) : null,
  );
  return (
    <>
      <Chooser view={view} columns={data?.columns ?? []} />
      {data === null && <Empty>Add at least two runs.</Empty>}
      {data === undefined && (error ? <Problem error={error} /> : <Loading />)}
      {data && <Parts key={key} many={data} view={view} />}
    </>
  );
}

function Parts({ many, view }: { many: Many; view: CompareView }) {
  return (
    <>
      <VerdictPanel many={many} />
      <Configuration many={many} onlyDifferences={view.onlyDifferences} />
      <Rows many={many} view={view} />
      <Prompts many={many} view={view} />
    </>
  );
}
