import type { CriterionScore } from '../../core/verify/verification.js';
import type { Tx } from '../../platform/db/db.js';

/** A finished rollout of a job. */
export interface ReviewedRollout extends Record<string, unknown> {
  seed: number | null;
  candidateId: string | null;
  /** null: it failed. */
  reward: number | null;
  /** Scores of the parts of its scorer; null: it has no parts, or they have expired. */
  criteria: CriterionScore[] | null;
}

/** null: no such rollout, or it has not finished. */
export async function readRollout(tx: Tx, jobId: string, id: string): Promise<ReviewedRollout | null> {
  const [row] = await tx.query<ReviewedRollout>(
    `select seed, candidate_id as "candidateId", case when status = 'succeeded' then reward end as reward,
            details->'criteria' as criteria
       from rollouts where id = $2 and job_id = $1 and status in ('succeeded', 'failed')`,
    [jobId, id],
  );
  return row ?? null;
}
