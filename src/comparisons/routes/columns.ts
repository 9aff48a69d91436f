/** The columns of a comparison of several. */
import type { Column } from '../../core/comparisons/columns.js';
import { instancesProblem } from '../../core/jobs/instances.js';
import type { Tx } from '../../platform/db/db.js';
import { refuse } from '../../platform/http/server/errors.js';
import { readCompared, readSelected, type Compared } from './compared.js';

interface Columns<Measured> {
  columns: ReadColumn<Measured>[];
  /** The index of the baseline. */
  baseline: number;
}

export type ReadColumn<Measured> = Compared & Pick<Column, 'isSelected'> & Measured;

/**
 * The columns of a comparison, each with what `measure` returns for it. Throws for an unknown id,
 * and for one without rollouts or with other instances than the baseline.
 */
export async function readColumns<Measured>(
  tx: Tx,
  { ids, baseline: pinned = ids[0]! }: { ids: readonly string[]; baseline?: string | undefined },
  measure: (compared: Compared) => Promise<Measured>,
): Promise<Columns<Measured>> {
  const baseline = indexOfId(ids, 'baseline', pinned);
  const columns: ReadColumn<Measured>[] = [];
  for (const id of ids) {
    const compared = await readCompared(tx, 'ids', id);
    const isSelected = await readSelected(tx, compared);
    columns.push({ ...compared, isSelected, ...(await measure(compared)) });
  }
  for (const column of columns) checkInstances(columns[baseline]!, column);
  return { columns, baseline };
}

/** The index of an id among the columns. */
export function indexOfId(ids: readonly string[], field: 'baseline' | 'column', id: string): number {
  const index = ids.indexOf(id);
  if (index < 0) throw refuse.invalid([{ pointer: `/${field}`, message: 'must be one of ids' }]);
  return index;
}

function checkInstances(baseline: Compared, column: Compared): void {
  const problem = instancesProblem(baseline.instances, column.instances, baseline.id);
  if (problem === null) return;
  throw refuse.invalid([{ pointer: '/ids', message: `${column.id} ${problem}` }], 'not_comparable');
}
