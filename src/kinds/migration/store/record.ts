import { candidateId } from '../../../core/jobs/ids.js';
import { childJobId, type JobKind } from '../../../core/jobs/kinds.js';
import type { MigrationSpec } from '../../../core/jobs/spec.js';
import type { Status } from '../../../core/jobs/status.js';
import {
  partNames,
  partNumbers,
  type EvaluationPart,
  type MigrationRecord,
  type Part,
} from '../../../core/migrations/steps.js';
import type { SessionProjection } from '../../../jobs/store/projection.js';
import { readRewards } from '../../deployment/store/gate.js';
import type { Tx } from '../../../platform/db/db.js';

const kindOfPart = (part: Part): JobKind & ('session' | 'evaluation') =>
  part === 'session' ? 'session' : 'evaluation';

/** The id of a job of a migration. */
export const partId = (migrationId: string, part: Part): string =>
  childJobId(kindOfPart(part), migrationId, partNumbers[part]);

/** A job of a migration, as far as it is stored. */
export interface PartRow extends Record<string, unknown> {
  id: string;
  status: Status;
  projection: SessionProjection;
}

/** The stored jobs of a migration, by their parts. */
export async function readParts(tx: Tx, migrationId: string): Promise<Map<Part, PartRow>> {
  const ids = partNames.map((part) => [partId(migrationId, part), part] as const);
  const parts = new Map(ids);
  const rows = await tx.query<PartRow>('select id, status, projection from jobs where id = any($1) and not deleted', [
    [...parts.keys()],
  ]);
  return new Map(rows.map((row) => [parts.get(row.id)!, row]));
}

/** What is known of a migration, from its jobs that have completed. */
export async function readRecord(tx: Tx, migrationId: string, spec: MigrationSpec): Promise<MigrationRecord> {
  const completed = [...(await readParts(tx, migrationId))].filter(([, { status }]) => status === 'completed');
  const session = completed.find(([part]) => part === 'session')?.[1];
  const measured: [EvaluationPart, (number | null)[]][] = [];
  for (const [part, { id }] of completed) {
    if (part !== 'session') measured.push([part, await readRewards(tx, id)]);
  }
  const { maxLoss, optimize, gate } = spec;
  return {
    maxLoss,
    optimize,
    seeds: gate.seeds,
    rewards: Object.fromEntries(measured),
    session: session ? { winner: winnerOf(session) } : null,
  };
}

function winnerOf({ id, projection }: PartRow): string | null {
  const { bestCandidateId: best = null, baselineCandidateId } = projection;
  return best === (baselineCandidateId ?? candidateId(id, 0)) ? null : best;
}
