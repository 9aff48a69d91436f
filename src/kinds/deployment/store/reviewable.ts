/** Kept answers of a deployment that a reviewer is to look at. */
import type { Tx } from '../../../platform/db/db.js';
import { reviewKeyPrefix } from '../contract/feedback.js';
import { judgeKey } from './judgements.js';
import type { RequestKey, RequestScope } from './logged-requests.js';

/** The latest kept answers that are looked at. */
const mostReviewable = 2_000;
/** From which on a judge or a reward calls an answer good. */
const good = 0.5;

/** An answer, and whether the reviewer has given a verdict. */
export interface Reviewable extends RequestKey, Record<string, unknown> {
  /** The first that was reported, but for reviews; null: none. */
  reward: number | null;
  judge: number | null;
  isDone: boolean;
}

/**
 * The next answers: those of which judge and reward disagree first, then the newest; those with a
 * verdict of the reviewer last, or not at all.
 */
export async function readReviewable(
  tx: Tx,
  scope: RequestScope,
  { reviewer, withReviewed, limit }: { reviewer: string; withReviewed: boolean; limit: number },
): Promise<{ answers: Reviewable[]; done: number; left: number }> {
  const [where, of] =
    'name' in scope
      ? [`org_id = current_setting('app.org') and name = $1`, scope.name]
      : ['deployment_id = $1', scope.deploymentId];
  const rows = await tx.query<Reviewable & { done: number; left: number }>(
    `with latest as (
       select deployment_id, answer_id, org_id, name, at from deployment_requests
        where ${where} and outcome = 'ok' order by at desc, answer_id desc limit ${mostReviewable}
     ), known as (
       select r.deployment_id as "deploymentId", r.answer_id as "answerId", r.at, v.id is not null as "isDone",
              case jsonb_typeof(f.reward) when 'boolean' then (f.reward)::boolean::int::float8 else (f.reward)::float8 end as reward,
              (f.judge)::float8 as judge
         from latest r
              left join reviews v on v.job_id = r.deployment_id and v.subject_id = r.answer_id and v.reviewer = $2
               and v.verdict is not null
              cross join lateral (
                select (array_agg(content->'reward' order by created_at, id)
                         filter (where content ? 'reward' and not starts_with(key, '${reviewKeyPrefix}')))[1] as reward,
                       (array_agg(content->'metrics'->'judge') filter (where key = '${judgeKey}'))[1] as judge
                  from deployment_feedback where org_id = r.org_id and name = r.name and answer_id = r.answer_id) f
     )
     select *, (count(*) filter (where "isDone") over ())::int as done, (count(*) filter (where not "isDone") over ())::int as left
       from known
      order by "isDone", coalesce((judge >= ${good}) <> (reward >= ${good}), false) desc, at desc, "answerId" desc limit $3`,
    [of, reviewer, limit],
  );
  const { done = 0, left = 0 } = rows[0] ?? {};
  return { answers: rows.filter(({ isDone }) => withReviewed || !isDone), done, left };
}
