import { count } from '../../util/format.js';
import { dataWarnings, type DataFacts } from './form/facts.js';

const shownLabels = 12;

/** What the rows are like: faults to look at, and how the labels are spread. */
export function FactsOfData({ facts, total }: { facts: DataFacts; total: number }) {
  const { rows, labels } = facts;
  const warnings = dataWarnings(facts);
  const most = labels[0]?.count ?? 0;
  return (
    <>
      {rows < total && <p class="quiet">Of the first {count(rows)} rows:</p>}
      {warnings.length === 0 ? (
        <p class="quiet">No repeated and no empty inputs.</p>
      ) : (
        <ul class="data-warnings">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {labels.length > 0 && (
        <ul class="label-balance" aria-label="Rows of each label">
          {labels.slice(0, shownLabels).map(({ label, count: rowsOf }) => (
            <li key={label}>
              <bdi>{label}</bdi>
              <span class="label-bar" aria-hidden="true">
                <span style={{ width: `${(100 * rowsOf) / most}%` }} />
              </span>
              <span class="number">{count(rowsOf)}</span>
            </li>
          ))}
          {labels.length > shownLabels && <li class="quiet">and {labels.length - shownLabels} more labels</li>}
        </ul>
      )}
    </>
  );
}
