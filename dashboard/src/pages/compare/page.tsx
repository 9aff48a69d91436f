import { RatchetError } from '../../../../src/client/index.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { messageOf, shortId } from '../../util/format.js';
import { route } from '../../util/router.js';
import { Empty, Loading, Problem } from '../../ui/basics.js';
import { CopyLink } from '../../ui/copy.js';
import { Heading } from '../../ui/heading.js';
import { TraceFromAddress } from '../../ui/trace/from-address.js';
import { letterOf, viewOf, type CompareView } from './address.js';
import { Chooser } from './chooser.js';
import { Configuration } from './configuration.js';
import { settledRun } from './settings.js';
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
      {data === undefined && (error ? <NotCompared error={error} view={view} /> : <Loading />)}
      {data && <Parts key={key} many={data} view={view} />}
    </>
  );
}

/** Why there is no comparison; of runs on other rows or scorers what differs between them, too. */
function NotCompared({ error, view: { ids, onlyDifferences } }: { error: Error; view: CompareView }) {
  const runs = ids.map(settledRun).filter((run) => run !== null);
  const isOfRuns = error instanceof RatchetError && error.code === 'not_comparable' && runs.length === ids.length;
  return (
    <>
      <Problem error={isOfRuns ? shownProblem(messageOf(error), ids) : error} />
      {isOfRuns && (
        <>
          <p class="note">
            Remove the column that does not fit, or evaluate its prompt on the rows of the others with their scorer.
          </p>
          <Configuration columns={runs} onlyDifferences={onlyDifferences} />
        </>
      )}
    </>
  );
}

/** With the letters of the columns, and short ids of data sets, in place of their ids. */
function shownProblem(text: string, ids: readonly string[]): string {
  const lettered = ids.reduce((said, id) => said.replaceAll(id, letterOf(ids, id)), text);
  return lettered.replace(/\bds_[0-9a-f]{16,}/g, shortId);
}

function Parts({ many, view }: { many: Many; view: CompareView }) {
  return (
    <>
      <VerdictPanel many={many} />
      <Configuration columns={many.columns} onlyDifferences={view.onlyDifferences} />
      <Rows many={many} view={view} />
      <Prompts many={many} view={view} />
    </>
  );
}
