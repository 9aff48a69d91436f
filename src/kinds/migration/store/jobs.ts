/** The jobs that a migration starts. */
import type { DeploymentSource, EvaluationSpec, MigrationSpec } from '../../../core/jobs/spec.js';
import { changedSeeds } from '../../../core/math/repeated-pairs.js';
import {
  ranBy,
  repeatedSide,
  type EvaluationPart,
  type MigrationRecord,
  type Part,
  type Side,
} from '../../../core/migrations/steps.js';
import type { JobRef } from '../../../jobs/store/events.js';
import { frozenEvaluation } from '../../deployment/store/gate.js';
import { insertFound, insertPart, readPrompt } from '../../deployment/store/parts.js';
import { policyFromSnapshot } from '../../deployment/contract/snapshot.js';
import type { Tx } from '../../../platform/db/db.js';
import { partId, readParts } from './record.js';

/** A migration with what is known of it. */
export interface KnownMigration extends JobRef {
  spec: MigrationSpec;
  record: MigrationRecord;
}

/** The prompt on the new model that a side stands for. */
function sourceOf({ jobId, spec, record }: KnownMigration, side: Side): DeploymentSource {
  const { deploymentId, snapshotId, policy } = spec;
  if (side === 'same_prompt') return { kind: 'deployment', deploymentId, snapshotId, policy };
  return { kind: 'session', jobId: partId(jobId, 'session'), candidateId: record.session!.winner! };
}

/** Stores a job of a migration. False: it exists. */
export function insertMigrationPart(tx: Tx, migration: KnownMigration, part: Part): Promise<boolean> {
  const { orgId, jobId, spec } = migration;
  const { name, maxCostUsd, session } = spec;
  const specOf = async () => (part === 'session' ? session! : evaluationOf(tx, migration, part));
  return insertPart(tx, jobId, { partId, readParts }, { part, orgId, name, maxCostUsd, specOf });
}

async function evaluationOf(tx: Tx, migration: KnownMigration, part: EvaluationPart): Promise<EvaluationSpec> {
  const { spec, record } = migration;
  const by = ranBy(part);
  const again = repeatedSide(part);
  const { today, [again ?? 'same_prompt']: candidate } = record.rewards;
  const content = await readPrompt(tx, by === 'optimized' ? sourceOf(migration, by) : spec.snapshotId);
  return frozenEvaluation(spec, {
    policy: by === 'today' ? policyFromSnapshot(content.policy) : spec.policy,
    content,
    snapshotId: null,
    repeated: again && changedSeeds({ candidate: candidate!, incumbent: today! }),
  });
}

/** Stores the deployment of a side. */
export function insertDeploymentOf(
  tx: Tx,
  migration: KnownMigration,
  { side, keyId }: { side: Side; keyId: string | null },
): Promise<string> {
  const { orgId, spec } = migration;
  const { reason, canary } = spec.deploy!;
  return insertFound(tx, orgId, {
    name: spec.name,
    source: sourceOf(migration, side),
    canary,
    reason: reason ?? `Migration ${migration.jobId}`,
    keyId,
  });
}
