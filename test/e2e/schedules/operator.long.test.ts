import { describe, expect, test } from '@jest/globals';
import { checkedUp } from '../../support/checkups-over-http.js';
import { decided, inTemporal, isGone, schedules, type Schedule } from '../../support/schedules-over-http.js';
import { until } from '../../support/until.js';
import { schedulesOfFile } from './schedules-of-file.js';

// What an operator does to a schedule in Temporal, and what the reconciler makes of it.

const { on, make, read } = schedulesOfFile();

/** As if nobody had compared it with Temporal for ten minutes. */
const compare = ({ schedule_id: id }: Schedule) =>
  on.service.query(`update schedules set checked_at = now() - interval '11 minutes' where id = $1`, [id]);

describe('an operator in Temporal', () => {
  test('who deletes or changes a schedule gets it back', async () => {
    const made = await make();
    const handle = await inTemporal(on.service, made.schedule_id);
    await handle.delete();
    expect((await read(made)).next_run_at).toBeNull();
    await compare(made);
    await until('it is back', async () => (await read(made)).next_run_at === made.next_run_at);
    await handle.update((before) => ({ ...before, spec: { cronExpressions: ['0 0 1 1 *'] } }));
    expect((await read(made)).next_run_at).not.toBe(made.next_run_at);
    await compare(made);
    await until('it is as before', async () => (await read(made)).next_run_at === made.next_run_at);
  });

  test('who pauses a schedule keeps it paused, which a view says', async () => {
    const made = await make();
    const handle = await inTemporal(on.service, made.schedule_id);
    await handle.pause('Stopped for the night.');
    expect(await read(made)).toMatchObject({ paused: false, paused_in_temporal: true, next_run_at: null });
    await on.service.api.call('PATCH', `${schedules}/${made.schedule_id}`, { cron: '0 4 * * *' });
    await compare(made);
    await until('it was compared', async () => {
      const [row] = await on.service.query<{ old: boolean }>(
        `select checked_at < now() - interval '10 minutes' as old from schedules where id = $1`,
        [made.schedule_id],
      );
      return !row!.old;
    });
    const { state, spec } = await handle.describe();
    expect(state).toMatchObject({ paused: true, note: 'Stopped for the night.' });
    expect(spec.calendars?.[0]?.hour).toEqual([{ start: 4, end: 4, step: 1 }]);
    await handle.unpause();
    expect((await read(made)).paused_in_temporal).toBe(false);
  });

  test('who triggers it runs it', async () => {
    const made = await make();
    await (await inTemporal(on.service, made.schedule_id)).trigger();
    const run = await decided(on.service, made.schedule_id, ({ manual }) => !manual);
    expect(run.outcome).toBe('started');
    await checkedUp(on.service, run.job_id!);
  });

  test('whose restore of Postgres lost a schedule has none at its next time in Temporal', async () => {
    const made = await make();
    const handle = await inTemporal(on.service, made.schedule_id);
    await on.service.query('delete from schedules where id = $1', [made.schedule_id]);
    await handle.trigger();
    await until('Temporal has none', () => isGone(handle));
  });
});
