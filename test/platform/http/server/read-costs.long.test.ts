import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { buildApp } from '../../../../src/platform/http/app.js';
import type { App } from '../../../../src/platform/http/deps.js';
import type { Db } from '../../../../src/platform/db/db.js';
import { copyJob } from '../../../support/copies.js';
import { createEvaluation, createGraphJob, finish, sessionRequest, startHttp, type TestHttp } from '../support.js';
import { project, record, seedCandidates, seedRollouts } from '../seed.js';

// A read of the API reads the rows that it shows: no more in a database with many other jobs, and
// none of the rollouts whose sums it shows.

/** More than all that a page of a list or the reads of a small job need. */
const otherJobs = 1_500;
const seeds = 12;
/** Plans may differ by a few look-ups. */
const slack = 40;

const [sessions, evaluations, graphs, deployments] = [
  '/api/v1/online/sessions',
  '/api/v1/offline/jobs',
  '/api/graphgen/jobs',
  '/api/harbor/deployments',
] as const;
const labels = { name: 'mine', tags: ['mine'], metadata: { team: 'mine' } };

let http: TestHttp;
let app: App;
/** Rows read since the last `count`, in tables and by indexes. */
let rowsRead = 0;
const ids = { session: '', evaluation: '', graph: '', deployment: '' };

beforeAll(async () => {
  http = await startHttp();
  app = await buildApp({ ...http.deps, db: counting(http.db) });
  const range = Array.from({ length: seeds }, (_, seed) => seed);
  const done = range.map((seed) => ({ candidate: 0, seed, status: 'succeeded' as const, reward: 0.5 }));
  for (let n = 0; n < 7; n += 1) {
    const session = { policy_optimization: sessionRequest, ...(n === 0 && labels) };
    ids.session = (await http.call('POST', sessions, session)).body.job_id;
    ids.evaluation = await createEvaluation(http, { seeds: range, ...(n === 0 && labels) });
    ids.graph = await createGraphJob(http, n === 0 ? labels : {});
    const source = { messages: [{ role: 'system', content: 'x' }], policy: { model: 'local', provider: 'local' } };
    const { body } = await http.call('POST', deployments, {
      name: `d${n}`,
      source,
      ...(n === 0 && { tags: ['mine'] }),
    });
    ids.deployment = body.id;
  }
  const candidates = [{ status: 'evaluated', reward: 0.5, generation: 0 }];
  for (const jobId of [ids.session, ids.graph]) {
    await seedCandidates(http, jobId, candidates);
    await seedRollouts(http, jobId, done);
    await record(http, jobId, { outcomesThrough: seeds });
    await project(http, jobId, { bestCandidateId: `cand_${jobId.slice(4)}_0`, bestReward: 0.5 });
  }
  await seedRollouts(http, ids.evaluation, done);
  for (const jobId of [ids.session, ids.evaluation, ids.graph]) await close(jobId);
  await asSuperuser((postgres) => postgres.query('vacuum analyze'));
}, 60_000);
afterAll(async () => {
  await app.close();
  await http.close();
});

const close = (jobId: string) => http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId }, 'completed'));

async function asSuperuser(work: (postgres: pg.Client) => Promise<unknown>): Promise<void> {
  const postgres = new pg.Client(http.databaseUrl);
  await postgres.connect();
  await work(postgres).finally(() => postgres.end());
}

