import { Context } from '@temporalio/activity';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import { isTerminal, type Status } from '../../src/core/jobs/status.js';
import { readEnd } from '../../src/jobs/store/ended.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { ActivityDeps } from '../deps.js';
import { withHeartbeat } from '../heartbeat.js';
import { Watch } from '../watch/watch.js';

const pollMs = 1_000;

export function awaitEvaluationActivities(deps: ActivityDeps) {
  const { db } = deps;
  const readOutcome = ({ orgId, jobId }: JobRef) => db.org(orgId, (tx) => outcomeOf(tx, jobId));
  return {
    /** Waits for the end of an evaluation; the reconciler ends one whose workflow is closed. */
    awaitGateEvaluation: (job: JobRef): Promise<void> => {
      const watch = new Watch(deps, job, 'awaitGateEvaluation');
      return withHeartbeat(async () => {
        const signal = Context.current().cancellationSignal;
        while (!(await watch.line.call(readOutcome(job)))) await delay(pollMs, undefined, { signal });
      }, watch);
    },

    /** How an evaluation ended; null: it has not. */
    readGateEvaluation: readOutcome,
  };
}

async function outcomeOf(tx: Tx, jobId: string): Promise<JobOutcome | null> {
  const [row] = await tx.query<{ status: Status }>('select status from jobs where id = $1', [jobId]);
  return row && isTerminal(row.status) ? (await readEnd(tx, jobId)).outcome : null;
}
