import type { Group, Grouping } from '../../data/run-types.js';
import { loadRuns, without } from '../../data/runs.js';
import { useResource } from '../../data/resource.js';
import { shortId } from '../../util/format.js';
import { here } from '../../util/router.js';
import { Empty, Loading, Problem } from '../../ui/basics.js';
import { requestOf, type RunsView } from './address.js';
import { SelectionBar } from './selection.js';
import { RunsTable } from './table.js';
import { sumsText, useRuns } from './use-runs.js';

/** Groups and their first runs that are shown; the rest is a click away. */
const [shownGroups, shownRuns] = [20, 10];
const pollMs = 15_000;

const nouns: Record<Grouping, string> = { dataset: 'No data set', model: 'No model', tag: 'No tag' };

/** The runs of a view by what they have in common, each group with an axis of its own. */
export function Groups({ view, grouping }: { view: RunsView; grouping: Grouping }) {
  const query = { ...requestOf(view), group_by: grouping, limit: 1 };
  const { data, error, reload } = useResource(JSON.stringify(query), (signal) => loadRuns(query, signal), pollMs);
  const groups = data?.groups ?? [];
  return (
    <>
      <Problem error={error} />
      {data === undefined && !error && <Loading />}
      {data && groups.length === 0 && <Empty>No run passes the filter.</Empty>}
      {groups.slice(0, shownGroups).map((group) => (
        <GroupOfRuns key={group.key} view={view} grouping={grouping} group={group} />
      ))}
      {groups.length > shownGroups && <p class="quiet">The largest {shownGroups} groups are shown.</p>}
      {data?.totals && <p class="runs-footer">{sumsText(data.totals)}</p>}
      <SelectionBar onDone={reload} />
    </>
  );
}

function GroupOfRuns({ view, grouping, group }: { view: RunsView; grouping: Grouping; group: Group }) {
  const key = group.key ?? without;
  const { data, error } = useRuns({ ...view, [grouping]: key }, shownRuns);
  const title = titleOf(grouping, group);
  return (
    <section aria-label={title}>
      <header class="panel-head">
        <h2>
          <a class="plain-link" href={here({ group: null, [grouping]: key })} title={group.key ?? undefined}>
            <bdi>{title}</bdi>
          </a>
        </h2>
        <span class="quiet">
          {sumsText(group)}
          {group.runs > shownRuns && (
            <>
              {' '}
              · <a href={here({ group: null, [grouping]: key })}>all of them</a>
            </>
          )}
        </span>
      </header>
      <Problem error={error} />
      {data && <RunsTable runs={data.data} label={title} />}
    </section>
  );
}

function titleOf(grouping: Grouping, { key, name }: Group): string {
  if (key === null) return nouns[grouping];
  return name ?? (grouping === 'dataset' ? shortId(key) : key);
}
