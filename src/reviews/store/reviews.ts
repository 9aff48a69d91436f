/** Reviews of rollouts and of live answers, one of each reviewer. */
import { v7 as uuid } from 'uuid';
import type { ReviewVerdict } from '../../contracts/review.js';
import { folds, type ScoredLabels } from '../../core/verify/agreement.js';
import type { Tx } from '../../platform/db/db.js';
import { positionColumn, type Position } from '../../platform/db/positions.js';
import { groupBy } from '../../util/group.js';

/** A rollout of a job, or an answer of a deployment. */
export interface ReviewSubject {
  orgId: string;
  /** The job, or the deployment. */
  jobId: string;
  subjectId: string;
  /** Of a rollout. */
  seed: number | null;
  candidateId: string | null;
  /** The judge's score of a rollout; null: none. */
  judge: number | null;
}

export interface ReviewContent {
  verdict: ReviewVerdict | null;
  note: string | null;
  corrected: string | null;
}

export interface Review extends ReviewContent, Record<string, unknown> {
  id: string;
  jobId: string;
  subjectId: string;
  seed: number | null;
  candidateId: string | null;
  reviewer: string;
  createdAt: Date;
  updatedAt: Date;
}

const columns = `id, job_id as "jobId", subject_id as "subjectId", seed, candidate_id as "candidateId", reviewer,
  verdict, note, corrected, created_at as "createdAt", updated_at as "updatedAt"`;

/** Stores what a reviewer says in place of what they said. */
export async function putReview(
  tx: Tx,
  { orgId, jobId, subjectId, seed, candidateId, judge }: ReviewSubject,
  reviewer: string,
  { verdict, note, corrected }: ReviewContent,
): Promise<Review> {
  const id = `rvw_${uuid().replaceAll('-', '')}`;
  const [review] = await tx.query<Review>(
    `insert into reviews as r (id, org_id, job_id, subject_id, seed, candidate_id, judge, reviewer, verdict, note, corrected)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (job_id, subject_id, reviewer) do update
       set verdict = excluded.verdict, note = excluded.note, corrected = excluded.corrected,
           updated_at = case when (r.verdict, r.note, r.corrected) is distinct from
                                  (excluded.verdict, excluded.note, excluded.corrected) then now() else r.updated_at end
     returning ${columns}`,
    [id, orgId, jobId, subjectId, seed, candidateId, judge, reviewer, verdict, note, corrected],
  );
  return review!;
}

/** Returns whether there was one. */
export async function deleteReview(
  tx: Tx,
  { jobId, subjectId }: { jobId: string; subjectId: string },
  reviewer: string,
): Promise<boolean> {
  const gone = await tx.query(
    'delete from reviews where job_id = $1 and subject_id = $2 and reviewer = $3 returning id',
    [jobId, subjectId, reviewer],
  );
  return gone.length > 0;
}

/** Which reviews are listed; absent fields pass all. */
export interface ReviewFilter {
  jobId?: string | undefined;
  verdict?: ReviewVerdict | undefined;
  reviewer?: string | undefined;
}

/** Reviews, newest first. */
export async function listReviews(
  tx: Tx,
  { jobId, verdict, reviewer }: ReviewFilter,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<(Review & { position: string })[]> {
  const values: unknown[] = [limit];
  const value = (one: unknown) => `$${values.push(one)}`;
  const bounds = [
    `org_id = current_setting('app.org')`,
    ...(jobId === undefined ? [] : [`job_id = ${value(jobId)}`]),
    ...(verdict === undefined ? [] : [`verdict = ${value(verdict)}`]),
    ...(reviewer === undefined ? [] : [`reviewer = ${value(reviewer)}`]),
    ...(after ? [`(created_at, id) < (${value(after.createdAt)}::timestamptz, ${value(after.id)})`] : []),
  ];
  return tx.query<Review & { position: string }>(
    `select ${columns}, ${positionColumn} from reviews where ${bounds.join(' and ')} order by created_at desc, id desc limit $1`,
    values,
  );
}

/** All reviews of a job's rollouts, oldest first. */
export async function readReviews(tx: Tx, jobId: string): Promise<Review[]> {
  return tx.query<Review>(`select ${columns} from reviews where job_id = $1 order by updated_at, id`, [jobId]);
}

/** Reviews of answers of deployments, oldest first, by the id of the answer. */
export async function readReviewsOf(
  tx: Tx,
  answers: readonly { deploymentId: string; answerId: string }[],
): Promise<Map<string, Review[]>> {
  const reviews = await tx.query<Review>(
    `select ${columns} from reviews
      where (job_id, subject_id) in (select * from unnest($1::text[], $2::text[])) order by updated_at, id`,
    [answers.map(({ deploymentId }) => deploymentId), answers.map(({ answerId }) => answerId)],
  );
  return groupBy(reviews, ({ subjectId }) => subjectId);
}

/** SQL of what most reviewers say of subjects; without those where sides are equal. */
const judgedBy = (where: string) => `
  select v.job_id, v.subject_id, max(v.seed) as seed, max(v.judge) as judge,
         count(*) filter (where v.verdict = 'right') > count(*) filter (where v.verdict = 'wrong') as is_good
    from reviews v where v.verdict in ('right', 'wrong') and ${where}
   group by v.job_id, v.subject_id
  having count(*) filter (where v.verdict = 'right') <> count(*) filter (where v.verdict = 'wrong')`;

/** How the judge of a job scores what people reviewed. */
export async function readReviewedScores(tx: Tx, jobId: string): Promise<ScoredLabels[]> {
  return tx.query<ScoredLabels & Record<string, unknown>>(
    `select abs(mod(seed, ${folds}))::int as fold, round(judge::numeric, 3)::float8 as judge, is_good as "isGood",
            count(*)::int as outputs
       from (${judgedBy('v.job_id = $1 and v.judge is not null')}) s group by 1, 2, 3`,
    [jobId],
  );
}

/** The same of the judge of a name, whose reports have a key. */
export async function readReviewedAnswers(tx: Tx, name: string, judgeKey: string): Promise<ScoredLabels[]> {
  return tx.query<ScoredLabels & Record<string, unknown>>(
    `select abs(mod(hashtext(s.subject_id), ${folds}))::int as fold,
            round((f.content->'metrics'->>'judge')::numeric, 3)::float8 as judge, s.is_good as "isGood", count(*)::int as outputs
       from (${judgedBy('v.job_id in (select d.id from deployments d where d.name = $1)')}) s
            join deployment_feedback f on f.org_id = current_setting('app.org') and f.name = $1 and f.answer_id = s.subject_id
             and f.within = '' and f.key = $2
      where f.content->'metrics' ? 'judge' group by 1, 2, 3`,
    [name, judgeKey],
  );
}
