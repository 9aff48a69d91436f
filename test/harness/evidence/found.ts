/** Runs a statement on the service's database. */
export type Sql = <Row extends Record<string, unknown>>(text: string, values?: unknown[]) => Promise<Row[]>;

/** What a search has found, and its path, without ids of its own and times. */
export async function found(sql: Sql, jobId: string): Promise<unknown> {
  const [job, candidates, rollouts] = await Promise.all([
    sql('select status, stopped_by, error_details, projection from jobs where id = $1', [jobId]),
    sql(
      `select lever_version, generation, parent_ids, status, messages, demos, graph, reward, rollouts_counted,
              rewards_counted, reward_sum, detail
         from candidates where job_id = $1 order by lever_version`,
      [jobId],
    ),
    sql(
      `select ordinal, idx, stage, generation, seed, candidate_id, status, reward, feedback, error
         from rollouts where job_id = $1 order by ordinal`,
      [jobId],
    ),
  ]);
  return withoutIds(jobId, { job, candidates, rollouts });
}

/** A value as JSON, with the job's own ids replaced. */
export function withoutIds(jobId: string, value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(jobId.slice(4), 'JOB')) as unknown;
}
