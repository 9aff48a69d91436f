import type { NewEvent } from '../../src/core/events/event.js';
import { endEvents } from '../../src/core/events/jobs.js';
import { migrationJudged, migrationStep } from '../../src/core/events/migrations.js';
import { jobKinds, kindOf } from '../../src/core/jobs/kinds.js';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import type { MigrationSpec } from '../../src/core/jobs/spec.js';
import { nextStep, sides, type MigrationStep, type Part, type Side } from '../../src/core/migrations/steps.js';
import { finishJob, writeDecision } from '../../src/jobs/store/decisions/record.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { MigrationProjection } from '../../src/jobs/store/projection.js';
import { readSpec } from '../../src/jobs/store/spec.js';
import { insertTrace, readTrace } from '../../src/jobs/store/traces.js';
import { readLive } from '../../src/kinds/deployment/store/served.js';
import { insertDeploymentOf, insertPart, type KnownMigration } from '../../src/kinds/migration/store/jobs.js';
import { partId, readRecord } from '../../src/kinds/migration/store/record.js';
import type { Tx } from '../../src/platform/db/db.js';
import { jobSpan } from '../../src/tracing/spans.js';
import { closeJob, type Ending } from '../close-job.js';
import type { ActivityDeps } from '../deps.js';
import { lockOwnJob, lockOwnOpenJob } from '../own-job.js';

/** A job that a migration runs. */
export interface MigrationJob {
  part: Part;
  jobId: string;
  algorithm: string;
  /** The name that the migration is of. */
  name: string;
  title: string;
}

/** `deployment`: its id where one is to be started. */
export type Advanced =
  { kind: 'run'; job: MigrationJob } | { kind: 'ended'; deployment: { jobId: string; name: string } | null };

export function migrationActivities(deps: ActivityDeps) {
  const { db, metrics } = deps;
  return {
    /**
     * Takes the next step of a migration from its record: stores the job to run, or the answer
     * with its deployment. A repeated call answers the same.
     */
    async advanceMigration(job: JobRef): Promise<Advanced> {
      const { advanced, isClosed } = await db.org(job.orgId, async (tx) => {
        const spec = await readSpec<MigrationSpec>(tx, job.jobId);
        // An earlier attempt ended it, and its result was lost.
        if ((await lockOwnJob(tx, job)).status === 'completed')
          return { advanced: ended(spec, (await readProjection(tx, job)).deploymentId), isClosed: false };
        const { status } = await lockOwnOpenJob(tx, job);
        const record = await readRecord(tx, job.jobId, spec);
        const migration: KnownMigration = { ...job, spec, record };
        const step = nextStep(record);
        const judged = sides.flatMap((side) => {
          const found = step.judged[side];
          return found ? [migrationJudged(side, found, spec.maxLoss)] : [];
        });
        const { next } = step;
        if (next.kind === 'conclude')
          return conclude(tx, migration, { judged: step.judged, side: next.side, events: judged });
        await tx.query(
          'update jobs set started_at = coalesce(started_at, now()), workflow_started = true where id = $1',
          [job.jobId],
        );
        await openPart(tx, migration, next.part);
        const begun = migrationStep(next.part, partId(job.jobId, next.part));
        await writeDecision(tx, job, { projection: { judged: step.judged }, events: [...judged, begun] }, status);
        return { advanced: { kind: 'run' as const, job: jobOf(migration, next.part) }, isClosed: false };
      });
      if (isClosed) metrics.jobEnded('migration', 'completed');
      return advanced;
    },

    /** Closes a migration; returns its end on record, which may be an earlier one. */
    closeMigration: ({ ending, ...job }: JobRef & { ending: Ending }): Promise<JobOutcome> =>
      closeJob(deps, 'migration', job, ending),
  };
}

async function readProjection(tx: Tx, { jobId }: JobRef): Promise<MigrationProjection> {
  const [row] = await tx.query<{ projection: MigrationProjection }>('select projection from jobs where id = $1', [
    jobId,
  ]);
  return row!.projection;
}

/** Stores a job of a migration, with a span below that of the migration. */
async function openPart(tx: Tx, migration: KnownMigration, part: Part): Promise<void> {
  const { orgId } = migration;
  const jobId = partId(migration.jobId, part);
  const isNew = await insertPart(tx, migration, part);
  const trace = isNew && (await readTrace(tx, migration.jobId));
  if (trace) await insertTrace(tx, { orgId, jobId }, { ...trace, parentId: jobSpan(trace).spanId });
}

function jobOf({ jobId, spec }: KnownMigration, part: Part): MigrationJob {
  const id = partId(jobId, part);
  const algorithm = part === 'session' ? spec.session!.search.algorithm : 'none';
  return { part, jobId: id, algorithm, name: spec.name, title: jobKinds[kindOf(id)!].title(algorithm) };
}

const ended = ({ name }: MigrationSpec, deploymentId: string | undefined): Advanced => ({
  kind: 'ended',
  deployment: deploymentId === undefined ? null : { jobId: deploymentId, name },
});

type Answer = Pick<MigrationStep, 'judged'> & { side: Side; events: NewEvent[] };

/** Ends a migration with its answer, and stores the deployment that was asked for. */
async function conclude(tx: Tx, migration: KnownMigration, { side, judged, events }: Answer) {
  const { spec } = migration;
  const { verdict } = judged[side]!;
  const projection: MigrationProjection = { judged, side };
  if (spec.deploy && verdict === 'no_worse') {
    const live = await readLive(tx, spec.name);
    if (live?.id === spec.deploymentId) {
      const keyId = await readKey(tx, migration);
      projection.deploymentId = await insertDeploymentOf(tx, migration, { side, keyId });
    } else {
      const now = live ? `serves ${live.id}` : 'serves nothing';
      projection.notDeployed = `${spec.name} ${now} by now, and the migration compared with ${spec.deploymentId}. Migrate again.`;
    }
  }
  const note = `${verdict} within ${spec.maxLoss}`;
  const isClosed = await finishJob(tx, migration, {
    status: 'completed',
    stoppedBy: 'completed',
    error: null,
    projection,
    accepted: [],
    events: [...events, ...endEvents('migration', { status: 'completed' }, { note })],
  });
  return { advanced: ended(spec, projection.deploymentId), isClosed };
}

async function readKey(tx: Tx, { jobId }: JobRef): Promise<string | null> {
  const [row] = await tx.query<{ key: string | null }>('select key_id as key from jobs where id = $1', [jobId]);
  return row!.key;
}
