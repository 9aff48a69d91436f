import type { Tx } from '../db/db.js';
import { readQuotaRefused, readRefused } from '../jobs/cost-budget.js';
import { appendEventsOf, lockControls, type LockMode } from '../jobs/events.js';
import { renewAndClaim } from './claims.js';
import { JobInExchange, type JobExchange, type SyncResult } from './job-exchange.js';
import { countDistinct } from './outcome-counts.js';
import { expireAwaiting, writeOutcomes } from './outcomes.js';

export type { Claim } from './claims.js';
export type { CompletedRollouts, JobExchange, SyncResult, WantedSlots } from './job-exchange.js';

/**
 * The only transaction of runners, for many jobs of an organization: outcomes in, claims out,
 * leases renewed. Outcomes count only under lease and attempt, so a rollout has one outcome. Claims
 * rollouts of lost runners too. No result: the job was left out (`skip`), or does not exist.
 */
export async function syncRollouts(
  tx: Tx,
  orgId: string,
  exchanges: readonly JobExchange[],
  mode: LockMode,
): Promise<Map<string, SyncResult>> {
  const [refused, rows] = await Promise.all([
    readRefused(
      tx,
      exchanges.flatMap(({ hasCostBudget, jobId }) => (hasCostBudget ? [jobId] : [])),
    ),
    lockControls(
      tx,
      exchanges.map(({ jobId }) => jobId),
      mode,
    ),
  ]);
  const byQuota = await readQuotaRefused(
    tx,
    [...rows.values()].flatMap((row) => (row.quota_refused ? [row.job_id] : [])),
  );
  const jobs = exchanges.flatMap((exchange) => {
    const { jobId } = exchange;
    const row = rows.get(jobId);
    return row ? [new JobInExchange(exchange, row, byQuota.get(jobId) ?? refused.get(jobId) ?? null)] : [];
  });
  const held = jobs.filter(({ isHeld }) => isHeld);
  const written = await writeOutcomes(
    tx,
    held.flatMap((job) => job.outcomes),
  );
  for (const job of held) job.addWritten(written.get(job.jobId) ?? []);
  await Promise.all(
    held.map(async (job) => {
      if (job.hasOverdue) job.addExpired(await expireAwaiting(tx, job));
      if (job.failsTooOften) job.countDistinct(await countDistinct(tx, job.jobId));
    }),
  );
  const [, claims] = await Promise.all([
    appendEventsOf(
      tx,
      orgId,
      held.map(({ jobId, events }) => ({ jobId, events })),
    ),
    renewAndClaim(
      tx,
      held.map(({ renewal }) => renewal),
    ),
  ]);
  return new Map(jobs.map((job) => [job.jobId, job.result(claims.get(job.jobId) ?? [])]));
}
