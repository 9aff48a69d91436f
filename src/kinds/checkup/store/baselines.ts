/** With what a checkup compares: fixed once, when it begins. */
import { isDeepStrictEqual } from 'node:util';
import type { CheckupSpec, EvaluationSpec } from '../../../core/jobs/spec.js';
import { checkedParts, type CheckedPart } from '../../../core/checkups/steps.js';
import type { JobRef } from '../../../jobs/store/events.js';
import { jsonFields } from '../../../platform/db/json-fields.js';
import { toJsonb } from '../../../platform/db/json.js';
import type { Tx } from '../../../platform/db/db.js';
import { gateJobId } from '../../deployment/store/gate.js';
import { partId, type Begun } from './record.js';

const spec = jsonFields<CheckupSpec>('spec');
const ofDeployment = `kind = 'checkup' and ${spec.text('deploymentId')} = $1 and not deleted`;

/** The baselines of a checkup, and its number among those of its deployment that compare. */
export async function readBaselines(tx: Tx, { jobId }: JobRef, checkup: CheckupSpec): Promise<Begun> {
  const { deploymentId, parts } = checkup;
  // Two checkups that begin at once get two numbers.
  await tx.query('select 1 from deployments where id = $1 for no key update', [deploymentId]);
  const baselines = {
    rows: parts.rows && ((await atRelease(tx, checkup)) ?? (await inEarlier(tx, jobId, checkup, 'rows'))),
    traffic: parts.traffic && (await inEarlier(tx, jobId, checkup, 'traffic')),
  };
  if (checkedParts.every((part) => baselines[part] === null)) return { baselines, number: null };
  const [row] = await tx.query<{ number: number }>(
    `select coalesce(max((projection->>'number')::int), 0) + 1 as number from jobs where ${ofDeployment}`,
    [deploymentId],
  );
  return { baselines, number: row!.number };
}

/** The evaluation by the gate of the deployment on the same rows; null: none. */
async function atRelease(tx: Tx, { deploymentId, parts }: CheckupSpec): Promise<string | null> {
  const id = gateJobId(deploymentId, 0);
  const [row] = await tx.query<{ spec: EvaluationSpec }>(
    `select spec from jobs where id = $1 and status = 'completed' and not deleted`,
    [id],
  );
  const { rows, gate } = parts.rows!;
  const isSame =
    row?.spec.rows?.datasetId === rows.datasetId &&
    isDeepStrictEqual(row.spec.seeds, gate.seeds) &&
    isDeepStrictEqual(row.spec.rows.scorer, rows.scorer);
  return isSame ? id : null;
}

/** That of the first completed checkup of the deployment on the same rows, or the same traffic. */
async function inEarlier(
  tx: Tx,
  jobId: string,
  { deploymentId, parts, filter }: CheckupSpec,
  part: CheckedPart,
): Promise<string | null> {
  const { rows, gate } = parts[part]!;
  const scorer = `${spec.json('parts', part, 'rows')}->'scorer' = $3::jsonb`;
  const same =
    part === 'rows'
      ? `${spec.json('parts', part, 'gate')}->'seeds' = $4::jsonb and ${spec.json('parts', part, 'rows')}->>'datasetId' = $5`
      : `${spec.json('filter')} = $4::jsonb`;
  const [first] = await tx.query<{ id: string }>(
    `select id from jobs where ${ofDeployment} and id <> $2 and status = 'completed' and ${scorer} and ${same}
      order by created_at, id limit 1`,
    [
      ...[deploymentId, jobId, toJsonb(rows.scorer), toJsonb(part === 'rows' ? gate.seeds : filter)],
      ...(part === 'rows' ? [rows.datasetId] : []),
    ],
  );
  return first ? partId(first.id, part) : null;
}