/** Kept requests, each with a report of its answer and of its episode. */
async function insertTraffic(
  postgres: pg.Client,
  { deploymentId, name, count }: { deploymentId: string; name: string; count: number },
): Promise<void> {
  const values = [deploymentId, name, count];
  await postgres.query(
    `insert into deployment_requests (deployment_id, answer_id, org_id, name, at, outcome, provider, model, latency_ms, correlation_id, request, answer)
     select $1, $2 || '-' || n, 'default', $2, now() - n * interval '1 second', 'ok', 'local', 'local', 1, $2 || '-e-' || n, '{}', '{}'
       from generate_series(1, $3::int) n`,
    values,
  );
  await postgres.query(
    `insert into deployment_feedback (id, org_id, deployment_id, name, answer_id, correlation_id, within, key, answers, deployments, content)
     select $2 || kind || n, 'default', $1, $2, case kind when 'a' then $2 || '-' || n end, case kind when 'e' then $2 || '-e-' || n end,
            '', 'k', 1, 1, '{"reward": 0.5, "corrected": "x"}'
       from generate_series(1, $3::int) n, unnest(array['a', 'e']) kind`,
    values,
  );
}

/** Adds what each transaction reads to `rowsRead`. */
function counting(db: Db): Db {
  const count = 'select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::float8 as n from pg_stat_xact_user_tables';
  return {
    ...db,
    org: (orgId, work) =>
      db.org(orgId, async (tx) => {
        const [before] = await tx.query<{ n: number }>(count);
        const result = await work(tx);
        const [after] = await tx.query<{ n: number }>(count);
        rowsRead += after!.n - before!.n;
        return result;
      }),
  };
}

/** The rows that a read takes, by path. */
async function costs(paths: readonly string[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const path of paths) {
    rowsRead = 0;
    const answer = await app.inject({
      url: path,
      headers: { authorization: `Bearer ${http.key}`, accept: 'application/json' },
    });
    expect([path, answer.statusCode]).toEqual([path, 200]);
    found[path] = rowsRead;
  }
  return found;
}

function allReads(): string[] {
  const { session, evaluation, graph, deployment } = ids;
  const candidate = (jobId: string) => `cand_${jobId.slice(4)}_0`;
  const ofJob = [
    ...['', '/results', '/history', '/prompt', '/candidates', '/pareto', '/sensor-frames', '/levers'].map(
      (path) => `${sessions}/${session}${path}`,
    ),
    ...['', '/seed-evals'].map((path) => `${sessions}/${session}/candidates/${candidate(session)}${path}`),
    ...['', '/results'].map((path) => `${evaluations}/${evaluation}${path}`),
    ...['', '/candidates', '/pareto'].map((path) => `${graphs}/${graph}${path}`),
    ...['/status', '/stats', '/labels', '/changes'].map((path) => `${deployments}/${deployment}${path}`),
    `${sessions}/${session}/traces/rol_${session.slice(4)}_0`,
    `/api/v1/compare?a=${candidate(session)}&b=${candidate(session)}`,
  ];
  const events = [`${sessions}/${session}`, `${evaluations}/${evaluation}`, `${graphs}/${graph}`];
  const mine = encodeURIComponent(JSON.stringify({ team: 'mine' }));
  const none = encodeURIComponent(JSON.stringify({ team: 'none' }));
  const filters = [
    '',
    'state=pending',
    'state=completed',
    'tag=mine',
    'tag=none',
    `metadata=${mine}`,
    `metadata=${none}`,
  ];
  const times = ['created_before=2000-01-01T00:00:00Z', 'created_after=2100-01-01T00:00:00Z', 'archived=true'];
  return [
    ...ofJob,
    ...events.map((path) => `${path}/events?limit=5`),
    ...[sessions, evaluations, graphs].flatMap((base) =>
      [...filters, ...times].map((query) => `${base}?limit=5&${query}`),
    ),
    ...['', 'tag=mine', 'tag=none', 'name=d0'].map((query) => `${deployments}?limit=5&${query}`),
    '/api/v1/datasets?limit=5',
  ];
}

