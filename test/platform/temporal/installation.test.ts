import { expect, test } from '@jest/globals';
import { InstallationError } from '../../../src/platform/temporal/installation.js';
import type { ScheduleSpec } from '../../../src/schedules/contract/schedule.js';
import { insertRun, listRuns } from '../../../src/schedules/store/runs.js';
import { insertSchedule, readSchedule } from '../../../src/schedules/store/schedules.js';
import { createDatabase } from '../../support/servers/embedded.js';
import { copied, identify, open, polled, rowOf, started } from './copies.js';

test('each database has a queue of its own, which stays', async () => {
  const [first, second] = [open(await createDatabase()), open(await createDatabase())];
  const one = await identify(first);
  expect(one.taskQueue).toBe(`ratchet-${one.id}`);
  expect(await identify(first)).toEqual(one);
  expect((await identify(second)).taskQueue).not.toBe(one.taskQueue);
});

test('the setting names the queue, and may change while no job is open', async () => {
  const db = open(await createDatabase());
  const { id, taskQueue } = await identify(db);
  expect(await identify(db, 'mine')).toEqual({ id, taskQueue: 'mine' });
  expect(await identify(db)).toEqual({ id, taskQueue });
  await started(db);
  await expect(identify(db, 'other')).rejects.toThrow(InstallationError);
  expect(await identify(db)).toEqual({ id, taskQueue });
});

test('a copy without open jobs is another installation beside its original', async () => {
  const url = await createDatabase();
  const db = open(url);
  const original = await identify(db);
  await copied(url);
  const [one, two] = await polled(original.taskQueue, () => Promise.all([identify(db), identify(db)]));
  expect(one).toEqual(two);
  expect(one.id).not.toBe(original.id);
  expect(one.taskQueue).toBe(`ratchet-${one.id}`);
  expect(await identify(db)).toEqual(one);
});

test('a copy with a queue of its own reaches no workflow of the original', async () => {
  const url = await createDatabase();
  const db = open(url);
  const original = await identify(db);
  const { jobId } = await started(db);
  await copied(url);
  const copy = await identify(db, 'staging');
  expect(copy).toMatchObject({ taskQueue: 'staging' });
  expect(copy.id).not.toBe(original.id);
  expect(await rowOf(db, jobId)).toEqual({ id: `evaluation-${jobId}@${copy.id}`, webhooks: 0 });
});

test('a copy pauses its schedules, and makes no job of the runs of its original', async () => {
  const url = await createDatabase();
  const db = open(url);
  await identify(db);
  await started(db);
  const scheduleId = await db.org('default', async (tx) => {
    const spec = { every: '1d', checkup: {} } as ScheduleSpec;
    const id = await insertSchedule(tx, { name: 'support', spec, paused: false, keyId: null });
    await insertRun(tx, { scheduleId: id }, { at: new Date(), manual: false });
    return id;
  });
  await copied(url);
  await identify(db, 'staging');
  const { row, runs } = await db.org('default', async (tx) => ({
    row: await readSchedule(tx, scheduleId),
    runs: await listRuns(tx, scheduleId, 10),
  }));
  expect([row!.paused, row!.version, runs]).toEqual([true, 2, []]);
});

test('a copy with open jobs does not start beside its original', async () => {
  const url = await createDatabase();
  const db = open(url);
  const original = await identify(db);
  const { jobId } = await started(db);
  await copied(url);
  await polled(original.taskQueue, () => expect(identify(db)).rejects.toThrow(InstallationError));
  expect(await rowOf(db, jobId)).toEqual({ id: `evaluation-${jobId}`, webhooks: 1 });
});
