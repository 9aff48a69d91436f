import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setLimits, noLimits } from '../../../src/access/store/limits.js';
import type { HttpDeps } from '../../../src/platform/http/deps.js';
import { startDueRuns } from '../../../src/schedules/routes/due-runs.js';
import { insertRun } from '../../../src/schedules/store/runs.js';
import { childJobId } from '../../../src/core/jobs/kinds.js';
import { deploymentsOfFile } from '../../kinds/deployment/routes/support.js';
import { finish } from '../../platform/http/support.js';
import { deployments } from '../../support/jobs-over-http.js';
import { schedules, type Schedule, type ScheduleRun } from '../../support/schedules-over-http.js';
import { checkup } from '../support.js';

// Invariants: a run that is due gets one job, with an id that follows from its own, or says why it
// has none; the jobs of a month never have more dollars than the month; no fault of the service
// loses a run.

const it = deploymentsOfFile();
let id: string;

beforeAll(async () => {
  await it.deploy('support');
});
beforeEach(async () => {
  id = await made('support');
});

const made = async (name: string, more: object = {}): Promise<string> => {
  const body = { cron: '0 3 * * 1', checkup, ...more };
  const answer = await it.http.call('POST', `${deployments}/${name}/schedules`, body);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.schedule_id;
};
const read = async (of = id): Promise<Schedule> => (await it.http.call('GET', `${schedules}/${of}`)).body;
const latest = async (of = id): Promise<ScheduleRun> => (await read(of)).last_runs[0]!;
const run = async (of = id): Promise<ScheduleRun> => (await it.http.call('POST', `${schedules}/${of}/run`)).body;
const query = (sql: string, params: unknown[] = []) => it.http.db.org('default', (tx) => tx.query(sql, params));
/** A run that Temporal has begun. */
const due = (of = id, at = new Date()) =>
  it.http.db.org('default', (tx) => insertRun(tx, { scheduleId: of }, { at, manual: false }));

/** What an API process does each second. */
async function pass(deps: Partial<HttpDeps> = {}): Promise<void> {
  const loop = startDueRuns({ ...it.http.deps, ...deps });
  await loop.run();
  await loop.stop();
}

const started = async (of = id): Promise<ScheduleRun & { job_id: string }> => {
  await run(of);
  await pass();
  const made = await latest(of);
  expect(made.outcome).toBe('started');
  return { ...made, job_id: made.job_id! };
};
const end = (jobId: string) => it.http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId }, 'completed'));
/** A job that another one has started, with what it has spent of its budget. */
async function child(parent: string, number: number, usd: { spent?: number; reserved?: number; open?: boolean }) {
  const jobId = childJobId('evaluation', parent, number);
  const status = usd.open ? 'running' : 'completed';
  await query(
    `insert into jobs (id, org_id, kind, status, workflow_id, spec, completed_at)
     values ($1, 'default', 'evaluation', $2, $1, '{}', case when $2 = 'completed' then now() end)`,
    [jobId, status],
  );
  await query('insert into job_budgets (job_id, org_id, max_usd, spent_usd, reserved_usd) values ($1, $2, 9, $3, $4)', [
    jobId,
    'default',
    usd.spent ?? 0,
    usd.reserved ?? 0,
  ]);
  return jobId;
}

