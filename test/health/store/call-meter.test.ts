import { afterEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { CallMeter, type CountedTry } from '../../../src/health/store/call-meter.js';
import { readCalls, type CalledMinute } from '../../../src/health/store/provider-calls.js';
import type { Db } from '../../../src/platform/db/db.js';
import { databaseOfFile } from '../../support/database-of-file.js';
import { until } from '../../support/until.js';

// Invariants: each try is counted once, in the minute in which it ended, whatever becomes of the
// writes; an organization counts a bounded number of models; nobody sees another organization's.

const db = databaseOfFile(4);
const minuteMs = 60_000;
const startMs = Date.UTC(2026, 10, 29, 21, 21);

let now = startMs;
let meters: CallMeter[] = [];
const warned: unknown[] = [];
afterEach(async () => {
  await Promise.all(meters.map((meter) => meter.close()));
  meters = [];
});

function meterOn(on: Pick<Db, 'orgTogether'> = db): CallMeter {
  const meter = new CallMeter(on, { warn: (fields: object) => warned.push(fields) } as never, () => now);
  meters.push(meter);
  return meter;
}

const read = (orgId: string, most = 100): Promise<CalledMinute[]> =>
  db.org(orgId, (tx) => readCalls(tx, new Date(0), { of: null, most }));
const written = (orgId: string, calls: number) =>
  until(`${calls} calls are written`, async () => {
    const minutes = await read(orgId);
    return minutes.reduce((sum, minute) => sum + minute.calls, 0) === calls && minutes;
  });

const ok: CountedTry = { provider: 'p', model: 'm', latencyMs: 10 };
const tooMany: CountedTry = { ...ok, trouble: { is: 'throttled', error: '429' } };

test('tries of several processes and minutes are counted by kind, once', async () => {
  const orgId = randomUUID();
  now = startMs + 5_000;
  const [one, other] = [meterOn(), meterOn()];
  for (const meter of [one, other]) for (let n = 0; n < 12; n += 1) meter.count(orgId, ok);
  now = startMs + 7_000;
  one.count(orgId, tooMany);
  other.count(orgId, { ...ok, trouble: { is: 'refused', error: '400' } });
  await written(orgId, 26);
  now = startMs + minuteMs;
  one.count(orgId, { ...ok, trouble: { is: 'failed', error: 'upstream_timeout' } });
  const [first, second] = await written(orgId, 27);
  expect(first).toMatchObject({ provider: 'p', model: 'm', startMs, calls: 26, throttled: 1, failed: 0 });
  expect(first).toMatchObject({ errors: { 429: 1, 400: 1 }, troubledMs: startMs + 7_000 });
  expect(Object.values(first!.latencies)).toEqual([24]);
  expect(second).toMatchObject({ startMs: now, calls: 1, failed: 1, errors: { upstream_timeout: 1 }, troubledMs: now });
  expect(await read(randomUUID())).toEqual([]);
});

test('a write whose answer was lost, or that failed, counts nothing twice and loses nothing', async () => {
  const orgId = randomUUID();
  let writes = 0;
  const orgTogether: Db['orgTogether'] = async (...write) => {
    writes += 1;
    if (writes === 1) throw new Error('away');
    const result = await db.orgTogether(...write);
    if (writes === 2) throw new Error('its answer is lost');
    return result;
  };
  const meter = meterOn({ orgTogether });
  meter.count(orgId, ok);
  await until('both failures are told', () => warned.length === 2);
  meter.count(orgId, ok);
  await meter.close();
  expect(await read(orgId)).toMatchObject([{ calls: 2 }]);
});

test('a minute has fifty models, then others together', async () => {
  const orgId = randomUUID();
  const meter = meterOn();
  for (let n = 0; n < 60; n += 1) meter.count(orgId, { ...ok, model: `m${n}` });
  await meter.close();
  const minutes = await read(orgId);
  expect(minutes).toHaveLength(51);
  expect(minutes.find(({ model }) => model === 'other')).toMatchObject({ calls: 10 });
  expect((await read(orgId, 1)).map(({ model }) => model)).toEqual(['other']);
});
