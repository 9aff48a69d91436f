import type { ComponentChildren } from 'preact';
import { client } from '../data/client.js';
import { useResource } from '../data/resource.js';
import { count } from '../util/format.js';
import type { Answer } from '../../../src/client/index.js';
import { Problem } from './basics.js';

type Dataset = Pick<Answer<'getDataset'>, 'dataset_id' | 'num_rows' | 'columns'>;

/** The columns of a data set and some rows after a cursor. `children` gets the next cursor. */
export function DatasetRows(props: {
  dataset: Dataset;
  limit: number;
  cursor?: string | null;
  children?: (next: string | null) => ComponentChildren;
}) {
  const { dataset, limit, cursor, children } = props;
  const id = dataset.dataset_id;
  const query = { limit, ...(cursor && { cursor }) };
  const { data, error } = useResource(`${id} ${cursor ?? ''}`, (signal) =>
    client.value.request('listDatasetRows', { path: { dataset_id: id }, query, signal }),
  );
  return (
    <>
      <Problem error={error} />
      <div class="table-box preview" tabIndex={0} role="region" aria-label={cursor ? 'Rows' : 'First rows'}>
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
      {children ? data && children(data.next_cursor) : <p class="quiet">{count(dataset.num_rows)} rows</p>}
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