describe('a due run', () => {
  test('gets one job, whose id follows from its own, with the labels of the schedule', async () => {
    const labelled = await made('support', { tags: ['night'], metadata: { team: 'search' }, notes: 'Ask Ada.' });
    const asked = await run(labelled);
    expect(asked).toMatchObject({ outcome: null, manual: true, job_id: null });
    await pass();
    await pass();
    const jobId = asked.run_id.replace('run_', 'chk_');
    expect(await latest(labelled)).toMatchObject({ ...asked, outcome: 'started', job_id: jobId });
    const [job] = await query('select kind, name, tags, metadata, notes, key_id from jobs where id = $1', [jobId]);
    expect(job).toEqual({
      kind: 'checkup',
      name: 'support',
      tags: ['night'],
      metadata: { team: 'search', schedule_id: labelled },
      notes: 'Ask Ada.',
      key_id: 'bootstrap_default',
    });
    expect(it.http.commander.started.filter((one) => one === jobId)).toEqual([jobId]);
  });

  test('of Temporal is one for its time, and none while the schedule is paused', async () => {
    const at = new Date();
    expect(await due(id, at)).not.toBeNull();
    expect(await due(id, at)).toBeNull();
    await it.http.call('PATCH', `${schedules}/${id}`, { paused: true });
    expect(await due(id, new Date(at.getTime() + 1))).toBeNull();
    await pass();
    // It was paused before its job was made.
    expect((await read()).last_runs).toEqual([]);
    expect(await started()).toMatchObject({ manual: true });
  });

  test('is taken by one of two processes', async () => {
    await run();
    await Promise.all([pass(), pass(), pass()]);
    const { last_runs: runs } = await read();
    expect(runs).toHaveLength(1);
    expect(await query(`select id from jobs where metadata->>'schedule_id' = $1`, [id])).toHaveLength(1);
  });

  test('waits for a database or a Temporal that cannot start jobs, and runs later', async () => {
    const asked = await run();
    await pass({ startProblem: () => Promise.resolve('The namespace lacks search attributes.') });
    expect(await latest()).toMatchObject({ run_id: asked.run_id, outcome: null });
    await pass();
    expect(await latest()).toMatchObject({ outcome: null });
    await query(`update schedule_runs set leased_until = now() - interval '1 second' where id = $1`, [asked.run_id]);
    await pass();
    expect(await latest()).toMatchObject({ run_id: asked.run_id, outcome: 'started' });
  });

  test('of a schedule that ended meanwhile makes no job', async () => {
    await run();
    await it.http.call('DELETE', `${schedules}/${id}`);
    await pass();
    expect(await query(`select id from jobs where metadata->>'schedule_id' = $1`, [id])).toEqual([]);
  });
});

describe('a run without a job', () => {
  test('is skipped while the job of an earlier one is open', async () => {
    const first = await started();
    await run();
    await pass();
    expect(await latest()).toMatchObject({ outcome: 'skipped', code: 'still_running', job_id: null });
    await end(first.job_id);
    const open = await child(first.job_id, 0, { open: true });
    await run();
    await pass();
    expect(await latest()).toMatchObject({ outcome: 'skipped', code: 'still_running' });
    await query('update jobs set completed_at = now() where id = $1', [open]);
    await started();
  });

  test('is refused where its name serves nothing, and the schedule goes on', async () => {
    const first = await it.deploy('gone', 'one');
    const of = await made('gone');
    it.held = true;
    await it.deploy('gone', 'two');
    await it.http.call('DELETE', `${deployments}/${first}`);
    await run(of);
    await pass();
    expect(await latest(of)).toMatchObject({ outcome: 'refused', code: 'not_found', job_id: null });
    it.held = false;
    await it.deploy('gone', 'three');
    await started(of);
  });

  test('is refused where the request became wrong, with the field', async () => {
    await query(
      `update schedules set spec = jsonb_set(spec::jsonb, '{checkup,rows,dataset}', '{"dataset_id": "ds_gone"}') where id = $1`,
      [id],
    );
    await run();
    await pass();
    const { code, detail } = await latest();
    expect([code, detail]).toEqual([
      'validation_failed',
      expect.stringMatching(/^checkup\.rows\.dataset\.dataset_id: /),
    ]);
  });

  test('is refused by a quota, and stores nothing', async () => {
    await it.http.db.org('default', (tx) => setLimits(tx, 'default', 'default', { ...noLimits, openJobs: 0 }));
    await run();
    await pass();
    expect(await latest()).toMatchObject({ outcome: 'refused', code: 'quota_exceeded' });
    await it.http.db.org('default', (tx) => setLimits(tx, 'default', 'default', noLimits));
    await started();
  });

  test('is refused by a fault of the service, whose text stays in the log', async () => {
    const fault = () => {
      throw new TypeError('secret');
    };
    await run();
    await pass({ checkProvider: fault });
    expect(await latest()).toMatchObject({ outcome: 'refused', code: 'internal' });
    expect((await latest()).detail).not.toContain('secret');
  });
});

