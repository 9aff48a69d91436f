import { count } from '../../util/format.js';
import { counted } from '../../../../src/core/math/words.js';
import { dataWarnings, type DataFacts } from './form/facts.js';

const shownLabels = 12;

/** Faults of the rows to look at. */
export function Warnings({ facts, total }: { facts: DataFacts; total: number }) {
  const warnings = dataWarnings(facts);
  if (warnings.length === 0) return null;
  return (
    <>
      {facts.rows < total && <p class="quiet">Of the first {count(facts.rows)} rows:</p>}
      <ul class="data-warnings">
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </>
  );
}

/** What the rows are like, in some words. */
export function factWords(facts: DataFacts, total: number): string {
  const { rows, labels } = facts;
  const read = rows < total ? ` in the first ${count(rows)}` : '';
  return [
    labels.length > 0 && `, ${counted(labels.length, 'label')}`,
    dataWarnings(facts).length === 0 && `, no repeated and no empty inputs${read}`,
  ]
    .filter((part) => part !== false)
    .join('');
}

/** How the rows are spread over the labels. */
export function LabelBalance({ labels }: Pick<DataFacts, 'labels'>) {
  const most = labels[0]?.count ?? 0;
  if (labels.length === 0) return null;
  return (
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
  );
}
