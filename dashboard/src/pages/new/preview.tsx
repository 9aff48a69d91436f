import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { count } from '../../util/format.js';
import { Problem } from '../../ui/basics.js';
import type { Dataset } from './draft.js';

const shownRows = 5;

/** The columns of a data set, and its first rows. */
export function Preview({ dataset }: { dataset: Dataset }) {
  const id = dataset.dataset_id;
  const { data, error } = useResource(id, (signal) =>
    client.value.request('listDatasetRows', { path: { dataset_id: id }, query: { limit: shownRows }, signal }),
  );
  return (
    <>
      <Problem error={error} />
      <div class="table-box preview" tabIndex={0} role="region" aria-label="First rows">
        <table class="table">
          <thead>
            <tr>
              <th class="number">Row</th>
              {dataset.columns.map((column) => (
                <th key={column.name} class="column-name">
                  {column.name} <span class="column-note">{distinctText(column, dataset.num_rows)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data?.data.map(({ row, data: values }) => (
              <tr key={row}>
                <td class="number quiet">{row}</td>
                {dataset.columns.map(({ name }) => (
                  <td key={name}>
                    <div class="cell" dir="auto">
                      {cellText(values[name])}
                    </div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet">{count(dataset.num_rows)} rows</p>
    </>
  );
}

function distinctText({ num_values: values, num_distinct: distinct }: Dataset['columns'][number], rows: number) {
  const gaps = values < rows ? `, ${count(rows - values)} empty` : '';
  return `${distinct === null ? 'many' : count(distinct)} distinct${gaps}`;
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
