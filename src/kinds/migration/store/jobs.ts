/** The jobs that a migration starts. */
import { workflowId } from '../../../core/jobs/kinds.js';
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
import { hasJob, insertJob, newJobId, type NewJob } from '../../../jobs/store/jobs.js';
import { insertDeployment } from '../../deployment/store/deployments.js';
import { frozenEvaluation } from '../../deployment/store/gate.js';
import { readContent, readSnapshot } from '../../deployment/store/snapshots.js';
import { policyFromSnapshot, type SnapshotContent } from '../../deployment/contract/snapshot.js';
import type { Tx } from '../../../platform/db/db.js';
import { partId } from './record.js';

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
export async function insertPart(tx: Tx, migration: KnownMigration, part: Part): Promise<boolean> {
  const { orgId, spec } = migration;
  const jobId = partId(migration.jobId, part);
  if (await hasJob(tx, { jobId })) return false;
  const { session } = spec;
  const kind = part === 'session' ? 'session' : 'evaluation';
  const labels = { name: spec.name, tags: [], metadata: {}, notes: null };
  const job: Omit<NewJob, 'spec'> = {
    orgId,
    jobId,
    kind,
    workflowId: workflowId(kind, jobId),
    keyId: null,
    algorithm: part === 'session' ? session!.search.algorithm : null,
    correlationId: null,
    labels,
  };
  await insertJob(tx, { ...job, spec: part === 'session' ? session! : await evaluationOf(tx, migration, part) });
  return true;
}

async function evaluationOf(tx: Tx, migration: KnownMigration, part: EvaluationPart): Promise<EvaluationSpec> {
  const { spec, record } = migration;
  const by = ranBy(part);
  const again = repeatedSide(part);
  const { today, [again ?? 'same_prompt']: candidate } = record.rewards;
  const content = await contentOf(tx, migration, by);
  return frozenEvaluation(spec, {
    policy: by === 'today' ? policyFromSnapshot(content.policy) : spec.policy,
    content,
    snapshotId: null,
    repeated: again && changedSeeds({ candidate: candidate!, incumbent: today! }),
  });
}

/** The prompt of an evaluation. */
async function contentOf(tx: Tx, migration: KnownMigration, by: 'today' | Side) {
  const content: SnapshotContent | null =
    by === 'optimized'
      ? await readContent(tx, sourceOf(migration, by))
      : ((await readSnapshot(tx, migration.spec.snapshotId))?.content ?? null);
  if (content?.kind !== 'messages') throw new TypeError(`The prompt of ${migration.jobId} is gone.`);
  return content;
}

/** Stores the deployment of a side; the caller starts its workflow, else the reconciler does. */
export async function insertDeploymentOf(
  tx: Tx,
  migration: KnownMigration,
  { side, keyId }: { side: Side; keyId: string | null },
): Promise<string> {
  const { orgId, spec } = migration;
  const { name } = spec;
  const jobId = newJobId('deployment');
  const reason = spec.deploy?.reason ?? `Migration ${migration.jobId}`;
  await insertJob(tx, {
    orgId,
    jobId,
    kind: 'deployment',
    workflowId: workflowId('deployment', jobId),
    keyId,
    algorithm: null,
    correlationId: null,
    spec: {
      kind: 'deployment',
      name,
      source: sourceOf(migration, side),
      container: null,
      gate: null,
      ...(spec.deploy?.canary && { canary: spec.deploy.canary }),
    },
  });
  await insertDeployment(tx, { orgId, jobId }, { name, reason });
  return jobId;
}
