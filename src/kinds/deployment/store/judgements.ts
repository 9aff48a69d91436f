/** Answers that wait for the judge of their deployment's name. Their texts are kept until then. */
import type { EndedAnswer } from '../../../core/answers/ending.js';
import type { Tx } from '../../../platform/db/db.js';
import { toJsonb } from '../../../platform/db/json.js';
import { ownKeyPrefix } from '../contract/judge.js';
import { isUsedUp } from './judges.js';

/** Under this key a judge reports, once for each answer. */
export const judgeKey = `${ownKeyPrefix}judge`;

/** An answer of a deployment that its judge is to score. */
export interface AnswerToJudge {
  deploymentId: string;
  answerId: string;
  /** JSON texts of the request and of the answer's choices; null: too long, so it is dropped. */
  request: string | null;
  answer: string | null;
}

/** Answers of a name that may wait, and bytes of the texts of one. */
export const mostWaiting = 1_000;
const mostBytes = 128 * 1024;

/**
 * Lets answers wait for the judge of their name, each once. Counts those as dropped for which
 * there is no room, or no dollars of the day.
 */
export async function enqueueAnswers(tx: Tx, orgId: string, answers: readonly AnswerToJudge[]): Promise<void> {
  const column = <Field extends keyof AnswerToJudge>(field: Field) => answers.map((answer) => answer[field]);
  await tx.query(
    `with given as (
       select g.*, d.name, row_number() over (partition by d.name order by g.deployment_id, g.answer_id) as place
         from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as g(deployment_id, answer_id, request, answer)
              join deployments d on d.id = g.deployment_id and d.deleted_at is null
     ), rooms as (
       select n.name, w.waiting, coalesce((select ${isUsedUp('j')} from deployment_judges j
                where j.org_id = $1 and j.name = n.name), false) as is_used_up
         from (select distinct name from given) n cross join lateral (
           select count(*) as waiting
             from (select from deployment_judgements a where a.org_id = $1 and a.name = n.name limit $6) a) w
     ), placed as (
       select g.*, not is_used_up and coalesce(octet_length(request) + octet_length(answer) <= $7, false) and waiting + place <= $6 as has_room
         from given g join rooms using (name)
     ), queued as (
       insert into deployment_judgements (org_id, deployment_id, answer_id, name, request, answer)
       select $1, deployment_id, answer_id, name, request, answer from placed p
        where has_room and not exists (select from deployment_feedback f
               where f.org_id = $1 and f.name = p.name and f.answer_id = p.answer_id and f.key = '${judgeKey}')
        order by deployment_id, answer_id
       on conflict do nothing
     )
     insert into deployment_judges as j (org_id, name, dropped)
     select $1, name, count(*) from placed where not has_room group by name order by name
     on conflict (org_id, name) do update set dropped = j.dropped + excluded.dropped`,
    [
      orgId,
      ...[column('deploymentId'), column('answerId'), column('request'), column('answer')],
      ...[mostWaiting, mostBytes],
    ],
    'enqueue_answers',
  );
}

/** An answer in hand. */
export interface ClaimedAnswer extends Record<string, unknown> {
  deploymentId: string;
  answerId: string;
  request: string;
  answer: string;
  /** Answers of judge models that are bought already, by their call. */
  verdicts: Record<string, EndedAnswer>;
  /** With this one. */
  tries: number;
}

/** Time in which a crash of the holder of the lease delays an answer. */
const retryAfterLossS = 30;

/** The next answers of a name, except those that are in hand. The caller holds the lease. */
export async function claimAnswers(
  tx: Tx,
  name: string,
  { limit, inHand }: { limit: number; inHand: readonly string[] },
): Promise<ClaimedAnswer[]> {
  return tx.query<ClaimedAnswer>(
    `update deployment_judgements a set tries = tries + 1, due_at = now() + make_interval(secs => ${retryAfterLossS})
       from (select deployment_id, answer_id from deployment_judgements
              where org_id = current_setting('app.org') and name = $1 and due_at <= now() and answer_id <> all($3::text[])
              order by due_at, answer_id limit $2) due
      where a.deployment_id = due.deployment_id and a.answer_id = due.answer_id
     returning a.deployment_id as "deploymentId", a.answer_id as "answerId", request, answer, verdicts, tries`,
    [name, limit, inHand],
  );
}

type Key = Pick<ClaimedAnswer, 'deploymentId' | 'answerId'>;

/** Keeps the answer of a judge model, so that it is not bought again. */
export async function keepVerdict(tx: Tx, { deploymentId, answerId }: Key, call: string, verdict: EndedAnswer) {
  await tx.query(
    `update deployment_judgements set verdicts = verdicts || jsonb_build_object($3::text, $4::jsonb)
      where deployment_id = $1 and answer_id = $2`,
    [deploymentId, answerId, call, toJsonb(verdict)],
  );
}

/** Lets an answer wait for a further try. */
export async function delayAnswer(tx: Tx, { deploymentId, answerId }: Key, seconds: number): Promise<void> {
  await tx.query(
    `update deployment_judgements set due_at = now() + make_interval(secs => $3) where deployment_id = $1 and answer_id = $2`,
    [deploymentId, answerId, seconds],
  );
}

/** Takes an answer out with its texts. False: it is gone, as its deployment or the judge is. */
export async function takeAnswer(tx: Tx, { deploymentId, answerId }: Key): Promise<boolean> {
  const rows = await tx.query(
    'delete from deployment_judgements where deployment_id = $1 and answer_id = $2 returning 1',
    [deploymentId, answerId],
  );
  return rows.length > 0;
}

/** Deletes the answers of a name that wait, but for some. Returns how many there were. */
export async function forgetAnswers(tx: Tx, name: string, except: readonly string[] = []): Promise<number> {
  const rows = await tx.query(
    `delete from deployment_judgements where org_id = current_setting('app.org') and name = $1 and answer_id <> all($2::text[])
     returning 1`,
    [name, except],
  );
  return rows.length;
}

/** Whether answers of a name are due. */
export async function hasDueAnswers(tx: Tx, name: string): Promise<boolean> {
  const rows = await tx.query(
    `select from deployment_judgements where org_id = current_setting('app.org') and name = $1 and due_at <= now() limit 1`,
    [name],
  );
  return rows.length > 0;
}
