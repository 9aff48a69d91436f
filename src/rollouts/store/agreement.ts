import { folds, type ScoredLabels } from '../../core/verify/agreement.js';
import type { Tx } from '../../platform/db/db.js';

/** SQL of the `ScoredLabels` of the judge of job $1. */
const scored = `select fold, judge, "isGood", count(*)::int as outputs from (
    select mod(seed, ${folds}) as fold, round((details->'agreement'->>'judge')::numeric, 3)::float8 as judge,
           (details->'agreement'->>'label')::float8 >= 0.5 as "isGood"
      from rollouts
     where job_id = $1 and source = 'service' and status = 'succeeded' and details->'agreement' is not null) o
  group by 1, 2, 3`;

/** How a job's judge scores what its labels call good: kept at its end, else of its rollouts. */
export async function readScoredLabels(tx: Tx, jobId: string): Promise<ScoredLabels[]> {
  type Row = ScoredLabels & Record<string, unknown>;
  const [kept] = await tx.query<{ agreement: ScoredLabels[] | null }>('select agreement from jobs where id = $1', [
    jobId,
  ]);
  return kept?.agreement ?? (await tx.query<Row>(scored, [jobId]));
}

/** Keeps the scores of a job that ends, if its judge is compared with labels. */
export async function keepAgreement(tx: Tx, jobId: string): Promise<void> {
  await tx.query(
    `update jobs set agreement = (select coalesce(jsonb_agg(to_jsonb(c)), '[]') from (${scored}) c)
      where id = $1 and (spec->'rows'->>'labels')::boolean`,
    [jobId],
  );
}
