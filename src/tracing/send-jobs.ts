import type { Logger } from 'pino';
import type { Db } from '../platform/db/db.js';
import type { JobRef } from '../jobs/store/events.js';
import {
  giveUpTrace,
  readDueTraces,
  readTracedRollouts,
  settleTrace,
  takeDueTrace,
  type EndedJob,
} from '../jobs/store/traces.js';
import { startRepeating } from '../util/repeating.js';
import { JobSpans } from './job-spans.js';
import type { Tracing } from './tracing.js';

const everyMs = 1_000;
const jobsAtOnce = 50;
/** Spans of one request to the collector. */
const page = 500;

/**
 * Sends the spans of ended jobs from their record. A job is taken for a minute, then sent again:
 * its worker was killed, or the collector did not take it. `stop` does not wait for the collector.
 */
export function startSendingJobs(db: Db, tracing: Tracing, log: Logger): { stop(): void } {
  const sending = startRepeating(
    (stopping) => sendDue(db, tracing, stopping),
    everyMs,
    (err) => log.warn({ err }, 'spans of ended jobs not sent; retrying'),
  );
  return { stop: () => void sending.stop() };
}

async function sendDue(db: Db, tracing: Tracing, stopping: AbortSignal): Promise<void> {
  for (const ref of await db.worker((tx) => readDueTraces(tx, jobsAtOnce))) {
    if (stopping.aborted) return;
    const job = await db.org(ref.orgId, (tx) => takeDueTrace(tx, ref.jobId));
    if (!job) continue;
    try {
      await sendJob(db, tracing, ref, job, stopping);
    } catch (error) {
      if (!(error instanceof NotTaken)) throw error;
      // The tracing has logged it; the other jobs would meet the same.
      if (!stopping.aborted) await db.org(ref.orgId, (tx) => giveUpTrace(tx, ref.jobId));
      return;
    }
  }
}

/** The collector did not take the spans. */
class NotTaken extends Error {
  override readonly name = 'NotTaken';
}

async function sendJob(db: Db, tracing: Tracing, { orgId }: JobRef, job: EndedJob, stopping: AbortSignal) {
  const spans = new JobSpans(job);
  const send = async (...[batch]: Parameters<Tracing['send']>) => {
    await tracing.send(batch).catch((cause: unknown) => {
      throw new NotTaken('The collector did not take the spans.', { cause });
    });
    stopping.throwIfAborted();
  };
  let through = job.sentThrough;
  for (;;) {
    const rows = await db.org(orgId, (tx) => readTracedRollouts(tx, job.jobId, through, page));
    if (rows.length > 0) await send(rows.map((row) => spans.rollout(row)));
    through = (rows.at(-1)?.ordinal ?? through - 1) + 1;
    if (rows.length < page) break;
  }
  const above = spans.end();
  for (let from = 0; from < above.length; from += page) await send(above.slice(from, from + page));
  await db.org(orgId, (tx) => settleTrace(tx, job, through));
}