describe('a read takes as many rows', () => {
  test('in a large database as in a small one, with fresh and with stale statistics', async () => {
    const paths = allReads();
    const small = await costs(paths);
    const tooMany = async () => Object.entries(await costs(paths)).filter(([path, n]) => n > 2 * small[path]! + slack);
    await asSuperuser(async (postgres) => {
      for (const jobId of Object.values(ids)) await copyJob(postgres, { jobId, from: 1_000, to: 1_000 + otherJobs });
    });
    expect(await tooMany()).toEqual([]);
    await asSuperuser((postgres) => postgres.query('vacuum analyze'));
    expect(await tooMany()).toEqual([]);
  }, 120_000);

  test('of retirements with many closed jobs, and versions that serve no name, as with few', async () => {
    const path = '/api/v1/models/retirements';
    // The copies of the first test are open, and a name is served by none.
    await asSuperuser((postgres) => postgres.query("update jobs set status = 'completed' where kind = 'deployment'"));
    const before = (await costs([path]))[path]!;
    await asSuperuser(async (postgres) => {
      for (const jobId of [ids.session, ids.deployment])
        await copyJob(postgres, { jobId, from: 5_000, to: 5_000 + otherJobs });
    });
    expect((await costs([path]))[path]).toBeLessThan(before + slack);
    await asSuperuser((postgres) => postgres.query('vacuum analyze'));
    expect((await costs([path]))[path]).toBeLessThan(before + slack);
    const all = `${path}?all=true`;
    expect((await costs([all]))[all]).toBeLessThan(before + 8 * 1_000 + slack);
  }, 60_000);

  test('of kept requests by their feedback, beside many requests and reports of other names, as beside few', async () => {
    const of = [ids.deployment, 'd6'];
    const queries = ['feedback=corrected', 'feedback=none', 'feedback=any&max_reward=0.5', 'min_reward=0.5&limit=100'];
    const paths = of.flatMap((ref) => queries.map((query) => `${deployments}/${ref}/requests?${query}`));
    await asSuperuser((postgres) => insertTraffic(postgres, { deploymentId: ids.deployment, name: 'd6', count: 30 }));
    const few = await costs(paths);
    expect(Math.min(...Object.values(few))).toBeGreaterThanOrEqual(30);
    const tooMany = async () => Object.entries(await costs(paths)).filter(([path, n]) => n > few[path]! + slack);
    await asSuperuser(async (postgres) => {
      for (const name of ['other', 'another'])
        await insertTraffic(postgres, { deploymentId: `dep_${name}`, name, count: otherJobs });
    });
    expect(await tooMany()).toEqual([]);
    await asSuperuser((postgres) => postgres.query('vacuum analyze'));
    expect(await tooMany()).toEqual([]);
  }, 60_000);

  test('of a closed evaluation with many seeds as with few', async () => {
    const many = Array.from({ length: 2_000 }, (_, seed) => seed);
    const jobId = await createEvaluation(http, { seeds: many });
    await seedRollouts(
      http,
      jobId,
      many.map((seed) => ({ candidate: 0, seed, status: 'succeeded', reward: 0.25 })),
    );
    await close(jobId);
    const [few, large] = [`${evaluations}/${ids.evaluation}`, `${evaluations}/${jobId}`];
    const page = `${evaluations}?limit=1`;
    const read = await costs([few, large, page]);
    expect(read[large]! - read[few]!).toBeLessThan(slack);
    expect(read[page]).toBeLessThan(slack);
    expect((await http.call('GET', large)).body).toMatchObject({
      progress: { completed: 2_000 },
      results: { mean_reward: 0.25 },
    });
  }, 60_000);

  test('of a running evaluation whose rollouts are queued as of its slots', async () => {
    const many = Array.from({ length: 5_000 }, (_, seed) => seed);
    const jobId = await createEvaluation(http, { seeds: many });
    await seedRollouts(
      http,
      jobId,
      many.map((seed) => ({ candidate: 0, seed, status: seed < 3 ? 'running' : 'queued' })),
    );
    const answer = await http.call('GET', `${evaluations}/${jobId}`);
    expect(answer.body.concurrency).toMatchObject({ in_flight: 3 });
  }, 60_000);
});
