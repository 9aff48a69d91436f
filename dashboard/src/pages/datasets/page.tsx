import { signal } from '@preact/signals';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { count } from '../../util/format.js';
import { link, route } from '../../util/router.js';
import { Empty, Loading, Problem, Time } from '../../ui/basics.js';
import { Heading } from '../../ui/heading.js';
import { datasetName } from '../../ui/dataset-link.js';
import { DatasetPage } from './dataset.js';
import { numbers, Table } from '../../ui/table.js';

const step = 100;
const limit = signal(step);
const namedColumns = 4;

/** All data sets, or the one of the address. */
export function DatasetsPage() {
  const [, id] = route.value.parts;
  return id ? <DatasetPage key={id} id={id} /> : <AllDatasets />;
}

function AllDatasets() {
  const { data, error } = useResource(`data sets ${limit.value}`, (signal) =>
    client.value.request('listDatasets', { query: { limit: limit.value }, signal }),
  );
  return (
    <>
      <div class="page-head">
        <Heading title="Data sets" />
        <a class="button button-primary" href={link(['new'])}>
          New run
        </a>
      </div>
      <Problem error={error} />
      {!data && !error && <Loading />}
      {data?.data.length === 0 && <Empty>No data sets yet: upload one for a new run.</Empty>}
      {data && data.data.length > 0 && (
        <Table
          label="Data sets"
          heads={[
            'Data set',
            numbers('Rows'),
            { name: 'Columns', class: 'on-wide' },
            numbers('Runs'),
            { name: 'Created', class: 'fits on-medium' },
          ]}
          class="leaderboard"
        >
          {data.data.map(({ dataset_id: id, name, num_rows: rows, columns, jobs, created_at: at }) => (
            <tr key={id}>
              <td class="run-name">
                <a class="row-link" dir="auto" href={link(['datasets', id])}>
                  {datasetName({ dataset_id: id, name })}
                </a>
              </td>
              <td class="number">{count(rows)}</td>
              <td class="on-wide cut">
                {columns
                  .slice(0, namedColumns)
                  .map((column) => column.name)
                  .join(', ')}
                {columns.length > namedColumns && ` and ${count(columns.length - namedColumns)} more`}
              </td>
              <td class="number">
                <a href={link([], { dataset: id })}>{count(jobs)}</a>
              </td>
              <td class="fits on-medium">
                <Time at={at} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {data?.has_more && (
        <button type="button" class="button" onClick={() => (limit.value += step)}>
          Show more
        </button>
      )}
    </>
  );
}
