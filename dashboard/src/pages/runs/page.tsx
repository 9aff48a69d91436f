import { signal } from '@preact/signals';
import { kinds, runKinds } from '../../data/kinds.js';
import { statuses } from '../../../../src/core/jobs/status.js';
import type { RunsPage as Page } from '../../data/run-types.js';
import { count } from '../../util/format.js';
import { link, route, setQuery } from '../../util/router.js';
import { Empty, Loading, Problem } from '../../ui/basics.js';
import { CopyLink } from '../../ui/copy.js';
import { Heading } from '../../ui/heading.js';
import { viewOf, type RunsView } from './address.js';
import { Groups } from './groups.js';
import { GainAndCost } from './gain-and-cost.js';
import { SelectionBar } from './selection.js';
import { RunsTable } from './table.js';
import { sumsText, useRuns } from './use-runs.js';

const step = 50;
const limit = signal(step);

/** The runs of all kinds, sorted, grouped and compared. */
export function RunsPage() {
  const view = viewOf(route.value.query);
  return (
    <div class="full-width">
      <div class="page-head">
        <Heading title="Runs" />
        <div class="actions">
          <CopyLink />
          <a class="button button-primary" href={link(['new'])}>
            New run
          </a>
        </div>
      </div>
      <Filters view={view} />
      {view.group ? <Groups view={view} grouping={view.group} /> : <AllRuns view={view} />}
    </div>
  );
}

function AllRuns({ view }: { view: RunsView }) {
  const { data, error, reload } = useRuns(view, limit.value);
  return (
    <>
      <Problem error={error} />
      {data === undefined && !error && <Loading />}
      {data?.data.length === 0 && <NoRuns isFiltered={route.value.query.size > 0} />}
      {data && data.data.length > 0 && (
        <>
          <RunsTable runs={data.data} />
          <Footer page={data} />
          <SelectionBar onDone={reload} />
          <GainAndCost runs={data.data} wanted={view.scale} />
        </>
      )}
    </>
  );
}

/** The sums of all that passes, and more of it. */
function Footer({ page: { data, totals, has_more: hasMore } }: { page: Page }) {
  return (
    <div class="bar runs-footer">
      {totals && <p>{sumsText(totals)}</p>}
      {hasMore && (
        <button type="button" class="button" onClick={() => (limit.value += step)}>
          Show more than {count(data.length)}
        </button>
      )}
    </div>
  );
}

function Filters({ view }: { view: RunsView }) {
  const text = (name: 'name' | 'tag', label: string) => (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={view[name]}
      onInput={(event) => setQuery({ [name]: event.currentTarget.value || null })}
    />
  );
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {text('name', 'Search names')}
      {text('tag', 'Tag')}
      <select
        aria-label="Kind"
        value={view.kind ?? ''}
        onChange={(event) => setQuery({ kind: event.currentTarget.value || null })}
      >
        <option value="">All kinds</option>
        {runKinds.map((kind) => (
          <option key={kind} value={kind}>
            {kinds[kind].title}
          </option>
        ))}
      </select>
      <select
        aria-label="Status"
        value={view.state ?? ''}
        onChange={(event) => setQuery({ status: event.currentTarget.value || null })}
      >
        <option value="">Any status</option>
        {statuses.map((status) => (
          <option key={status}>{status}</option>
        ))}
      </select>
      <select
        aria-label="Group by"
        value={view.group ?? ''}
        onChange={(event) => setQuery({ group: event.currentTarget.value || null })}
      >
        <option value="">Not grouped</option>
        <option value="dataset">Grouped by data set</option>
        <option value="model">Grouped by model</option>
        <option value="tag">Grouped by tag</option>
      </select>
      <Check name="archived" label="Archived" isChecked={view.archived} />
      <Check
        name="parts"
        label="Started by deployments"
        title="Runs that check a deployment: of gates, migrations and checkups"
        isChecked={view.parts}
      />
      {view.dataset && <Narrowed name="dataset" text={`data set ${view.dataset.slice(0, 12)}`} />}
      {view.model && <Narrowed name="model" text={view.model} />}
      {view.createdBy && <Narrowed name="by" text={`key ${view.createdBy}`} />}
    </form>
  );
}

function Check(props: { name: string; label: string; title?: string; isChecked: boolean }) {
  const { name, label, title, isChecked } = props;
  return (
    <label class="check" title={title}>
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => setQuery({ [name]: event.currentTarget.checked ? '1' : null })}
      />
      {label}
    </label>
  );
}

/** A filter that a link has set. */
function Narrowed({ name, text }: { name: string; text: string }) {
  return (
    <button
      type="button"
      class="button button-small"
      title="Remove this filter"
      onClick={() => setQuery({ [name]: null })}
    >
      {text} ✕
    </button>
  );
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty>No run passes the filter.</Empty>;
  return (
    <Empty>
      <p>No runs yet.</p>
      <p>
        Bring rows with their right answers and a prompt. Ratchet tries other prompts, scores each of them, and proves
        the best one on rows that the search never saw. Then you deploy it under a name and call it like a model.
      </p>
      <a class="button" href={link(['new'], { sample: '1' })}>
        Try the sample
      </a>
    </Empty>
  );
}
