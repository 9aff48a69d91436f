import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { v7 as uuid } from 'uuid';
import { cronProblem } from '../../../src/schedules/contract/cron.js';
import { schedulesOfFile } from './schedules-of-file.js';

// Invariant: what the service takes as a cron expression, Temporal takes, and comes due.

const { on } = schedulesOfFile();

/** The next times of a cron expression by Temporal; null: it refuses it. */
async function timesOf(cron: string): Promise<Date[] | null> {
  const scheduleId = `cron-${uuid()}`;
  const action = { type: 'startWorkflow', workflowType: 'none', taskQueue: 'none' } as const;
  const handle = await on.service.temporal.schedule
    .create({ scheduleId, spec: { cronExpressions: [cron] }, action, state: { paused: true } })
    .catch(() => null);
  if (!handle) return null;
  const { info } = await handle.describe();
  await handle.delete();
  return info.nextActionTimes;
}

const field = (least: number, most: number, names: readonly string[] = []) => {
  const value = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: least, max: most }).map(String) },
    ...(names.length > 0 ? [{ weight: 3, arbitrary: fc.constantFrom(...names) }] : []),
    { weight: 1, arbitrary: fc.constantFrom('?', 'L', '-1', 'x', '', '07', '99') },
  );
  const range = fc.tuple(value, value).map((ends) => ends.join('-'));
  const step = fc.integer({ min: 0, max: most + 3 });
  const item = fc.oneof(
    { weight: 4, arbitrary: fc.constant('*') },
    { weight: 4, arbitrary: value },
    { weight: 2, arbitrary: range },
    { weight: 2, arbitrary: fc.tuple(fc.oneof(fc.constant('*'), range, value), step).map((parts) => parts.join('/')) },
  );
  return fc.oneof(
    item,
    fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(',')),
  );
};
const dates = field(1, 31);
const weekdays = field(0, 8, ['SUN', 'mon', 'Sat', 'tuesday']);
const all = fc.constant('*');
const expression = fc
  .oneof(fc.tuple(dates, all), fc.tuple(all, weekdays), fc.tuple(dates, weekdays))
  .chain(([date, weekday]) =>
    fc.tuple(
      field(0, 59),
      field(0, 23),
      fc.constant(date),
      field(1, 12, ['JAN', 'feb', 'Dec', 'march']),
      fc.constant(weekday),
    ),
  )
  .map((fields) => fields.join(' '));

test('an expression that is taken comes due in Temporal', async () => {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(expression, async (cron) => {
      if (cronProblem(cron) !== null) return;
      taken += 1;
      expect([cron, ((await timesOf(cron)) ?? []).length > 0]).toEqual([cron, true]);
    }),
    { numRuns: 1_000 },
  );
  expect(taken).toBeGreaterThan(100);
}, 300_000);

test('with both days Temporal means both', async () => {
  const times = await timesOf('0 0 13 * FRI');
  expect(times!.length).toBeGreaterThan(0);
  for (const time of times!) expect([time.getUTCDate(), time.getUTCDay()]).toEqual([13, 5]);
});
