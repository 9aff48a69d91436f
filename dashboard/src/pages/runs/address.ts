/** The view of the runs, as the address names it. */
import { isActive } from '../../data/job.js';
import { runKinds, type RunKind } from '../../data/kinds.js';
import { statuses, type Status } from '../../../../src/core/jobs/status.js';
import type { Grouping, RunsQuery, Sort } from '../../data/run-types.js';

export type SortKey = 'created' | 'gain' | 'reward' | 'cost' | 'rollouts' | 'name';

export interface RunsView {
  kind: RunKind | null;
  state: Status | null;
  name: string;
  tag: string;
  dataset: string;
  model: string;
  createdBy: string;
  archived: boolean;
  parts: boolean;
  sort: { key: SortKey; isDescending: boolean };
  group: Grouping | null;
  /** The comparable key whose runs are on the axis; null: that of the most runs. */
  scale: string | null;
}

/** What a first click on a column sorts by: the best first. */
const descendsFirst: Record<SortKey, boolean> = {
  created: true,
  gain: true,
  reward: true,
  cost: false,
  rollouts: true,
  name: false,
};
const groupings: readonly Grouping[] = ['dataset', 'model', 'tag'];

const oneOf = <Name extends string>(names: readonly Name[], text: string | null): Name | null =>
  names.find((name) => name === text) ?? null;

export function viewOf(query: URLSearchParams): RunsView {
  return {
    kind: oneOf(runKinds, query.get('kind')),
    state: oneOf(statuses, query.get('status')),
    name: query.get('name') ?? '',
    tag: query.get('tag') ?? '',
    dataset: query.get('dataset') ?? '',
    model: query.get('model') ?? '',
    createdBy: query.get('by') ?? '',
    archived: query.get('archived') === '1',
    parts: query.get('parts') === '1',
    sort: sortOf(query.get('sort') ?? ''),
    group: oneOf(groupings, query.get('group')),
    scale: query.get('scale'),
  };
}

/** The newest first by default. */
function sortOf(text: string): RunsView['sort'] {
  const key = oneOf(Object.keys(descendsFirst) as SortKey[], text.replace(/^-/, ''));
  return key ? { key, isDescending: text.startsWith('-') } : { key: 'created', isDescending: true };
}

/** The order after a click on a column: its own, then the reverse. */
export function nextSort({ sort }: Pick<RunsView, 'sort'>, key: SortKey): Sort {
  const isDescending = sort.key === key ? !sort.isDescending : descendsFirst[key];
  return `${isDescending ? '-' : ''}${key}`;
}

export function requestOf(view: RunsView): RunsQuery {
  const { kind, state, name, tag, dataset, model, createdBy, parts, sort } = view;
  return {
    sort: `${sort.isDescending ? '-' : ''}${sort.key}`,
    ...(kind && { kind }),
    ...(state && { state }),
    ...(name && { name }),
    ...(tag && { tag }),
    ...(dataset && { dataset }),
    ...(model && { model }),
    ...(createdBy && { created_by: createdBy }),
    ...(parts && { parts: 'true' as const }),
    // A running job costs money, so the list hides none.
    ...((view.archived || (state && isActive(state))) && { archived: 'true' as const }),
  };
}
