import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { startRepeating } from '../../util/repeating.js';
import type { Db, Tx } from '../db/db.js';

const everyMs = 3_000;
/** A worker that has not reported for so long hangs. */
const silentSeconds = 10;

/**
 * Reports every few seconds that this worker runs, until it is stopped. Temporal notices a frozen
 * worker only a minute after its last poll. The last report stays: a worker that restarts is no
 * outage. Resolves with the stop once the first report is made.
 */
export async function startReporting(db: Db, log: Logger, buildId: string | null): Promise<() => Promise<void>> {
  const worker = randomUUID();
  const report = () => db.worker((tx) => reportWorker(tx, worker, buildId));
  await report();
  // The reconciler warns of a database that is away.
  const reporting = startRepeating(report, everyMs, (err) => log.debug({ err }, 'worker not reported'));
  return () => reporting.stop();
}

async function reportWorker(tx: Tx, worker: string, buildId: string | null): Promise<void> {
  await tx.query(
    `with silent as (delete from worker_reports where seen_at < now() - interval '1 minute' and worker <> $1)
     insert into worker_reports (worker, build_id) values ($1, $2) on conflict (worker) do update set seen_at = now()`,
    [worker, buildId],
  );
}

/** The builds of the workers that run, one for each worker; null: without a build. */
export async function readLiveWorkers(tx: Tx): Promise<(string | null)[]> {
  const rows = await tx.query<{ build_id: string | null }>(
    'select build_id from worker_reports where seen_at > now() - make_interval(secs => $1)',
    [silentSeconds],
  );
  return rows.map(({ build_id }) => build_id);
}
