import { count } from '../../util/format.js';
import { setQuery } from '../../util/router.js';
import type { ReviewFilter, RowGroup, RowsFilter, RowsSummary } from '../../data/rows/types.js';
import { groupNames, groupNamesAlone, reviewNames } from './filter.js';

/** Groups of rows with their counts; a click shows one. */
export function Groups(props: { summary: RowsSummary; filter: RowsFilter; hasBaseline: boolean }) {
  const { summary, filter, hasBaseline } = props;
  const names = Object.entries(hasBaseline ? groupNames : groupNamesAlone) as [RowGroup, string][];
  const all = Object.values(summary.groups).reduce((sum, each) => sum + each, 0);
  const parts = [
    ['false', 'Held-out rows', summary.held_out],
    ['true', 'Train and evaluation rows', summary.seen],
  ] as const;
  return (
    <nav class="row-groups" aria-label="Groups of rows">
      <Entry name="All rows" rows={all} isOn={filter.group === undefined} changes={{ group: null }} />
      {names.map(([group, name]) => (
        <Entry
          key={group}
          name={name}
          rows={summary.groups[group]}
          isOn={filter.group === group}
          changes={{ group: filter.group === group ? null : group }}
          group={group}
        />
      ))}
      {hasBaseline && (
        <div class="row-parts">
          {parts.map(([seen, name, rows]) => (
            <Entry
              key={seen}
              name={name}
              rows={rows}
              isOn={String(filter.seen) === seen}
              changes={{ seen: String(filter.seen) === seen ? null : seen }}
            />
          ))}
        </div>
      )}
      <div class="row-parts">
        {(Object.entries(reviewNames) as [ReviewFilter, string][])
          .filter(([review]) => review === 'none' || review === filter.review || summary.reviews[review] > 0)
          .map(([review, name]) => (
            <Entry
              key={review}
              name={name}
              rows={summary.reviews[review]}
              isOn={filter.review === review}
              changes={{ review: filter.review === review ? null : review }}
            />
          ))}
      </div>
    </nav>
  );
}

function Entry(props: {
  name: string;
  rows: number;
  isOn: boolean;
  changes: Record<string, string | null>;
  group?: RowGroup;
}) {
  return (
    <button
      type="button"
      class={`row-group ${props.group ? `row-group-${props.group}` : ''}`}
      aria-pressed={props.isOn}
      onClick={() => setQuery(props.changes)}
    >
      <span>{props.name}</span>
      <span class="row-count">{count(props.rows)}</span>
    </button>
  );
}
