import type { Tx } from '../../platform/db/db.js';
import { readRowTexts, readRunTexts } from '../store/texts.js';
import type { RowsOf, SelectableRow } from './select.js';

/** The texts of a page of rows, of the baseline once where it is the candidate. */
export async function readPageTexts(tx: Tx, { jobId, source }: RowsOf, page: readonly SelectableRow[]) {
  const shown = page.flatMap(({ seed, baseline, candidate }) =>
    [...new Set([baseline, candidate].flatMap((side) => side?.shown ?? []))].map((rolloutId) => ({ seed, rolloutId })),
  );
  const rows = await readRowTexts(
    tx,
    jobId,
    source,
    page.map(({ seed }) => seed),
  );
  return { rows, runs: await readRunTexts(tx, jobId, shown) };
}