describe('max_cost_usd_per_month', () => {
  const monthly = (usd: number, more: object = {}) => made('support', { max_cost_usd_per_month: usd, ...more });
  const budgetOf = async (of: string) =>
    (await query('select budget_usd from schedule_runs where schedule_id = $1 order by at desc limit 1', [of]))[0]![
      'budget_usd'
    ];

  test('gives each run what is left, and skips those without any, once with words', async () => {
    const of = await monthly(3);
    const first = await started(of);
    expect(await budgetOf(of)).toBe(3);
    expect((await read(of)).spent_this_month_usd).toBe(3);
    await child(first.job_id, 0, { spent: 1 });
    await child(first.job_id, 1, { spent: 0.25, reserved: 0.25 });
    await end(first.job_id);
    await pass();
    expect((await read(of)).spent_this_month_usd).toBe(1.5);
    const second = await started(of);
    expect(await budgetOf(of)).toBe(1.5);
    await child(second.job_id, 0, { spent: 1.5 });
    await end(second.job_id);
    for (let n = 0; n < 3; n++) {
      await due(of);
      await pass();
    }
    const { last_runs: runs } = await read(of);
    expect(runs.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['skipped', 'month_budget_spent'],
      ['started', null],
      ['started', null],
    ]);
    // One that a person asks for has an answer.
    const asked = await run(of);
    await pass();
    expect(await latest(of)).toMatchObject({ run_id: asked.run_id, code: 'month_budget_spent' });
    await query(`update schedules set month = month - interval '1 month' where id = $1`, [of]);
    expect((await read(of)).spent_this_month_usd).toBe(0);
    await started(of);
    expect(await budgetOf(of)).toBe(3);
  });

  test('counts a job of unknown cost with its whole budget, and one that was deleted, too', async () => {
    for (const lose of [`update job_usage set unpriced = 1 where job_id = $1`, `delete from jobs where id = $1`]) {
      const of = await monthly(2);
      const { job_id: jobId } = await started(of);
      await end(jobId);
      await query(lose, [jobId]);
      await pass();
      expect((await read(of)).spent_this_month_usd).toBe(2);
    }
  });

  test('counts a run for the month in which it began', async () => {
    const of = await monthly(2);
    const { job_id: jobId, run_id: runId } = await started(of);
    await query(`update schedule_runs set month = month - interval '1 month' where id = $1`, [runId]);
    expect((await read(of)).spent_this_month_usd).toBe(0);
    await child(jobId, 0, { spent: 2 });
    await end(jobId);
    await pass();
    expect((await read(of)).spent_this_month_usd).toBe(0);
    await started(of);
    expect(await budgetOf(of)).toBe(2);
  });

  test('that is lowered while a run is prepared holds for it', async () => {
    const of = await monthly(5);
    await run(of);
    let isLowered = false;
    const checkProvider: HttpDeps['checkProvider'] = () => null;
    const listed = {
      checkProvider,
      startProblem: async () => {
        if (!isLowered) await it.http.call('PATCH', `${schedules}/${of}`, { max_cost_usd_per_month: 1 });
        isLowered = true;
        return null;
      },
    };
    await pass(listed);
    expect(await latest(of)).toMatchObject({ outcome: null });
    await pass();
    expect(await latest(of)).toMatchObject({ outcome: 'started' });
    expect(await budgetOf(of)).toBe(1);
  });
});

test('a schedule keeps its last hundred runs, and open ones', async () => {
  const first = await started();
  const start = Date.parse('2026-01-01T00:00:00Z');
  await query('update schedule_runs set at = $2 where id = $1', [first.run_id, new Date(start)]);
  await query(
    `insert into schedule_runs (id, schedule_id, org_id, at, manual, status, code, detail)
     select 'run_' || n, $1, 'default', $2::timestamptz + n * interval '1 minute', false, 'skipped', 'still_running', ''
       from generate_series(1, 120) n`,
    [id, new Date(start)],
  );
  await due();
  const rows = await query('select id from schedule_runs where schedule_id = $1 order by at', [id]);
  expect(rows).toHaveLength(101);
  expect(rows[0]).toEqual({ id: first.run_id });
  expect((await read()).last_runs).toHaveLength(20);
});
