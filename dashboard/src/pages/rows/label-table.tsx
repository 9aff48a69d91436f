import { count } from '../../util/format.js';
import { setQuery } from '../../util/router.js';
import type { RowsFilter, RowsSummary } from '../../data/rows/types.js';

type Table = NonNullable<RowsSummary['table']>;

/** Expected values down, answers across; a click on a cell shows its rows. */
export function LabelTable({ table, filter }: { table: Table; filter: RowsFilter }) {
  const counts = new Map(table.cells.map(({ expected, answered, count }) => [keyOf(expected, answered), count]));
  const most = Math.max(1, ...counts.values());
  const hasOthers = table.cells.some(({ answered }) => answered === null);
  const columns = [...table.answered, ...(hasOthers ? [null] : [])];
  const isOn = (expected: string, answered: string | null) =>
    filter.expected === expected && (answered === null ? filter.other_answers === true : filter.answered === answered);
  return (
    <>
      <p class="label-note quiet">Expected values down, answers across. A cell shows its rows.</p>
      <div class="label-table" tabIndex={0} role="region" aria-label="Expected values and answers">
        <table>
          <thead>
            <tr>
              <th scope="col">Expected</th>
              {columns.map((answered) => (
                <th key={answered} scope="col" title={answered ?? undefined}>
                  <bdi>{answered ?? 'other'}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.expected.map((expected) => (
              <tr key={expected}>
                <th scope="row" title={expected}>
                  <bdi>{expected}</bdi>
                </th>
                {columns.map((answered) => {
                  const rows = counts.get(keyOf(expected, answered)) ?? 0;
                  return (
                    <td key={answered}>
                      {rows > 0 && (
                        <Cell {...{ expected, answered, rows }} isOn={isOn(expected, answered)} share={rows / most} />
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const keyOf = (expected: string, answered: string | null): string => JSON.stringify([expected, answered]);

function Cell(props: { expected: string; answered: string | null; rows: number; share: number; isOn: boolean }) {
  const { expected, answered, rows, share, isOn } = props;
  const isRight = expected === answered;
  const changes = isOn
    ? { expected: null, answered: null, other_answers: null }
    : { expected, answered, other_answers: answered === null ? 'true' : null };
  return (
    <button
      type="button"
      class={`label-cell ${isRight ? 'label-right' : ''}`}
      style={{ '--share': `${Math.round(8 + 22 * share)}%` }}
      aria-pressed={isOn}
      aria-label={`${rows} rows expected ${expected}, answered ${answered ?? 'something else'}`}
      onClick={() => setQuery(changes)}
    >
      {count(rows)}
    </button>
  );
}

/** Wrong answers by the first line of their feedback. */
export function Clusters({ clusters, filter }: { clusters: RowsSummary['clusters']; filter: RowsFilter }) {
  return (
    <ul class="clusters" aria-label="Wrong answers by feedback">
      {clusters.map(({ feedback, count: rows }) => (
        <li key={feedback}>
          <button
            type="button"
            class="row-group"
            aria-pressed={filter.feedback === feedback}
            onClick={() => setQuery({ feedback: filter.feedback === feedback ? null : feedback })}
          >
            <span dir="auto">{feedback || 'No text'}</span>
            <span class="row-count">{count(rows)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
