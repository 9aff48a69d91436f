import type { Tx } from '../../platform/db/db.js';
import { readQuotaRefused, readRefused } from '../../jobs/store/cost-budget.js';
import { appendEventsOf, lockControls, type LockMode } from '../../jobs/store/events.js';
import { renewAndClaim } from './claims.js';
import { JobInExchange, type JobExchange, type SyncResult } from './job-exchange.js';
import { countDistinct } from './outcome-counts.js';
import { expireAwaiting, writeOutcomes } from './outcomes.js';

export type { Claim } from './claims.js';
export type { CompletedRollouts, JobExchange, RunnerEnd, SyncResult, WantedSlots } from './job-exchange.js';

/**
 * The only transaction of runners, for many jobs of an organization: outcomes in, claims out,
 * leases renewed. Outcomes count only under lease and attempt, so a rollout has one outcome. Claims
 * rollouts of lost runners too. One result for each; null: the job was left out (`skip`), or does
 * not exist.
 *
 * Three round trips hold the locks: they lock, write outcomes, and record what follows. `commit`
 * is called where nothing more can follow.
 */
export async function syncRollouts(
  tx: Tx,
  orgId: string,
  exchanges: readonly JobExchange[],
  mode: LockMode,
  commit: () => void = () => undefined,
): Promise<(SyncResult | null)[]> {
  const jobs = await lock(tx, exchanges, mode);
  const held = jobs.flatMap((job) => (job?.isHeld ? [job] : []));
  await writeOutcomesOf(tx, held);
  const [early, late] = [held.filter(({ mayClaim }) => !mayClaim), held.filter(({ mayClaim }) => mayClaim)];
  const events = appendEventsOf(
    tx,
    orgId,
    held.map(({ jobId, events }) => ({ jobId, events })),
  );
  const claimed = renewAndClaim(
    tx,
    held.map(({ renewal }) => renewal),
  );
  // Behind the events of the outcomes.
  const rest = [...held.map((job) => job.recordLimit(tx, orgId)), ...early.map((job) => job.conclude([]))];
  if (held.every(({ endsWithClaims }) => endsWithClaims)) commit();
  const [claims] = await Promise.all([claimed, events, ...rest]);
  await Promise.all(late.map((job) => job.conclude(claims.get(job.jobId) ?? [])));
  return jobs.map((job) => job && job.result((job.isHeld && claims.get(job.jobId)) || []));
}

/** Locks the jobs, and reads why model calls of them were refused. */
async function lock(tx: Tx, exchanges: readonly JobExchange[], mode: LockMode): Promise<(JobInExchange | null)[]> {
  const ids = exchanges.map(({ jobId }) => jobId);
  const budgeted = exchanges.flatMap(({ hasCostBudget, jobId }) => (hasCostBudget ? [jobId] : []));
  const [refused, rows] = await Promise.all([readRefused(tx, budgeted), lockControls(tx, ids, mode)]);
  const ofQuota = [...rows.values()].flatMap((row) => (row.quota_refused ? [row.job_id] : []));
  const byQuota = await readQuotaRefused(tx, ofQuota);
  return exchanges.map((exchange) => {
    const { jobId } = exchange;
    const row = rows.get(jobId);
    return row ? new JobInExchange(exchange, row, byQuota.get(jobId) ?? refused.get(jobId) ?? null) : null;
  });
}

/** Writes the outcomes, and reads what depends on them. */
async function writeOutcomesOf(tx: Tx, held: readonly JobInExchange[]): Promise<void> {
  const outcomes = held.flatMap((job) => job.outcomes);
  const [written] = await Promise.all([writeOutcomes(tx, outcomes), ...held.map((job) => job.readEnd(tx))]);
  for (const job of held) job.addWritten(written.get(job.jobId) ?? []);
  await Promise.all(
    held.map(async (job) => {
      if (job.hasOverdue) job.addExpired(await expireAwaiting(tx, job));
      if (job.failsTooOften) job.countDistinct(await countDistinct(tx, job.jobId));
    }),
  );
}
