import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import type { FastifyReply } from 'fastify';
import { pino } from 'pino';
import { DeploymentLimits } from '../../../../src/models/routes/deployments/limits.js';
import { connect, type Db } from '../../../../src/platform/db/db.js';
import { createDatabase } from '../../../support/servers/embedded.js';
import { runs } from '../../../support/runs.js';

// Invariant: processes that ask at the same moment admit no more than the limit together, of no
// subject, however their transactions wait for each other.

const log = pino({ level: 'silent' });
const processes = 6;
let db: Db;
let all: DeploymentLimits[];
beforeAll(async () => {
  db = connect(await createDatabase(), log, processes);
  all = Array.from({ length: processes }, () => new DeploymentLimits({ db, log }));
});
afterAll(async () => {
  await Promise.all(all.map((each) => each.close()));
  await db.close();
});

const none = { requests_per_minute: null, tokens_per_minute: null, calls_in_flight: null, spend_usd_per_day: null };
let count = 0;
let some = 0;

test('calls in flight of a name, of keys and of tags', async () => {
  const call = fc.record({
    at: fc.nat(processes - 1),
    keyId: fc.constantFrom('a', 'b'),
    tag: fc.constantFrom('x', 'y', 'z'),
  });
  const limit = fc.integer({ min: 1, max: 5 });
  await fc.assert(
    fc.asyncProperty(
      limit,
      limit,
      limit,
      fc.array(call, { minLength: 12, maxLength: 30 }),
      async (total, key, tag, calls) => {
        const of = (calls_in_flight: number) => ({ ...none, calls_in_flight });
        const limits = { total: of(total), per_key: of(key), per_tag: of(tag) };
        const deployment = { name: `n-${(count += 1)}`, settings: { limits } };
        const raws: EventEmitter[] = [];
        const ask = async ({ at, ...caller }: (typeof calls)[number]) => {
          const raw = Object.assign(new EventEmitter(), { destroyed: false });
          const reply = { raw, getHeader: () => undefined, header: () => reply } as unknown as FastifyReply;
          try {
            await all[at]!.admit({ orgId: 'default', ...caller, ref: deployment.name, deployment, models: [] }, reply);
          } catch (error) {
            expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
            return [];
          }
          raws.push(raw);
          return [caller];
        };
        const admitted = (await Promise.all(calls.map(ask))).flat();
        const most = (values: string[]) =>
          Math.max(...values.map((value) => values.filter((each) => each === value).length));
        expect(admitted.length).toBeLessThanOrEqual(total);
        some += admitted.length;
        expect(most(admitted.map(({ keyId }) => keyId))).toBeLessThanOrEqual(key);
        expect(most(admitted.map((each) => each.tag))).toBeLessThanOrEqual(tag);
        for (const raw of raws) raw.emit('close');
      },
    ),
    { numRuns: runs(40, 400) },
  );
  expect(some).toBeGreaterThan(count);
}, 60_000);

test('what was counted is read while the deployment is resolved, and again where its limits have changed', async () => {
  let messages = 0;
  const orgBatch: Db['orgBatch'] = (...batch) => ((messages += 1), db.orgBatch(...batch));
  const limits = new DeploymentLimits({ db: { orgBatch }, log });
  const raw = Object.assign(new EventEmitter(), { destroyed: false });
  const reply = { raw, getHeader: () => undefined, header: () => reply } as unknown as FastifyReply;
  const total = { ...none, tokens_per_minute: 100 };
  const name = `n-${(count += 1)}`;
  const asked = { orgId: 'default', keyId: 'a', tag: '', ref: `${name}@staging` };
  const ask = async (settings: { limits: Record<string, unknown> }) => {
    const before = messages;
    const early = limits.foresee(asked);
    await early;
    const resolved = messages - before;
    const deployment = { name, settings } as unknown as Parameters<DeploymentLimits['admit']>[0]['deployment'];
    const subjects = await limits.admit({ ...asked, deployment, models: [] }, reply, early);
    return [resolved, messages - before - resolved, subjects.length];
  };
  expect(await ask({ limits: { total } })).toEqual([0, 1, 1]);
  expect(await ask({ limits: { total } })).toEqual([1, 0, 1]);
  expect(await ask({ limits: { total, per_key: total } })).toEqual([1, 1, 2]);
  expect(await ask({ limits: { per_key: total } })).toEqual([1, 0, 1]);
  expect(await ask({ limits: {} })).toEqual([1, 0, 0]);
  expect(await ask({ limits: {} })).toEqual([0, 0, 0]);
  await limits.close();
});
