/** A database as large as one grows: copies of finished jobs, and jobs at their limits. */
import type pg from 'pg';
import { copyId, copyJob } from '../../test/support/copies.js';
import type { Templates } from './templates.js';

/** Rows to reach. Events and model calls are those of the first jobs. */
export interface Size {
  rollouts: number;
  events: number;
  calls: number;
}

const candidates = 500;
const evaluationSeeds = 200;
const frames = 2_000;
/** Numbers of the copies that are changed below; other copies count from 1,000. */
const [largest, running, first] = [1, 2, 1_000];

/** Jobs of special size: a session at its limit of candidates, and a running evaluation. */
export async function addLargeJobs(
  postgres: pg.Client,
  templates: Templates,
): Promise<{ session: string; running: string }> {
  const session = await largeSession(postgres, templates.session);
  return { session, running: await runningEvaluation(postgres, templates.largeEvaluation) };
}

/** A session at its limit of candidates, with 100,000 events. */
export async function largeSession(postgres: pg.Client, template: string): Promise<string> {
  const jobId = copyId(template, largest);
  const own = jobId.slice(4);
  await copyJob(postgres, { jobId: template, from: largest, to: largest + 1 });
  await postgres.query(
    `insert into candidates (id, org_id, job_id, lever_version, generation, parent_ids, status, messages, detail, tests, decision,
                             reward, rollouts_counted, rewards_counted, reward_sum)
     select 'cand_${own}_' || n, org_id, job_id, n, n / 10, array[id], 'evaluated', messages, detail, tests, decision,
            random(), ${evaluationSeeds}, ${evaluationSeeds}, ${evaluationSeeds / 2}
       from candidates c, generate_series((select max(lever_version) + 1 from candidates where job_id = $1), ${candidates} - 1) n
      where c.id = 'cand_${own}_0'`,
    [jobId],
  );
  await postgres.query(
    `insert into rollouts (id, org_id, job_id, idx, ordinal, source, stage, generation, seed, candidate_id, status, attempt, reward,
                           feedback, details, latency_ms, started_at, completed_at)
     select 'rol_${own}_' || n.at, 'default', $1, n.at, n.at, 'service', 'evaluation', n.version / 10, n.seed,
            'cand_${own}_' || n.version, 'succeeded', 1, random(), 'needs rule-1.', '{"feedback": "needs rule-1."}', 20, now(), now()
       from (select version, seed, 100000 + version * ${evaluationSeeds} + seed as at
               from generate_series(0, ${candidates} - 1) version, generate_series(0, ${evaluationSeeds} - 1) seed) n`,
    [jobId],
  );
  await postgres.query(
    `insert into events (job_id, seq, org_id, key, type, message, data)
     select job_id, 100000 + ordinal, org_id, 'rollout:' || id, 'rollout_completed', 'rollout completed',
            jsonb_build_object('rollout_id', id, 'seed', seed, 'reward', reward)
       from rollouts where job_id = $1 and ordinal >= 100000`,
    [jobId],
  );
  await postgres.query(
    `insert into sensor_frames (job_id, ordinal, org_id, candidate_id, stage, generation, trace_ids, rollout, reward, resource)
     select f.job_id, 100000 + n, f.org_id, f.candidate_id, f.stage, f.generation, f.trace_ids, f.rollout, f.reward, f.resource
       from (select * from sensor_frames where job_id = $1 order by ordinal limit 1) f, generate_series(1, ${frames}) n`,
    [jobId],
  );
  await postgres.query(
    `update jobs set rollouts_counted = 1000000,
            spec = jsonb_set(spec, '{search,evaluationSeeds}', (select jsonb_agg(n) from generate_series(0, ${evaluationSeeds} - 1) n))
      where id = $1`,
    [jobId],
  );
  return jobId;
}

/** An evaluation with the maximum number of seeds, few of them finished. */
async function runningEvaluation(postgres: pg.Client, template: string): Promise<string> {
  const jobId = copyId(template, running);
  await copyJob(postgres, { jobId: template, from: running, to: running + 1 });
  await postgres.query(
    `update rollouts set status = 'queued', completed_at = null, started_at = null, reward = null, latency_ms = null
      where job_id = $1 and ordinal >= 1000`,
    [jobId],
  );
  // Created in the future: the reconciler does not visit it, which has no workflow.
  await postgres.query(
    `update jobs set status = 'running', completed_at = null, created_at = now() + interval '1 day' where id = $1`,
    [jobId],
  );
  return jobId;
}

/** Copies jobs until the database has `size`; `say` reports progress. */
export async function fill(
  postgres: pg.Client,
  templates: Templates,
  size: Size,
  say: (line: string) => void,
): Promise<void> {
  const ids = [templates.session, templates.evaluation, templates.graph, templates.deployment];
  const per = (table: string) =>
    postgres
      .query<{ n: string }>(`select count(*) as n from ${table} where job_id = any($1)`, [ids])
      .then(({ rows }) => Number(rows[0]!.n));
  const each = { rollouts: await per('rollouts'), events: await per('events'), calls: await per('model_calls') };
  const start = await copiesSoFar(postgres, templates.session);
  const end = first + Math.ceil(size.rollouts / each.rollouts);
  const limits = { events: first + size.events / each.events, model_calls: first + size.calls / each.calls };
  const step = 250;
  for (let from = start; from < end; from += step) {
    const to = Math.min(end, from + step);
    const without = (['events', 'model_calls'] as const).filter((table) => from >= limits[table]);
    for (const jobId of ids) await copyJob(postgres, { jobId, from, to, without });
    say(`${Math.round(((to - first) * each.rollouts) / 1_000).toLocaleString('en-US')} thousand rollouts`);
  }
  await postgres.query('vacuum analyze');
  await postgres.query('checkpoint');
}

/** The number of the next copy. */
async function copiesSoFar(postgres: pg.Client, template: string): Promise<number> {
  const { rows } = await postgres.query<{ n: string }>(`select count(*) as n from jobs where id >= $1 and id < $2`, [
    copyId(template, first),
    copyId(template, 16 ** 8),
  ]);
  return first + Number(rows[0]!.n);
}
