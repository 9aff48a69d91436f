import type { MigrationSpec } from '../../../core/jobs/spec.js';
import { partNumbers, type MigrationRecord } from '../../../core/migrations/steps.js';
import { partsOf, readResults } from '../../deployment/store/parts.js';
import type { Tx } from '../../../platform/db/db.js';

export const { partId, readParts } = partsOf(partNumbers);

/** What is known of a migration, from its jobs that have completed. */
export async function readRecord(tx: Tx, migrationId: string, spec: MigrationSpec): Promise<MigrationRecord> {
  const { maxLoss, optimize, gate } = spec;
  return { maxLoss, optimize, seeds: gate.seeds, ...(await readResults(tx, await readParts(tx, migrationId))) };
}
