import type { RolloutOutcome } from '../../src/clients/container/client.js';
import { callFailure } from '../../src/models/client/call-failure.js';
import { databasePatienceMs, retryTransient } from '../../src/platform/db/patience.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { readLastCall } from '../../src/rollouts/store/last-call.js';
import type { ActivityDeps } from '../deps.js';

/**
 * The root cause of a rollout that failed at its container: its last model call, if that failed.
 * The proxy has it on record; the container may hide it, or pass a provider's 403 on as its own.
 */
export async function rootCause(
  { db, log }: ActivityDeps,
  job: JobRef,
  rolloutId: string,
  outcome: RolloutOutcome,
): Promise<RolloutOutcome> {
  if (outcome.kind !== 'failed' && outcome.kind !== 'refused_key') return outcome;
  const call = await retryTransient(() => db.org(job.orgId, (tx) => readLastCall(tx, job.jobId, rolloutId)), {
    patienceMs: databasePatienceMs,
    onRetry: (err) => log.warn({ err, rollout_id: rolloutId }, 'last model call not read; retrying'),
  });
  if (!call || call.status < 300) return outcome;
  const { isOfAccount, ...failure } = callFailure(call);
  if (isOfAccount) return { kind: 'refused_key', code: failure.code, message: failure.message };
  return { kind: 'failed', ...failure, connect: false };
}
