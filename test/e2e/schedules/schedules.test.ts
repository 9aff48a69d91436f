import { describe, expect, test } from '@jest/globals';
import { built, deploy, saying } from '../../support/deployments-over-http.js';
import { checkedUp, checkups } from '../../support/checkups-over-http.js';
import {
  decided,
  inTemporal,
  isGone,
  remove,
  runNow,
  schedule,
  schedules,
  type Schedule,
} from '../../support/schedules-over-http.js';
import { until } from '../../support/until.js';
import { movableModels as models } from '../../support/worlds/movable.js';
import { rowsBaseline } from '../../support/worlds/rows.js';
import { schedulesOfFile } from './schedules-of-file.js';

// Temporal starts the runs of a schedule at its times, and the service makes one checkup of each.

const { on, checkup, make, read } = schedulesOfFile();

/** When a schedule runs next, once Temporal has it as it is. */
const nextRunOf = (made: Schedule) => until('Temporal has the schedule', async () => (await read(made)).next_run_at);

describe('the times of a schedule', () => {
  test('are those of its cron expression in its time zone, each once', async () => {
    const made = await make({ timezone: 'Europe/Berlin' });
    expect(await nextRunOf(made)).toMatch(/T0[12]:00:00\.000Z$/);
    const handle = await inTemporal(on.service, made.schedule_id);
    const start = new Date('2026-07-06T00:59:00Z');
    const period = { start, end: new Date('2026-07-06T01:01:00Z') };
    await handle.backfill(period);
    const run = await decided(on.service, made.schedule_id, ({ manual }) => !manual);
    expect(run).toMatchObject({ outcome: 'started', scheduled_at: '2026-07-06T01:00:00.000Z' });
    await handle.backfill(period);
    await until('it came due again', async () => (await handle.describe()).info.numActionsTaken === 2);
    expect((await read(made)).last_runs).toHaveLength(1);
    await checkedUp(on.service, run.job_id!);
  });

  test('begin one time after the create', async () => {
    const made = await make({ every: '6h', cron: undefined });
    const ms = Date.parse(await nextRunOf(made)) - Date.parse(made.created_at);
    expect(ms).toBeGreaterThan(6 * 3_600_000 - 1_000);
    expect(ms).toBeLessThanOrEqual(6 * 3_600_000);
  });

  test('follow a change', async () => {
    const made = await make();
    await on.service.api.call<Schedule>('PATCH', `${schedules}/${made.schedule_id}`, { cron: '30 4 1 1 *' });
    const changed = await nextRunOf(made);
    expect(changed).toMatch(/-01-01T04:30:00\.000Z$/);
    const paused = await on.service.api.call<Schedule>('PATCH', `${schedules}/${made.schedule_id}`, { paused: true });
    expect(paused).toMatchObject({ paused: true, paused_in_temporal: false, next_run_at: null });
    const handle = await inTemporal(on.service, made.schedule_id);
    await until('Temporal has the pause', async () => (await handle.describe()).state.paused);
    await on.service.api.call<Schedule>('PATCH', `${schedules}/${made.schedule_id}`, { paused: false });
    expect(await nextRunOf(made)).toBe(changed);
  });
});

describe('the end', () => {
  test('of a schedule with an open run leaves the job, and nothing in Temporal', async () => {
    const made = await make();
    on.world.model.reply(() => new Promise(() => undefined));
    const { run_id: runId } = await runNow(on.service, made.schedule_id);
    const run = await decided(on.service, made.schedule_id, (one) => one.run_id === runId);
    const handle = await inTemporal(on.service, made.schedule_id);
    await remove(on.service, `${schedules}/${made.schedule_id}`);
    expect(await isGone(handle)).toBe(true);
    expect(await on.service.query('select id from schedules where id = $1', [made.schedule_id])).toEqual([]);
    await on.service.api.call('POST', `${checkups}/${run.job_id}/cancel`);
    expect(await checkedUp(on.service, run.job_id!)).toMatchObject({ status: 'cancelled' });
  });

  test('of the last deployment of a name takes its schedules', async () => {
    const source = saying(rowsBaseline, models.old);
    const { id } = await built(on.service, await deploy(on.service, { name: 'ending', source }));
    const made = await schedule(on.service, 'ending', { every: '1d', checkup: checkup() });
    await remove(on.service, `/api/harbor/deployments/${id}`);
    const handle = await inTemporal(on.service, made.schedule_id);
    await until('Temporal has none', () => isGone(handle));
    await until('its row is gone', async () => {
      return (await on.service.query('select id from schedules where id = $1', [made.schedule_id])).length === 0;
    });
  });
});
