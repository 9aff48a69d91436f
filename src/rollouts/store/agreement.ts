import type { AgreementCounts } from '../../core/verify/agreement.js';
import type { Tx } from '../../platform/db/db.js';

const isGood = (score: string) => `(details->'agreement'->>'${score}')::float8 >= 0.5`;

/** SQL of the `AgreementCounts` of the judge of job $1. */
const counts = `select count(*) as n, count(*) filter (where ${isGood('judge')}) as judged,
    count(*) filter (where ${isGood('label')}) as labelled,
    count(*) filter (where ${isGood('judge')} and ${isGood('label')}) as "bothGood"
  from rollouts
 where job_id = $1 and source = 'service' and status = 'succeeded' and details->'agreement' is not null`;

/** How a job's judge and its labels agree: kept at its end, else of its rollouts. */
export async function readAgreementCounts(tx: Tx, jobId: string): Promise<AgreementCounts> {
  type Row = AgreementCounts & Record<string, unknown>;
  const [kept] = await tx.query<{ agreement: AgreementCounts | null }>('select agreement from jobs where id = $1', [
    jobId,
  ]);
  if (kept?.agreement) return kept.agreement;
  const [row] = await tx.query<Row>(counts, [jobId]);
  return row!;
}

/** Keeps the counts of a job that ends, if its judge is compared with labels. */
export async function keepAgreement(tx: Tx, jobId: string): Promise<void> {
  await tx.query(
    `update jobs set agreement = (select to_jsonb(c) from (${counts}) c)
      where id = $1 and (spec->'rows'->>'labels')::boolean`,
    [jobId],
  );
}
