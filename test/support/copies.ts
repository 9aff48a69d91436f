/** Bulk copies of stored jobs, by SQL as superuser. */
import type pg from 'pg';

/** Tables with a job's rows; the job's own row first. */
const tables = [
  'jobs',
  'job_labels',
  'job_controls',
  'job_usage',
  'job_budgets',
  'search_states',
  'commands',
  'webhooks',
  'deployments',
  'candidates',
  'sensor_frames',
  'graph_tasks',
  'rewards',
  'rollouts',
  'events',
  'model_calls',
] as const;
type Table = (typeof tables)[number];

/** Copies `from` (inclusive) to `to` (exclusive) of a job; `without` tables stay empty. */
export interface Copies {
  jobId: string;
  from: number;
  to: number;
  without?: readonly Table[];
}

/** The id of a copy: sorts by its number, as ids sort by time. */
export function copyId(jobId: string, copy: number): string {
  return jobId.slice(0, 4) + copy.toString(16).padStart(12, '0').padEnd(32, fillOf(jobId));
}
const digitsOf = (n: string, jobId: string) => `rpad(lpad(to_hex(${n}), 12, '0'), 32, '${fillOf(jobId)}')`;
/** A digit for each kind of job: rollouts' ids do not name the kind. */
const fillOf = (jobId: string) => String(1 + ['ses_', 'evl_', 'grf_', 'dep_'].indexOf(jobId.slice(0, 4)));

/** Inserts copies of a job's rows with ids of their own. */
export async function copyJob(postgres: pg.Client, { jobId, from, to, without = [] }: Copies): Promise<void> {
  // Foreign keys hold in the template.
  await postgres.query('set session_replication_role = replica');
  for (const table of tables.filter((name) => !without.includes(name))) {
    const key = table === 'jobs' || table === 'deployments' ? 'id' : 'job_id';
    const columns = await copiedColumns(postgres, table, key, jobId);
    await postgres.query(
      `insert into ${table} (${columns.map(({ name }) => name).join(', ')})
       select ${columns.map(({ value }) => value).join(', ')}
         from (select n, ${digitsOf('n', jobId)} as digits from generate_series($2::int, $3::int - 1) n) copy, ${table} t
        where t.${key} = $1`,
      [jobId, from, to],
    );
  }
  await postgres.query('set session_replication_role = origin');
}

/** The table's columns and their values in a copy; ids that contain the template's id change. */
async function copiedColumns(postgres: pg.Client, table: Table, key: string, jobId: string) {
  const { rows } = await postgres.query<{ name: string; type: string }>(
    `select column_name as name, case data_type when 'ARRAY' then 'text[]' else data_type end as type
       from information_schema.columns where table_name = $1 and is_generated = 'NEVER' order by ordinal_position`,
    [table],
  );
  const own = jobId.slice(4);
  const named = new Set<string>();
  for (const { name } of rows) {
    const found = await postgres.query(
      `select 1 from ${table} where ${key} = $1 and strpos(${name}::text, $2) > 0 limit 1`,
      [jobId, own],
    );
    if (found.rowCount) named.add(name);
  }
  return rows.map(({ name, type }) => {
    if (table === 'jobs' && name === 'created_at')
      return { name, value: `now() - interval '1 year' + n * interval '1 minute'` };
    // Numbered per name.
    if (table === 'deployments' && name === 'version') return { name, value: 't.version + n' };
    // Calls and commands have random ids.
    if (name === 'id' && !named.has(name)) return { name, value: `t.id || '_' || copy.digits` };
    if (!named.has(name)) return { name, value: `t.${name}` };
    return { name, value: `replace(t.${name}::text, '${own}', copy.digits)::${type}` };
  });
}
