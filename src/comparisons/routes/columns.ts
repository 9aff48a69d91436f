/** The columns of a comparison of several. */
import type { Column } from '../../core/comparisons/columns.js';
import { withName } from '../../core/jobs/instances.js';
import type { Tx } from '../../platform/db/db.js';
import { refuse } from '../../platform/http/server/errors.js';
import { differenceOf, readCompared, readSelected, type Compared } from './compared.js';

export interface Columns {
  columns: ReadColumn[];
  /** The index of the baseline. */
  baseline: number;
}

export type ReadColumn = Compared & Pick<Column, 'isSelected'>;

/**
 * The columns of a comparison. Throws for an unknown id, and for one without rollouts or with other
 * instances than the baseline.
 */
export async function readColumns(
  tx: Tx,
  { ids, baseline: pinned = ids[0]! }: { ids: readonly string[]; baseline?: string | undefined },
): Promise<Columns> {
  const baseline = indexOfId(ids, 'baseline', pinned);
  const columns: ReadColumn[] = [];
  for (const id of ids) {
    const compared = await readCompared(tx, 'ids', id);
    columns.push({ ...compared, isSelected: await readSelected(tx, compared) });
  }
  for (const column of columns) await checkInstances(tx, columns[baseline]!, column);
  return { columns, baseline };
}

const nameOf = ({ id, name }: Compared): string => withName(id, name);

/** The index of an id among the columns. */
export function indexOfId(ids: readonly string[], field: 'baseline' | 'column', id: string): number {
  const index = ids.indexOf(id);
  if (index < 0) throw refuse.invalid([{ pointer: `/${field}`, message: 'must be one of ids' }]);
  return index;
}

async function checkInstances(tx: Tx, baseline: Compared, column: Compared): Promise<void> {
  const problem = await differenceOf(tx, baseline, column, nameOf(baseline));
  if (problem === null) return;
  throw refuse.invalid([{ pointer: '/ids', message: `${nameOf(column)} ${problem}` }], 'not_comparable');
}
