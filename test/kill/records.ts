import { found, withoutIds, type Sql } from '../harness/evidence/found.js';
import { completionKey, questionKey, rolloutKey } from './session-variants.js';

/** A batch of a session's rollouts; `kind` is the stage, numbered if it repeats. */
export interface Batch {
  kind: string;
  from: number;
  to: number;
}

interface Event {
  seq: number;
  type: string;
  message: string;
  data: { rollout_id?: string; completed?: number };
}

/** The jobs that have ended. */
export async function endedOf(sql: Sql, jobIds: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }>('select id from jobs where id = any($1) and completed_at is not null', [
    jobIds,
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** The recorded calls of a job: their number by key. */
export async function answeredOf(sql: Sql, jobId: string): Promise<Map<string, number>> {
  const [rollouts, calls] = await Promise.all([
    sql<{ ordinal: number }>('select ordinal from rollouts where job_id = $1 and completed_at is not null', [jobId]),
    sql<{ rolloutId: string | null; request: { messages: { content: unknown }[] } }>(
      'select rollout_id as "rolloutId", request from model_calls where job_id = $1 and http_status < 300',
      [jobId],
    ),
  ]);
  return countOf([
    ...rollouts.map(({ ordinal }) => rolloutKey(ordinal)),
    ...calls.map(({ rolloutId, request }) =>
      rolloutId ? completionKey(Number(rolloutId.split('_').at(-1))) : questionKey(request.messages),
    ),
  ]);
}

/** The batches of a session's rollouts, in request order. */
export async function batchesOf(sql: Sql, jobId: string): Promise<Batch[]> {
  const rows = await sql<Batch & { parents: number; generation: number } & Record<string, unknown>>(
    `select r.stage as kind, r.generation, min(r.ordinal) as "from", max(r.ordinal) + 1 as "to",
            max(cardinality(c.parent_ids)) as parents
       from rollouts r join candidates c on c.id = r.candidate_id
      where r.job_id = $1 group by r.stage, r.generation, r.created_at order by 3`,
    [jobId],
  );
  return rows.map(({ kind, from, to, parents, generation }, index) => {
    const before = rows[index - 1];
    const isAgain = before?.kind === kind && before.generation === generation && before.parents === parents;
    return {
      kind: kind === 'gate' && parents > 1 ? 'merge' : kind === 'gate' && isAgain ? 'gate again' : kind,
      from,
      to,
    };
  });
}

/** What a session has found, with its tokens, frames, calls and events, in any order of equals. */
export async function allFound(sql: Sql, jobId: string): Promise<unknown> {
  const [search, tokens, frames, calls, events] = await Promise.all([
    found(sql, jobId),
    sql('select prompt_tokens, completion_tokens from rollouts where job_id = $1 order by ordinal', [jobId]),
    sql(
      `select ordinal, candidate_id, stage, generation, trace_ids, rollout - 'resent' as rollout, reward,
              resource->'prompt_tokens' as prompt_tokens, resource->'completion_tokens' as completion_tokens
         from sensor_frames where job_id = $1 order by ordinal`,
      [jobId],
    ),
    sql(
      `select purpose, rollout_id, occurrence, request->'messages' as asked, response->>'text' as text, http_status
         from model_calls where job_id = $1 order by id collate "C", 2`,
      [jobId],
    ),
    eventsIn(sql, jobId),
  ]);
  const published = events.map(({ type, message, data }) => ({ type, message, data }));
  // `completed` is their order.
  const ofRollouts = published.flatMap(({ data: { completed: _, ...data }, ...event }) =>
    data.rollout_id === undefined ? [] : [{ ...event, data }],
  );
  const decisions = published.filter(({ data }) => data.rollout_id === undefined);
  const inOrder = <T>(rows: T[]) => rows.map((row) => JSON.stringify(row)).sort();
  return withoutIds(jobId, {
    search,
    tokens,
    frames,
    decisions,
    calls: inOrder(calls),
    ofRollouts: inOrder(ofRollouts),
  });
}

export const eventsIn = (sql: Sql, jobId: string) =>
  sql<Event & Record<string, unknown>>(
    'select seq::int as seq, type, message, data from events where job_id = $1 order by seq',
    [jobId],
  );

/** Number of occurrences of each key. */
export function countOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
