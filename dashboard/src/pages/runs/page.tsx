import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { isActive } from '../../data/job.js';
import { kinds, runKinds, type RunKind } from '../../data/kinds.js';
import { newestRuns, statuses, type RunFilter, type Status } from '../../data/runs.js';
import { useResource } from '../../data/resource.js';
import { link, route, setQuery } from '../../util/router.js';
import { Empty, Loading, Problem } from '../../ui/basics.js';
import { Heading } from '../../ui/heading.js';
import { RunsTable } from './table.js';

/** While a shown run is active; else only new runs are looked for. */
const pollMs = { active: 2_000, ended: 15_000 };
const step = 50;
const limit = signal(step);

function filterOf(query: URLSearchParams): RunFilter {
  return {
    kind: (query.get('kind') as RunKind | null) ?? null,
    state: (query.get('status') as Status | null) ?? null,
    name: query.get('name') ?? '',
    tag: query.get('tag') ?? '',
    archived: query.get('archived') === '1',
  };
}

/** All jobs, newest first. */
export function RunsPage() {
  const filter = filterOf(route.value.query);
  const key = JSON.stringify([filter, limit.value]);
  const [isLive, setLive] = useState(true);
  const load = async (aborted: AbortSignal) => {
    const found = await newestRuns(filter, limit.value, aborted);
    setLive(found.some(({ status }) => isActive(status)));
    return found;
  };
  const { data: runs, error } = useResource(key, load, isLive ? pollMs.active : pollMs.ended);
  const shown = runs?.slice(0, limit.value);
  return (
    <>
      <div class="page-head">
        <Heading title="Runs" />
        <a class="button button-primary" href={link(['new'])}>
          New run
        </a>
      </div>
      <Filters filter={filter} />
      <Problem error={error} />
      {shown === undefined && !error && <Loading />}
      {shown?.length === 0 && <NoRuns isFiltered={route.value.query.size > 0} />}
      {shown && shown.length > 0 && <RunsTable runs={shown} />}
      {runs && runs.length > limit.value && (
        <button type="button" class="button" onClick={() => (limit.value += step)}>
          Show more
        </button>
      )}
    </>
  );
}

function Filters({ filter }: { filter: RunFilter }) {
  const text = (name: 'name' | 'tag', label: string) => (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={filter[name]}
      onInput={(event) => setQuery({ [name]: event.currentTarget.value || null })}
    />
  );
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {text('name', 'Search names')}
      {text('tag', 'Tag')}
      <select
        aria-label="Kind"
        value={filter.kind ?? ''}
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
        value={filter.state ?? ''}
        onChange={(event) => setQuery({ status: event.currentTarget.value || null })}
      >
        <option value="">Any status</option>
        {statuses.map((status) => (
          <option key={status}>{status}</option>
        ))}
      </select>
      <label class="check">
        <input
          type="checkbox"
          checked={filter.archived}
          onChange={(event) => setQuery({ archived: event.currentTarget.checked ? '1' : null })}
        />
        Archived
      </label>
    </form>
  );
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty>No run passes the filter.</Empty>;
  return (
    <Empty>
      <p>No runs yet.</p>
      <a class="button button-primary" href={link(['new'], { sample: '1' })}>
        Try the sample
      </a>
    </Empty>
  );
}
