import type { EndedJob } from '../../core/events/webhook.js';
import type { Tx } from '../../platform/db/db.js';
import type { JobRef } from './events.js';

/** The webhook of a job in its row, as JSON. */
export interface WebhookState {
  url: string;
  status: 'waiting' | 'due' | 'sending' | 'delivered' | 'failed';
  attempts: number;
  lastError: string | null;
  settledAt: string | null;
}

/** A webhook of the end of a job's run, whose workflow is to be started. */
export interface DueWebhook extends JobRef {
  run: number;
  workflowSuffix: string;
}

/** SQL of the `WebhookState` of the job with this id; null: it has none. */
export const webhookOf = (
  jobId: string,
) => `(select json_build_object('url', url, 'status', status, 'attempts', attempts,
  'lastError', last_error, 'settledAt', settled_at) from webhooks where job_id = ${jobId})`;

/** Stores the URL that a job's end is sent to. */
export async function insertWebhook(tx: Tx, { orgId, jobId }: JobRef, url: string): Promise<void> {
  await tx.query('insert into webhooks (job_id, org_id, url) values ($1, $2, $3)', [jobId, orgId, url]);
}

/** An ended job's webhook is to be delivered. */
export async function markDue(tx: Tx, jobId: string): Promise<void> {
  await tx.query(
    `update webhooks set status = 'due', attempts = 0, last_error = null, settled_at = null where job_id = $1`,
    [jobId],
  );
}

/** An extended job's webhook waits for its next end; an undelivered one is superseded. */
export async function awaitNextEnd(tx: Tx, jobId: string): Promise<void> {
  await tx.query(`update webhooks set status = 'waiting' where job_id = $1`, [jobId]);
}

/**
 * Webhooks of ended jobs, of all organizations. `due`: their workflow is not known to be started;
 * `sending`: it delivers them.
 */
export async function readWebhooks(tx: Tx, state: 'due' | 'sending', limit: number): Promise<DueWebhook[]> {
  return tx.query<DueWebhook & Record<string, unknown>>(
    'select org_id as "orgId", job_id as "jobId", run, workflow_suffix as "workflowSuffix" from webhooks_in($1, $2)',
    [state, limit],
  );
}

/** The webhook's workflow is started. */
export async function markSending(tx: Tx, jobId: string): Promise<void> {
  await tx.query(`update webhooks set status = 'sending' where job_id = $1 and status = 'due'`, [jobId]);
}

/** What is left to deliver of a job; null: nothing, or the job was deleted. */
export async function readDelivery(tx: Tx, jobId: string): Promise<{ url: string; job: EndedJob } | null> {
  const [row] = await tx.query<EndedJob & { url: string } & Record<string, unknown>>(
    `select w.url, j.id as "jobId", j.run, j.kind, j.status, coalesce(j.name, d.name) as name, j.tags, j.metadata,
            j.stopped_by as "stoppedBy", j.error_details as error, j.completed_at as "completedAt",
            (select data from events where job_id = j.id order by seq desc limit 1) as results
       from webhooks w join jobs j on j.id = w.job_id left join deployments d on d.id = j.id
      where w.job_id = $1 and w.status in ('due', 'sending')`,
    [jobId],
  );
  if (!row) return null;
  const { url, ...job } = row;
  return { url, job };
}

/** Records an attempt; `error` null: it was delivered. */
export async function recordAttempt(
  tx: Tx,
  { jobId, run }: Pick<EndedJob, 'jobId' | 'run'>,
  error: string | null,
): Promise<void> {
  await tx.query(
    `update webhooks set attempts = attempts + 1, last_error = $2,
            status = case when $2::text is null then 'delivered' else status end,
            settled_at = case when $2::text is null then now() end
      where job_id = $1 and status in ('due', 'sending') and (select run from jobs where id = $1) = $3`,
    [jobId, error, run],
  );
}

/** Gives an undelivered webhook up. */
export async function failWebhook(tx: Tx, jobId: string): Promise<void> {
  await tx.query(
    `update webhooks set status = 'failed', settled_at = now() where job_id = $1 and status in ('due', 'sending')`,
    [jobId],
  );
}
