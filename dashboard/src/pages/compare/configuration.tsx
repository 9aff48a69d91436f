import { useResource } from '../../data/resource.js';
import { count } from '../../util/format.js';
import { setQuery } from '../../util/router.js';
import { Loading, Panel, Problem } from '../../ui/basics.js';
import { letterOf } from './address.js';
import { differing, loadSettings, type Settings } from './settings.js';
import type { Many } from './types.js';

/** What each column ran with; by default only what differs. */
export function Configuration({ many, onlyDifferences }: { many: Many; onlyDifferences: boolean }) {
  const { columns } = many;
  const ids = columns.map(({ id }) => id);
  const { data, error } = useResource(`settings ${ids.join()}`, (signal) =>
    Promise.all(columns.map((column) => loadSettings(column, signal))),
  );
  const toggle = (
    <label class="check">
      <input
        type="checkbox"
        checked={onlyDifferences}
        onChange={(event) => setQuery({ config: event.currentTarget.checked ? null : 'all' })}
      />{' '}
      Only differences
    </label>
  );
  return (
    <Panel title="Configuration" aside={toggle}>
      <Problem error={error} />
      {!data && !error && <Loading />}
      {data && <Table ids={ids} settings={data} onlyDifferences={onlyDifferences} />}
    </Panel>
  );
}

function Table({ ids, settings, onlyDifferences }: { ids: string[]; settings: Settings[]; onlyDifferences: boolean }) {
  const all = [...new Set(settings.flatMap((of) => [...of.keys()]))];
  const shown = onlyDifferences ? differing(settings) : all;
  return (
    <>
      <div class="table-box" tabIndex={0} role="region" aria-label="Configuration by column">
        <table class="table compare-grid">
          <thead>
            <tr>
              <td></td>
              {ids.map((id) => (
                <th key={id} scope="col">
                  {letterOf(ids, id)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((name) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {settings.map((of, at) => (
                  <td key={at} dir="auto" class="setting">
                    {of.get(name) ?? '–'}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {onlyDifferences && (
        <p class="quiet">
          {shown.length === 0
            ? 'Nothing differs that the jobs answer.'
            : `${count(all.length - shown.length)} are equal.`}
        </p>
      )}
    </>
  );
}
