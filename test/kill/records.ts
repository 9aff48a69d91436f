import pg from 'pg';
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

/** The service's records, read directly from its database. */
export class Records {
  private readonly pool: pg.Pool;

  constructor(databaseUrl: string) {
    this.pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  /** The jobs that have ended. */
  async ended(jobIds: readonly string[]): Promise<Set<string>> {
    const rows = await this.ask<{ id: string }>('select id from jobs where id = any($1) and completed_at is not null', [
      jobIds,
    ]);
    return new Set(rows.map(({ id }) => id));
  }

  /** The recorded calls of a job: their number by key. */
  async answered(jobId: string): Promise<Map<string, number>> {
    const [rollouts, calls] = await Promise.all([
      this.ask<{ ordinal: number }>('select ordinal from rollouts where job_id = $1 and completed_at is not null', [
        jobId,
      ]),
      this.ask<{ rolloutId: string | null; request: { messages: { content: unknown }[] } }>(
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
  async batches(jobId: string): Promise<Batch[]> {
    const rows = await this.ask<Batch & { parents: number; generation: number }>(
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

  /** A session's results without ids, times and the order of equal rollouts. */
  async found(jobId: string): Promise<unknown> {
    const [jobs, candidates, rollouts, frames, calls, events] = await Promise.all([
      this.ask('select status, stopped_by, error_details, projection from jobs where id = $1', [jobId]),
      this.ask(
        `select lever_version, generation, parent_ids, status, messages, demos, reward, rollouts_counted, rewards_counted, reward_sum, detail
           from candidates where job_id = $1 order by lever_version`,
        [jobId],
      ),
      this.ask(
        `select ordinal, idx, stage, generation, seed, candidate_id, status, reward, feedback, error, prompt_tokens, completion_tokens
           from rollouts where job_id = $1 order by ordinal`,
        [jobId],
      ),
      this.ask(
        `select ordinal, candidate_id, stage, generation, trace_ids, rollout - 'resent' as rollout, reward,
                resource->'prompt_tokens' as prompt_tokens, resource->'completion_tokens' as completion_tokens
           from sensor_frames where job_id = $1 order by ordinal`,
        [jobId],
      ),
      this.ask(
        `select purpose, rollout_id, occurrence, request->'messages' as asked, response->>'text' as text, http_status
           from model_calls where job_id = $1 order by id collate "C", 2`,
        [jobId],
      ),
      this.events(jobId),
    ]);
    const published = events.map(({ type, message, data }) => ({ type, message, data }));
    // `completed` is their order.
    const ofRollouts = published.flatMap(({ data: { completed: _, ...data }, ...event }) =>
      data.rollout_id === undefined ? [] : [{ ...event, data }],
    );
    const decisions = published.filter(({ data }) => data.rollout_id === undefined);
    const inOrder = <T>(rows: T[]) => rows.map((row) => JSON.stringify(row)).sort();
    return JSON.parse(
      JSON.stringify({
        jobs,
        candidates,
        rollouts,
        frames,
        calls: inOrder(calls),
        decisions,
        ofRollouts: inOrder(ofRollouts),
      }).replaceAll(jobId.slice(4), 'JOB'),
    ) as unknown;
  }

  events(jobId: string): Promise<Event[]> {
    return this.ask<Event>('select seq::int as seq, type, message, data from events where job_id = $1 order by seq', [
      jobId,
    ]);
  }

  private async ask<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }
}

/** Number of occurrences of each key. */
export function countOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
