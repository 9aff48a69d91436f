import type { JobFault } from '../../core/jobs/fault.js';
import type { JobOutcome } from '../../core/jobs/outcome.js';
import type { JobSummary } from '../../core/jobs/progress.js';
import type { Tx } from '../../platform/db/db.js';
import { jsonFields } from '../../platform/db/json-fields.js';
import type { SessionProjection } from './projection.js';
import type { Labels } from '../../contracts/labels.js';
import { readLabels, shownReward, shownRollouts } from './shown.js';
import { readUsage } from './usage.js';

/** How a job has ended, for its workflow. */
export interface EndedJob {
  outcome: JobOutcome;
  summary: JobSummary;
  labels: Pick<Labels, 'tags' | 'metadata'>;
}

const search = jsonFields<SessionProjection>('j.projection');

/** The end of a closed job. */
export async function readEnd(tx: Tx, jobId: string): Promise<EndedJob> {
  const [[row], { name, ...labels }, { totalCostUsd: costUsd }] = await Promise.all([
    tx.query<{
      status: JobOutcome['status'];
      stopped_by: string | null;
      error: JobFault | null;
      best_reward: number | null;
      verdict: JobSummary['verdict'];
      rollouts: number;
    }>(
      `select j.status, j.stopped_by, j.error_details as error, ${shownReward} as best_reward,
              ${search.json('verdict')}->>'verdict' as verdict, ${shownRollouts} as rollouts
         from jobs j join job_controls c on c.job_id = j.id where j.id = $1`,
      [jobId],
    ),
    readLabels(tx, jobId),
    readUsage(tx, jobId),
  ]);
  const { status, stopped_by: stoppedBy, error, best_reward: bestReward, verdict, rollouts } = row!;
  return {
    outcome: { status, stoppedBy: stoppedBy ?? status, error },
    summary: { name, verdict, bestReward, rollouts, costUsd },
    labels,
  };
}
