import { nextStep, verdictOf, type CheckupStep } from '../../src/core/checkups/steps.js';
import { checkupJudged, checkupStep } from '../../src/core/events/checkups.js';
import { endEvents } from '../../src/core/events/jobs.js';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import type { CheckupSpec } from '../../src/core/jobs/spec.js';
import { finishJob, writeDecision } from '../../src/jobs/store/decisions/record.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { CheckupProjection } from '../../src/jobs/store/projection.js';
import { readSpec } from '../../src/jobs/store/spec.js';
import { readBaselines } from '../../src/kinds/checkup/store/baselines.js';
import {
  insertCheckupPart,
  insertWinner,
  whyNotDeployable,
  type KnownCheckup,
} from '../../src/kinds/checkup/store/jobs.js';
import { partId, readRecord, type Begun } from '../../src/kinds/checkup/store/record.js';
import type { Tx } from '../../src/platform/db/db.js';
import { closeJob, type Ending } from '../close-job.js';
import type { ActivityDeps } from '../deps.js';
import { endedWith, noteRunning, readKey, readProjection, runPart, tracePart, type Advanced } from '../jobs/parts.js';
import { lockOwnJob, lockOwnOpenJob } from '../own-job.js';

export function checkupActivities(deps: ActivityDeps) {
  const { db, metrics } = deps;
  return {
    /**
     * Takes the next step of a checkup from its record: stores the job to run, or the answer with
     * its deployment. A repeated call answers the same.
     */
    async advanceCheckup(job: JobRef): Promise<Advanced> {
      const { advanced, isClosed } = await db.org(job.orgId, async (tx) => {
        const spec = await readSpec<CheckupSpec>(tx, job.jobId);
        // An earlier attempt ended it, and its result was lost.
        if ((await lockOwnJob(tx, job)).status === 'completed') {
          const { deploymentId } = await readProjection<CheckupProjection>(tx, job);
          return { advanced: endedWith(spec.name, deploymentId), isClosed: false };
        }
        const { status } = await lockOwnOpenJob(tx, job);
        const begun = await begin(tx, job, spec);
        const record = await readRecord(tx, job.jobId, spec, begun);
        const checkup: KnownCheckup = { ...job, spec, record };
        const step = nextStep(record);
        if (step.run === null) return conclude(tx, checkup, step);
        await noteRunning(tx, job);
        const id = partId(job.jobId, step.run);
        if (await insertCheckupPart(tx, checkup, step.run)) await tracePart(tx, job, id);
        const events = [...checkupJudged(step.judged), checkupStep(step.run, id)];
        await writeDecision(tx, job, { projection: { ...begun, judged: step.judged }, events }, status);
        const algorithm = step.run === 'session' ? spec.improve!.session.search.algorithm : 'none';
        return { advanced: runPart(step.run, id, { name: spec.name, algorithm }), isClosed: false };
      });
      if (isClosed) metrics.jobEnded('checkup', 'completed');
      return advanced;
    },

    /** Closes a checkup; returns its end on record, which may be an earlier one. */
    closeCheckup: ({ ending, ...job }: JobRef & { ending: Ending }): Promise<JobOutcome> =>
      closeJob(deps, 'checkup', job, ending),
  };
}

/** What the first step has fixed, else fixes. */
async function begin(tx: Tx, job: JobRef, spec: CheckupSpec): Promise<Begun> {
  const { baselines, number } = await readProjection<CheckupProjection>(tx, job);
  return baselines && number !== undefined ? { baselines, number } : readBaselines(tx, job, spec);
}

/** Ends a checkup with its answer, and stores the deployment that was asked for. */
async function conclude(tx: Tx, checkup: KnownCheckup, { judged }: CheckupStep) {
  const { spec } = checkup;
  const { improvement } = judged;
  const isBetter = improvement?.verdict === 'better';
  const projection: CheckupProjection = {
    judged,
    ...(isBetter && spec.improve!.deploy && (await deployed(tx, checkup, spec.improve!.deploy))),
  };
  const note = `${verdictOf(judged)}${improvement ? `, and the winner of the search is ${improvement.verdict}` : ''}`;
  const isClosed = await finishJob(tx, checkup, {
    status: 'completed',
    stoppedBy: 'completed',
    error: null,
    projection,
    accepted: [],
    events: [...checkupJudged(judged), ...endEvents('checkup', { status: 'completed' }, { note })],
  });
  return { advanced: endedWith(spec.name, projection.deploymentId), isClosed };
}

type Deploy = NonNullable<NonNullable<CheckupSpec['improve']>['deploy']>;

/** What becomes of a better winner. */
async function deployed(
  tx: Tx,
  checkup: KnownCheckup,
  { requireApproval }: Deploy,
): Promise<Pick<CheckupProjection, 'deploymentId' | 'notDeployed' | 'approval'>> {
  const { spec, record } = checkup;
  const obstacle = await whyNotDeployable(tx, spec);
  if (obstacle) return { notDeployed: obstacle.reason };
  if (requireApproval) return { approval: 'pending' };
  const winner = record.session!.winner!;
  return { deploymentId: await insertWinner(tx, checkup, spec, { winner, keyId: await readKey(tx, checkup) }) };
}
