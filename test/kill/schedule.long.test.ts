import { expect, test } from '@jest/globals';
import { apiOfFile } from '../harness/worlds/processes.js';
import { built, deploy, saying } from '../support/deployments-over-http.js';
import { checkedUp } from '../support/checkups-over-http.js';
import { decided, inTemporal, isGone, readSchedule, runNow, schedule } from '../support/schedules-over-http.js';
import { until } from '../support/until.js';
import { movableModels as models, movableRows, startMovableWorld } from '../support/worlds/movable.js';
import { rowsBaseline } from '../support/worlds/rows.js';

// After kill -9 of the API between any two steps of a run, the run has one job, which ends.

const on = apiOfFile(startMovableWorld);
const checkup = () => ({ rows: movableRows(on.world, 10), traffic: null });
const served = () => ({ api: on.api, url: on.process.tree.url, apiKey: on.service.apiKey });

/** A run that the API may take only after some seconds. */
async function runLater(id: string): Promise<string> {
  const { run_id: runId } = await runNow(on, id);
  await on.service.query(
    `update schedule_runs set leased_until = now() + interval '3 seconds' where id = $1 and status = 'due'`,
    [runId],
  );
  return runId;
}

async function hasOneJob(id: string, runId: string): Promise<void> {
  const run = await decided(on, id, (one) => one.run_id === runId, 60);
  expect(run.outcome).toBe('started');
  expect(await checkedUp(on, run.job_id!)).toMatchObject({ status: 'completed' });
  const jobs = await on.service.query<{ id: string }>(
    `select id from jobs where metadata->>'schedule_id' = $1 and created_at >= (select at from schedule_runs where id = $2)`,
    [id, runId],
  );
  expect(jobs).toEqual([{ id: run.job_id }]);
}

test('a run whose API dies before it is taken, while its job is stored, and after that, has one job', async () => {
  await on.process.start();
  await built(served(), await deploy(served(), { name: 'support', source: saying(rowsBaseline, models.old) }));
  const { schedule_id: id } = await schedule(on, 'support', { every: '1d', checkup: checkup() });
  for (const table of ['schedule_runs', 'job_labels']) {
    const runId = await runLater(id);
    await on.process.killAt([`lock table ${table} in share mode`], () => Promise.resolve());
    await on.process.start();
    await hasOneJob(id, runId);
  }
  const { run_id: runId } = await runNow(on, id);
  await decided(on, id, (one) => one.run_id === runId);
  await on.process.kill();
  await on.process.start();
  await hasOneJob(id, runId);
  expect((await readSchedule(on, id)).last_runs.map(({ outcome }) => outcome)).toEqual([
    'started',
    'started',
    'started',
  ]);
}, 300_000);

test('a schedule whose API dies before it tells Temporal is in Temporal', async () => {
  if (!on.process.isUp) await on.process.start();
  await built(served(), await deploy(served(), { name: 'other', source: saying(rowsBaseline, models.old) }));
  const body = { every: '1d', checkup: checkup() };
  const { schedule_id: id } = await schedule(on, 'other', body);
  await on.process.kill();
  const handle = await inTemporal(on.service, id);
  await handle.delete();
  // As a create leaves it.
  await on.service.query('update schedules set synced = null, digest = null where id = $1', [id]);
  await until('Temporal has it', async () => !(await isGone(handle)));
}, 120_000);
