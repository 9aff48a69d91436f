import { Context } from '@temporalio/activity';
import { setTimeout as delay } from 'node:timers/promises';
import { stepsOf, type CanaryPlan } from '../../src/core/deployments/canary/plan.js';
import {
  beginCanary,
  beginStep,
  lookAtCanary,
  type Counts,
  type CanaryDecision,
  type CanarySeen,
  type CanaryState,
} from '../../src/core/deployments/canary/canary.js';
import {
  evidenceOf,
  promotionReason,
  rollBackReason,
  canaryDecided,
  canaryStep,
  canaryWaits,
} from '../../src/core/events/canary.js';
import type { DeploymentSpec } from '../../src/core/jobs/spec.js';
import { appendEvents, type JobRef } from '../../src/jobs/store/events.js';
import { readSpec } from '../../src/jobs/store/spec.js';
import { byService, lockName, promote } from '../../src/kinds/deployment/store/names.js';
import {
  endCanary,
  insertCanary,
  readCounts,
  readCanary,
  updateCanary,
  type Canary,
} from '../../src/kinds/deployment/store/canaries.js';
import { takeValues } from '../../src/kinds/deployment/store/canary-values.js';
import { readLive } from '../../src/kinds/deployment/store/served.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { ActivityDeps } from '../deps.js';
import { jobFailure } from '../errors.js';
import { lockOpenJob } from '../jobs/spec.js';
import { withHeartbeat } from '../heartbeat.js';
import { Watch } from '../watch/watch.js';
import { closeLive } from './close-live.js';
import { requireUndeleted } from './undeleted.js';

const lookEveryMs = 1_000;
/** An attempt of the activity; shorter than its time-out. */
const longestFollowMs = 10 * 3_600_000;
/** The time of a step is stored this often, beside all else that changes. */
const storeEveryMs = 30_000;

export function canaryActivities(deps: ActivityDeps) {
  const { db, metrics, draining } = deps;
  return {
    /**
     * Looks at a canary until something else than `seen` can be shown (null: nothing was), or the
     * worker ends. `live`: it ended with the deployment live. Rejects where it was rolled back.
     */
    followCanary: ({ seen, ...job }: JobRef & { seen: CanarySeen | null }): Promise<CanarySeen | 'live'> => {
      const watch = new Watch(deps, job, 'followCanary');
      const until = Date.now() + longestFollowMs;
      return withHeartbeat(async () => {
        const signal = Context.current().cancellationSignal;
        for (;;) {
          const found = await watch.line.call(db.org(job.orgId, (tx) => look(tx, job)));
          if (found === 'live') {
            const isClosed = await watch.line.call(db.org(job.orgId, (tx) => closeLive(tx, job)));
            if (isClosed) metrics.jobEnded('deployment', 'completed');
            return found;
          }
          if (typeof found === 'string')
            throw jobFailure('canary_rolled_back', `${found} Its name serves what it served before.`);
          const isNews = JSON.stringify(found) !== JSON.stringify(seen);
          if (isNews || draining.aborted || Date.now() > until) return found;
          await delay(lookEveryMs, undefined, { signal });
        }
      }, watch);
    },
  };
}

/**
 * Begins the canary of a deployment that was built; the caller holds its job's lock. `nothing`: its
 * name serves nothing that it could take requests from. `moved`: as `promote`.
 */
export async function beginCanaryOf(
  tx: Tx,
  job: JobRef,
  { name, plan, judgedAgainst }: { name: string; plan: CanaryPlan; judgedAgainst: string | null | undefined },
): Promise<'begun' | 'nothing' | 'moved'> {
  if (await readCanary(tx, job.jobId)) return 'begun';
  await lockName(tx, name);
  await requireUndeleted(tx, job);
  const live = await readLive(tx, name);
  if (judgedAgainst !== undefined && (live?.id ?? null) !== judgedAgainst) return 'moved';
  if (!live) return 'nothing';
  const [step] = stepsOf(plan);
  if (!step) return 'nothing';
  const ids = { liveId: live.id, deploymentId: job.jobId };
  const state = beginCanary(Date.now(), await readCounts(tx, ids, step.isShadow));
  const { metric, stickyBy } = plan;
  if (!(await insertCanary(tx, job.orgId, { ...ids, ...step, name, metric, stickyBy }, state)))
    throw jobFailure(
      'canary_in_progress',
      `Another version of ${name} is being rolled out. Its name serves what it served before.`,
    );
  // From now on it answers, also by its id.
  await tx.query('update deployments set live_at = now() where id = $1', [job.jobId]);
  await appendEvents(tx, job, [canaryStep(plan, 0, null)]);
  return 'begun';
}

/** `live`: promoted. A text: why it was rolled back. */
type Found = CanarySeen | 'live' | string;

