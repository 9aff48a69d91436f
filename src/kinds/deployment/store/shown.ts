import type { ShownJob } from '../../../core/jobs/progress.js';
import { readLabels } from '../../../jobs/store/shown.js';
import type { Tx } from '../../../platform/db/db.js';
import { gateJobId } from './gate.js';

/** What Temporal shows of a deployment: the rollouts of its gate, and its candidate's reward. */
export async function readShownDeployment(tx: Tx, deploymentId: string): Promise<ShownJob> {
  const [first, last] = [gateJobId(deploymentId, 0), gateJobId(deploymentId, 0xffff)];
  const [{ name, tags }, [gate]] = await Promise.all([
    readLabels(tx, deploymentId),
    tx.query<Pick<ShownJob, 'rollouts' | 'bestReward'>>(
      `select coalesce(sum(rollouts_succeeded + rollouts_failed), 0)::int as rollouts,
              sum(reward_sum) filter (where job_id = $1)
                / nullif(sum(rollouts_succeeded) filter (where job_id = $1), 0)::float8 as "bestReward"
         from job_controls where job_id between $1 and $2`,
      [first, last],
    ),
  ]);
  return { name, tags, ...gate! };
}
