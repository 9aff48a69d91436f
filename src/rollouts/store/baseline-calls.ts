/** Levers and system messages of a baseline's calls, when the request names no prompt. */
import type { Tx } from '../../platform/db/db.js';

const calls = `model_calls c join rollouts r on r.id = c.rollout_id where c.job_id = $1 and r.stage = 'baseline'
  and r.ordinal is not null`;

/** The marked levers, each pair of name and text once, in order of appearance; at most `limit`. */
export async function readMarkedLevers(
  tx: Tx,
  jobId: string,
  limit: number,
): Promise<{ name: string; text: string }[]> {
  return tx.query<{ name: string; text: string }>(
    `select name, text
       from (select l->>'name' as name, l->>'text' as text,
                    row_number() over (order by b.ordinal, b.created_at, b.id, position) as at
               from (select c.levers, r.ordinal, c.created_at, c.id from ${calls} and c.levers is not null) b
              cross join jsonb_array_elements(b.levers) with ordinality as e(l, position)) spans
      group by name, text order by min(at) limit $2`,
    [jobId, limit],
  );
}

/** The different system messages, at most two; null: a call without one. */
export async function readSystemMessages(tx: Tx, jobId: string): Promise<(string | null)[]> {
  const rows = await tx.query<{ prompt: string | null }>(
    `select distinct (select m->>'content' from jsonb_array_elements(c.request->'messages') as m
                       where m->>'role' in ('system', 'developer') limit 1) as prompt
       from ${calls} limit 2`,
    [jobId],
  );
  return rows.map(({ prompt }) => prompt);
}
