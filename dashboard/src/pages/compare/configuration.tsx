import { useResource } from '../../data/resource.js';
import { count } from '../../util/format.js';
import { setQuery } from '../../util/router.js';
import { Loading, Panel, Problem } from '../../ui/basics.js';
import { letterOf } from './address.js';
import { loadSettings, rowsOf, valuesOf, type Settings, type SettledColumn } from './settings.js';

/** What each column ran with; by default only what differs. */
export function Configuration(props: { columns: readonly SettledColumn[]; onlyDifferences: boolean }) {
  const { columns, onlyDifferences } = props;
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
  const shown = rowsOf(settings, onlyDifferences);
  const sum = (rows: typeof shown) => rows.reduce((total, { labels }) => total + labels.length, 0);
  return (
    <>
      <div class="table-box" tabIndex={0} role="region" aria-label="Configuration by column">
        <table class="table compare-grid compare-settings">
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
          {shown.map(({ section, labels }) => (
            <tbody key={section}>
              <tr>
                <th scope="rowgroup" colSpan={ids.length + 1} class="setting-section">
                  {section}
                </th>
              </tr>
              {labels.map((label) => (
                <tr key={label}>
                  <th scope="row">{label}</th>
                  {valuesOf(settings, label).map((value, at) => (
                    <td key={at} dir="auto" class="setting" title={value ?? undefined}>
                      <span class="setting-value">{value ?? '–'}</span>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      </div>
      {onlyDifferences && (
        <p class="quiet">
          {shown.length === 0 ? 'Nothing differs.' : `${count(sum(rowsOf(settings, false)) - sum(shown))} are equal.`}
        </p>
      )}
    </>
  );
}