async function look(tx: Tx, job: JobRef): Promise<Found> {
  await lockOpenJob(tx, job);
  const { name, canary: plan } = await readSpec<DeploymentSpec>(tx, job.jobId);
  await lockName(tx, name);
  await requireUndeleted(tx, job);
  const canary = await readCanary(tx, job.jobId);
  if (!canary || !plan)
    throw jobFailure(
      'record_lost',
      `The canary of ${job.jobId} is missing: the database was restored from an older backup. Create the deployment again.`,
      true,
    );
  if (canary.status === 'promoted') return 'live';
  if (canary.status === 'rolled_back') return canary.reason!;
  const live = await readLive(tx, name);
  if (live?.id === job.jobId) return takenByHand(tx, job, canary);
  if (!live || live.id !== canary.liveId) return overtaken(tx, job, canary);
  return decide(tx, job, { plan, canary, liveId: live.id });
}

interface Looking {
  plan: CanaryPlan;
  canary: Canary;
  liveId: string;
}

async function decide(tx: Tx, job: JobRef, { plan, canary, liveId }: Looking): Promise<Found> {
  const { deploymentId, status, isShadow, state: before } = canary;
  const ids = { liveId, deploymentId };
  const counts = await readCounts(tx, ids, isShadow);
  const values = await takeValues(tx, deploymentId);
  const { state, decision } = lookAtCanary(plan, before, { atMs: Date.now(), counts, values }, status === 'running');
  const evidence = evidenceOf(state, counts);
  const about = { metric: plan.metric, evidence };
  if (decision.is === 'promote') {
    const reason = promotionReason(decision.by, about);
    const found = await promote(tx, job, { judgedAgainst: liveId, canary: { ...byService, reason } });
    if (found !== 'promoted') return overtaken(tx, job, canary);
    await updateCanary(tx, deploymentId, { state });
    await endCanary(tx, deploymentId, { status: 'promoted', reason, evidence });
    await appendEvents(tx, job, [canaryDecided({ outcome: 'promoted', by: decision.by, evidence }, reason)]);
    return 'live';
  }
  if (decision.is === 'roll_back') {
    const reason = rollBackReason(decision.cause, about);
    await updateCanary(tx, deploymentId, { state });
    await endCanary(tx, deploymentId, { status: 'rolled_back', reason, evidence });
    await appendEvents(tx, job, [canaryDecided({ outcome: 'rolled_back', by: decision.cause.by, evidence }, reason)]);
    return reason;
  }
  return goOn(tx, job, { plan, canary, liveId }, { state, decision, counts, values: values.length });
}

interface Looked {
  state: CanaryState;
  decision: CanaryDecision;
  counts: Counts;
  values: number;
}

/** Stores what a look that does not end the canary has changed. */
async function goOn(
  tx: Tx,
  job: JobRef,
  { plan, canary, liveId }: Looking,
  { state, decision, counts, values }: Looked,
): Promise<Found> {
  const { deploymentId, status, state: before } = canary;
  const evidence = evidenceOf(state, counts);
  if (decision.is === 'step') {
    const share = stepsOf(plan)[decision.step]!;
    const base = await readCounts(tx, { liveId, deploymentId }, share.isShadow);
    await updateCanary(tx, deploymentId, { state: beginStep(state, decision.step, base), share });
    await appendEvents(tx, job, [canaryStep(plan, decision.step, evidence)]);
    return shown(status, decision.step, share);
  }
  const share = { percent: canary.percent, isShadow: canary.isShadow };
  if (decision.is === 'await_approval') {
    await updateCanary(tx, deploymentId, { state, status: 'awaiting_approval' });
    await appendEvents(tx, job, [canaryWaits(state.step, 'approval', evidence)]);
    return shown('awaiting_approval', state.step, share);
  }
  const hasChanged = values > 0 || state.looks !== before.looks || state.waits !== before.waits;
  const isDue = status === 'running' && state.atMs - before.atMs >= storeEveryMs;
  if (hasChanged || isDue) await updateCanary(tx, deploymentId, { state });
  if (decision.is === 'stay' && decision.waits)
    await appendEvents(tx, job, [canaryWaits(state.step, decision.waits, evidence)]);
  return shown(status, state.step, share);
}

function shown(status: Canary['status'], step: number, { percent, isShadow }: { percent: number; isShadow: boolean }) {
  return { status: status as CanarySeen['status'], step: step + 1, percent, isShadow };
}

/** Ends a canary that got the label `production` by hand. */
async function takenByHand(tx: Tx, job: JobRef, { deploymentId, state }: Canary): Promise<'live'> {
  const reason = 'Promoted by hand: its name got the label production.';
  const evidence = evidenceOf(state, state.base);
  await endCanary(tx, deploymentId, { status: 'promoted', reason, evidence });
  await appendEvents(tx, job, [canaryDecided({ outcome: 'promoted', by: 'person', evidence }, reason)]);
  return 'live';
}

/** Ends a canary whose name serves another version by now. */
async function overtaken(tx: Tx, job: JobRef, canary: Canary): Promise<string> {
  const reason = `Rolled back: ${canary.name} serves another version than at the begin of the canary.`;
  const { deploymentId, state } = canary;
  const evidence = evidenceOf(state, state.base);
  await endCanary(tx, deploymentId, { status: 'rolled_back', reason, evidence });
  await appendEvents(tx, job, [canaryDecided({ outcome: 'rolled_back', by: 'overtaken', evidence }, reason)]);
  return reason;
}
