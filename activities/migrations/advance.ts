import type { NewEvent } from '../../src/core/events/event.js';
import { endEvents } from '../../src/core/events/jobs.js';
import { migrationJudged, migrationStep } from '../../src/core/events/migrations.js';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import type { MigrationSpec } from '../../src/core/jobs/spec.js';
import { nextStep, sides, type MigrationStep, type Side } from '../../src/core/migrations/steps.js';
import { finishJob, writeDecision } from '../../src/jobs/store/decisions/record.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { MigrationProjection } from '../../src/jobs/store/projection.js';
import { readSpec } from '../../src/jobs/store/spec.js';
import { readLive } from '../../src/kinds/deployment/store/served.js';
import { insertDeploymentOf, insertMigrationPart, type KnownMigration } from '../../src/kinds/migration/store/jobs.js';
import { partId, readRecord } from '../../src/kinds/migration/store/record.js';
import type { Tx } from '../../src/platform/db/db.js';
import { closeJob, type Ending } from '../close-job.js';
import type { ActivityDeps } from '../deps.js';
import { endedWith, noteRunning, readKey, readProjection, runPart, tracePart, type Advanced } from '../jobs/parts.js';
import { lockOwnJob, lockOwnOpenJob } from '../own-job.js';

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
        if ((await lockOwnJob(tx, job)).status === 'completed') {
          const { deploymentId } = await readProjection<MigrationProjection>(tx, job);
          return { advanced: endedWith(spec.name, deploymentId), isClosed: false };
        }
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
        await noteRunning(tx, job);
        const { part } = next;
        const id = partId(job.jobId, part);
        if (await insertMigrationPart(tx, migration, part)) await tracePart(tx, job, id);
        const events = [...judged, migrationStep(part, id)];
        await writeDecision(tx, job, { projection: { judged: step.judged }, events }, status);
        const algorithm = part === 'session' ? spec.session!.search.algorithm : 'none';
        return { advanced: runPart(part, id, { name: spec.name, algorithm }), isClosed: false };
      });
      if (isClosed) metrics.jobEnded('migration', 'completed');
      return advanced;
    },

    /** Closes a migration; returns its end on record, which may be an earlier one. */
    closeMigration: ({ ending, ...job }: JobRef & { ending: Ending }): Promise<JobOutcome> =>
      closeJob(deps, 'migration', job, ending),
  };
}

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
  return { advanced: endedWith(spec.name, projection.deploymentId), isClosed };
}
