/** The columns of a comparison of several. */
import { compareWithBaseline, type Column, type ComparedPair } from '../../core/comparisons/columns.js';
import { instancesProblem } from '../../core/jobs/instances.js';
import type { Tx } from '../../platform/db/db.js';
import { refuse } from '../../platform/http/server/errors.js';
import { readSeedMeans } from '../../rollouts/store/by-seed.js';
import { readCompared, readSelected, type Compared } from './compared.js';

export interface ReadColumn extends Compared, Column {
  /** The rollout that is shown of a seed. */
  shown: ReadonlyMap<number, string>;
}

export interface Columns {
  columns: ReadColumn[];
  /** Its place. */
  baseline: number;
  /** Of each column with the baseline. */
  pairs: (ComparedPair | null)[];
}

/** Throws if an id is unknown, has no rollouts, or runs other instances than the baseline. */
export async function readColumns(
  tx: Tx,
  { ids, baseline: pinned = ids[0]! }: { ids: readonly string[]; baseline?: string | undefined },
  withCosts: boolean,
): Promise<Columns> {
  const baseline = placeOf(ids, 'baseline', pinned);
  const columns: ReadColumn[] = [];
  for (const id of ids) {
    const compared = await readCompared(tx, 'ids', id);
    const isSelected = await readSelected(tx, compared);
    const { means, failed, shown } = await readSeedMeans(tx, compared.jobId, compared.candidateId, withCosts);
    columns.push({ ...compared, isSelected, means, failed: new Set(failed), shown });
  }
  for (const column of columns) checkInstances(columns[baseline]!, column);
  return { columns, baseline, pairs: compareWithBaseline(columns, baseline) };
}

/** The place of an id among the columns. */
export function placeOf(ids: readonly string[], field: 'baseline' | 'column', id: string): number {
  const place = ids.indexOf(id);
  if (place < 0) throw refuse.invalid([{ pointer: `/${field}`, message: 'must be one of ids' }]);
  return place;
}

function checkInstances(baseline: Compared, column: Compared): void {
  const problem = instancesProblem(baseline.instances, column.instances, baseline.id);
  if (problem === null) return;
  throw refuse.invalid([{ pointer: '/ids', message: `${column.id} ${problem}` }], 'not_comparable');
}
