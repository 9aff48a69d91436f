import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { seedRng, uniformInt } from '../../../src/core/math/random.js';
import {
  openCostBudget,
  readCostBudget,
  readRefused,
  reserveCost,
  reserveWhenPossible,
  settleCost,
} from '../../../src/jobs/store/cost-budget.js';
import { connect, type Db } from '../../../src/platform/db/db.js';
import type { JobRef } from '../../../src/jobs/store/events.js';
import { finishJob } from '../../../src/jobs/store/decisions/record.js';
import { listen, type Notifications } from '../../../src/platform/db/notifications.js';
import { createDatabase } from '../../support/servers/embedded.js';
import { insertJob } from '../../support/job.js';
import { until } from '../../support/until.js';

// Invariant: spent plus reserved never exceeds the budget, at any concurrency; every reservation
// ends.

let db: Db;
let living: Notifications;
beforeAll(async () => {
  const url = await createDatabase();
  const log = pino({ level: 'silent' });
  db = connect(url, log, 16);
  living = listen(url, log);
  await until('the process is known to live', async () => {
    const rows = await db.org('default', (tx) =>
      tx.query(`select 1 from pg_locks where locktype = 'advisory' and objid = $1::int::oid`, [living.presence]),
    );
    return rows.length > 0;
  });
});
afterAll(async () => {
  await living.close();
  await db.close();
});

async function newBudget(maxUsd: number): Promise<JobRef> {
  const job = await insertJob(db);
  await db.org(job.orgId, (tx) => openCostBudget(tx, job, maxUsd));
  return job;
}
const call = (costUsd: number, rolloutId: string | null = null, presence = living.presence) => ({
  id: randomUUID(),
  costUsd,
  rolloutId,
  presence,
});
const reserve = (job: JobRef, wanted: ReturnType<typeof call>) =>
  db.org(job.orgId, (tx) => reserveCost(tx, job, wanted));
const settle = (job: JobRef, id: string, cost: number | null) =>
  db.org(job.orgId, (tx) => settleCost(tx, job, id, cost));
const read = async (job: JobRef) => (await db.org(job.orgId, (tx) => readCostBudget(tx, job.jobId)))!;
const refused = (job: JobRef) =>
  db.org(job.orgId, async (tx) => (await readRefused(tx, [job.jobId])).get(job.jobId) ?? null);
const events = (job: JobRef) =>
  db.org(job.orgId, (tx) =>
    tx.query<{ type: string; data: object }>('select type, data from events where job_id = $1', [job.jobId]),
  );
const never = new AbortController().signal;

test('settles a reservation at the cost of its call', async () => {
  const job = await newBudget(1);
  const first = call(0.4);
  expect(await reserve(job, first)).toBe('reserved');
  expect(await read(job)).toEqual({ maxUsd: 1, spentUsd: 0, reservedUsd: 0.4 });
  await settle(job, first.id, 0.1);
  await settle(job, first.id, 0.1);
  expect(await read(job)).toEqual({ maxUsd: 1, spentUsd: 0.1, reservedUsd: 0 });
});

test('an unknown cost counts in full; a refused call counts 0', async () => {
  const job = await newBudget(1);
  const [lost, free] = [call(0.4), call(0.5)];
  for (const one of [lost, free]) expect(await reserve(job, one)).toBe('reserved');
  await settle(job, lost.id, null);
  await settle(job, free.id, 0);
  expect(await read(job)).toEqual({ maxUsd: 1, spentUsd: 0.4, reservedUsd: 0 });
});

test('a call waits for calls in flight and starts when enough remains', async () => {
  const job = await newBudget(1);
  const [first, second] = [call(0.7), call(0.7)];
  await reserve(job, first);
  expect(await reserve(job, second)).toBe('busy');
  const waiting = reserveWhenPossible(db, job, second, never);
  await settle(job, first.id, 0.1);
  expect(await waiting).toBe('reserved');
  expect(await refused(job)).toBeNull();
});

test('a call that does not fit closes the budget and records its rollout', async () => {
  const job = await newBudget(1);
  const first = call(0.5);
  await reserve(job, first);
  await settle(job, first.id, 0.5);
  expect(await reserve(job, call(0.6, 'rol_a'))).toBe('refused');
  expect(await reserve(job, call(0.1, 'rol_b'))).toBe('refused');
  expect(await refused(job)).toEqual(new Set(['rol_a', 'rol_b']));
});

test('reservations of a dead process count in full and block no call', async () => {
  const job = await newBudget(1);
  expect(await reserve(job, call(0.7, 'rol_a', randomInt(1, 2 ** 31)))).toBe('reserved');
  expect(await reserve(job, call(0.2))).toBe('reserved');
  expect(await reserve(job, call(0.5, 'rol_b'))).toBe('refused');
  expect(await read(job)).toEqual({ maxUsd: 1, spentUsd: 0.7, reservedUsd: 0.2 });
});

test.each(['completed', 'failed', 'cancelled'] as const)(
  'the end of a %s job counts reservations of a dead process in full and keeps those of calls in flight',
  async (status) => {
    const job = await newBudget(1);
    const sent = call(0.2);
    for (const each of [call(0.4, 'rol_a', randomInt(1, 2 ** 31)), sent]) await reserve(job, each);
    const end = { status, stoppedBy: null, error: null, events: [], accepted: [] };
    await db.org(job.orgId, (tx) => finishJob(tx, job, end));
    expect(await read(job)).toEqual({ maxUsd: 1, spentUsd: 0.4, reservedUsd: 0.2 });
    await settle(job, sent.id, 0.1);
    expect(await read(job)).toEqual({ maxUsd: 1, spentUsd: 0.5, reservedUsd: 0 });
  },
);

test('warns once at 80 %', async () => {
  const job = await newBudget(1);
  const calls = [0.5, 0.3, 0.1].map((cost) => call(cost));
  for (const reserved of calls) {
    await reserve(job, reserved);
    await settle(job, reserved.id, null);
  }
  expect(await events(job)).toEqual([{ type: 'budget_warning', data: { cost_usd: 0.8, max_cost_usd: 1 } }]);
});

test('sixteen concurrent callers use it up without exceeding it', async () => {
  const job = await newBudget(1);
  let answered = 0;
  await Promise.all(
    Array.from({ length: 16 }, async (_, worker) => {
      let rng = seedRng(worker);
      const draw = (n: number) => {
        const [value, next] = uniformInt(rng, n);
        rng = next;
        return value;
      };
      for (;;) {
        const most = (1 + draw(60)) / 1_000;
        const largest = call(most);
        if ((await reserveWhenPossible(db, job, largest, never)) === 'refused') return;
        await delay(draw(5));
        const cost = (most * draw(101)) / 100;
        answered += cost;
        await settle(job, largest.id, cost);
        const { spentUsd, reservedUsd } = await read(job);
        expect(spentUsd + reservedUsd).toBeLessThanOrEqual(1 + 1e-12);
      }
    }),
  );
  expect(answered).toBeLessThanOrEqual(1);
  expect(answered).toBeGreaterThan(0.9);
  expect(await read(job)).toMatchObject({ reservedUsd: 0, spentUsd: expect.closeTo(answered, 9) as unknown });
});
