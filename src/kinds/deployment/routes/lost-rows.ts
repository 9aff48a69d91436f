/** Rows with a lower reward than before, with both answers. */
import type { RowsSpec } from '../../../core/jobs/spec.js';
import type { WorseRow } from '../../../core/migrations/verdict.js';
import type { Tx } from '../../../platform/db/db.js';
import { readSeedOutputs, type SeedOutput } from '../../../rollouts/store/outputs.js';

/** What the evaluations say of a row; absent: it is not kept any more. */
export interface LostRow {
  lost: WorseRow;
  now: SeedOutput | undefined;
  before: SeedOutput | undefined;
}

/** `now` and `before`: the evaluations. */
export async function lostRowsOf(
  tx: Tx,
  rows: RowsSpec,
  { now, before }: { now: string; before: string },
  worse: readonly WorseRow[],
): Promise<LostRow[]> {
  if (worse.length === 0) return [];
  const seeds = worse.map(({ seed }) => seed);
  const outputsOf = async (jobId: string): Promise<Map<number, SeedOutput>> => {
    const found = await readSeedOutputs(tx, jobId, rows, { limit: seeds.length, offset: 0, seeds });
    return new Map(found.map((output) => [output.seed, output]));
  };
  const [ours, theirs] = [await outputsOf(now), await outputsOf(before)];
  return worse.map((lost) => ({ lost, now: ours.get(lost.seed), before: theirs.get(lost.seed) }));
}
