/** Makes the jobs of due runs. It is the API's work: only routes check what a job needs. */
import { isDeepStrictEqual } from 'node:util';
import { decideRun, type RunDecision } from '../../core/schedules/run.js';
import { newJob, startInTime, storeJob, whyUnstartable, type JobDraft } from '../../jobs/routes/create.js';
import type { NewJob } from '../../jobs/store/jobs.js';
import type { Tx } from '../../platform/db/db.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { toApiError, type ApiError } from '../../platform/http/server/errors.js';
import { startRepeating, type Repeating } from '../../util/repeating.js';
import {
  dropRun,
  hasOpenRun,
  isDue,
  jobIdOf,
  leaseRun,
  markEnded,
  markStarted,
  readOpenRuns,
  releaseRun,
  settleRuns,
  wasToldThisMonth,
  type OpenRun,
  type RunRow,
} from '../store/runs.js';
import { lockSchedule, readSchedule, type ScheduleRow } from '../store/schedules.js';
import { budgetOf, draftRun } from './draft-run.js';

const everyMs = 1_000;
const batch = 100;
/** A process that was killed leaves its run to the next one after this time. */
const leaseS = 30;

/** A run under the lease of this process, with the schedule that it read. */
interface Taken {
  run: RunRow;
  schedule: ScheduleRow;
  decision: RunDecision;
}

/** Makes the jobs of due runs, and counts what ended ones have cost, until it is stopped. */
export function startDueRuns(deps: HttpDeps): Repeating {
  return startRepeating(
    (stopping) => pass(deps, stopping),
    everyMs,
    (err) => deps.log.warn({ err }, 'runs of schedules not read; retrying'),
  );
}

async function pass(deps: HttpDeps, stopping: AbortSignal): Promise<void> {
  for (const open of await deps.db.worker((tx) => readOpenRuns(tx, batch))) {
    if (stopping.aborted) return;
    const work = open.status === 'due' ? openRun(deps, open) : settle(deps, open);
    await work.catch((err: Error) =>
      deps.log.warn({ err, schedule_id: open.scheduleId, run_id: open.runId }, 'run of a schedule not ready; retrying'),
    );
  }
}

/** Counts the jobs that have ended. */
async function settle({ db }: HttpDeps, { orgId, scheduleId }: OpenRun): Promise<void> {
  await db.org(orgId, async (tx) => {
    if (await lockSchedule(tx, scheduleId)) await settleRuns(tx, scheduleId);
  });
}

/** Makes the job of a due run, or notes why it has none. */
async function openRun(deps: HttpDeps, open: OpenRun): Promise<void> {
  const taken = await deps.db.org(open.orgId, (tx) => take(tx, open));
  if (!taken) return;
  const { schedule, decision } = taken;
  if (decision.kind === 'skip') return end(deps, taken, { ...decision, status: 'skipped' });
  const unstartable = await whyUnstartable(deps);
  if (unstartable) throw unstartable;
  const owner = { orgId: schedule.orgId, keyId: schedule.keyId };
  try {
    const { name, spec } = schedule;
    const draft = await draftRun(deps, owner, { id: schedule.scheduleId, name, spec }, decision.budgetUsd);
    const job = newJob(deps, owner, draft, jobIdOf(taken.run.runId, draft.kind));
    if (await store(deps, taken, draft, job)) await startInTime(deps, job);
  } catch (thrown) {
    const refusal = toApiError(thrown);
    // The service cannot say now whether the job can be made.
    if (refusal.status >= 500 && refusal.code !== 'internal') throw thrown;
    if (refusal.code === 'internal')
      deps.log.error({ err: thrown, run_id: taken.run.runId }, 'internal error in a run');
    await end(deps, taken, { status: 'refused', code: refusal.code, detail: detailOf(refusal) });
  }
}

const detailOf = ({ code, message }: ApiError) =>
  code === 'internal' ? 'Internal error; see the log of the API.' : message;

/** Takes a due run for this process; null: there is nothing to do. */
async function take(tx: Tx, { runId, scheduleId }: OpenRun): Promise<Taken | null> {
  const run = await leaseRun(tx, runId, leaseS);
  const schedule = run && (await lockSchedule(tx, scheduleId));
  if (!run || !schedule) return null;
  if (schedule.paused && !run.manual) {
    await dropRun(tx, runId);
    return null;
  }
  return { run, schedule, decision: await decide(tx, scheduleId) };
}

/** What becomes of a run of a schedule that is locked. */
async function decide(tx: Tx, scheduleId: string): Promise<RunDecision> {
  await settleRuns(tx, scheduleId);
  const { spec, spentUsd } = (await readSchedule(tx, scheduleId))!;
  return decideRun({
    isOpen: await hasOpenRun(tx, scheduleId),
    monthUsd: spec.max_cost_usd_per_month ?? null,
    spentUsd,
    jobUsd: budgetOf(spec),
  });
}

/** Stores the job of a run with it. Whether it did: what the job follows from may have changed. */
async function store(deps: HttpDeps, taken: Taken, draft: JobDraft, job: NewJob): Promise<boolean> {
  const { run, schedule, decision } = taken;
  return deps.db.org(job.orgId, async (tx) => {
    const now = await lockSchedule(tx, schedule.scheduleId);
    if (!now || !(await isDue(tx, run.runId))) return false;
    const isSame = now.version === schedule.version && isDeepStrictEqual(await decide(tx, now.scheduleId), decision);
    if (!isSame || decision.kind !== 'start') {
      await releaseRun(tx, run.runId);
      return false;
    }
    await storeJob(tx, deps, job, draft, deps.tracing?.begin(null));
    await markStarted(tx, run.runId, { jobId: job.jobId, budgetUsd: decision.budgetUsd });
    return true;
  });
}

interface Ended {
  status: 'skipped' | 'refused';
  code: string;
  detail: string;
}

/** Notes why a run has no job. A month whose dollars are spent is told of once. */
async function end({ db, log }: HttpDeps, { run, schedule }: Taken, ended: Ended): Promise<void> {
  const { runId, scheduleId, manual } = run;
  const isTold = await db.org(schedule.orgId, async (tx) => {
    const isKnown =
      ended.code === 'month_budget_spent' && !manual && (await wasToldThisMonth(tx, scheduleId, ended.code));
    if (isKnown) await dropRun(tx, runId);
    else await markEnded(tx, runId, ended);
    return !isKnown;
  });
  if (!isTold) return;
  const { code, detail } = ended;
  log.warn({ schedule_id: scheduleId, run_id: runId, code, reason: detail }, `run of a schedule ${ended.status}`);
}
