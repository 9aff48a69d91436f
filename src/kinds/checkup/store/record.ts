import type { CheckupSpec } from '../../../core/jobs/spec.js';
import { checkedParts, partNumbers, type CheckedPart, type CheckupRecord } from '../../../core/checkups/steps.js';
import type { Baselines, CheckupProjection } from '../../../jobs/store/projection.js';
import { readRewards } from '../../deployment/store/gate.js';
import { partsOf, readResults } from '../../deployment/store/parts.js';
import type { Tx } from '../../../platform/db/db.js';

export const { partId, readParts } = partsOf(partNumbers);

/** What is fixed when a checkup begins. */
export type Begun = Required<Pick<CheckupProjection, 'baselines' | 'number'>>;

/** What is known of a checkup that has begun, from its jobs that have completed. */
export async function readRecord(
  tx: Tx,
  checkupId: string,
  { maxChange, improve, parts }: CheckupSpec,
  { baselines, number }: Begun,
): Promise<CheckupRecord> {
  const known = {
    rows: await partOf(tx, 'rows', parts, baselines),
    traffic: await partOf(tx, 'traffic', parts, baselines),
  };
  const comparisons = checkedParts.filter((part) => known[part]?.baseline).length;
  return {
    maxChange,
    look: number === null ? null : { number, comparisons: Math.max(1, comparisons) },
    parts: known,
    improve: improve?.when ?? null,
    ...(await readResults(tx, await readParts(tx, checkupId))),
  };
}

/** A baseline that was deleted meanwhile is none. */
async function partOf(tx: Tx, part: CheckedPart, parts: CheckupSpec['parts'], baselines: Baselines) {
  const checked = parts[part];
  if (!checked) return null;
  const { seeds } = checked.gate;
  const id = baselines[part];
  const rewards = id === null ? [] : await readRewards(tx, id);
  const isUsable = part === 'rows' ? rewards.length === seeds.length : rewards.length > 0;
  return { seeds, baseline: isUsable ? rewards : null };
}
