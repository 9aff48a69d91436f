import { beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Db } from '../../../src/platform/db/db.js';
import { createGroupCommit, type GroupCommit } from '../../../src/platform/db/group-commit.js';
import { databaseOfFile } from '../../support/database-of-file.js';
import { gate } from '../../support/gate.js';

// Invariants: what waits for an organization's transaction commits together in the next one; each
// statement gets its own rows, when they are durable; one that is refused fails alone.

const db = databaseOfFile(4);
/** Keys of a test begin with it. */
let prefix: string;
beforeEach(() => {
  prefix = randomUUID();
});

const put = (group: GroupCommit, orgId: string, key: string | null): Promise<{ key: string; xact: string }> =>
  group
    .tx(orgId, key ?? '')
    .query<{ key: string; xact: string }>(
      `insert into idempotency_keys (org_id, key, fingerprint) values ($1, $2, '')
       returning key, pg_current_xact_id()::text as xact`,
      [orgId, key],
      'put_key',
    )
    .then(([row]) => row!);

const stored = async (orgId: string): Promise<string[]> => {
  const rows = await db.org(orgId, (tx) =>
    tx.query<{ key: string }>('select key from idempotency_keys where key like $1 order by key', [`${prefix}%`]),
  );
  return rows.map(({ key }) => key);
};

/** The database; each transaction of a group waits for `opened`. `sizes`: of the transactions. */
function held(opened: Promise<void>) {
  const sizes: number[] = [];
  const orgBatch: Db['orgBatch'] = async (orgId, statements) => {
    sizes.push(statements.length);
    await opened;
    return db.orgBatch(orgId, statements);
  };
  return { sizes, group: createGroupCommit({ orgBatch }) };
}

test('what waits for a transaction shares the next one', async () => {
  const { opened, open } = gate();
  const { sizes, group } = held(opened);
  const first = put(group, 'default', `${prefix} 0`);
  await new Promise(setImmediate);
  const next = [1, 2, 3].map((n) => put(group, 'default', `${prefix} ${n}`));
  open();
  await first;
  const xacts = (await Promise.all(next)).map(({ xact }) => xact);
  expect(new Set(xacts).size).toBe(1);
  expect(xacts[0]).not.toBe((await first).xact);
  expect(sizes).toEqual([1, 3]);
});

test('one organization waits for no other, and sees no other', async () => {
  const { opened, open } = gate();
  const slow: Db['orgBatch'] = async (orgId, statements) => {
    if (orgId === 'slow') await opened;
    return db.orgBatch(orgId, statements);
  };
  const group = createGroupCommit({ orgBatch: slow });
  const waiting = put(group, 'slow', `${prefix} slow`);
  await put(group, 'quick', `${prefix} quick`);
  expect(await stored('quick')).toEqual([`${prefix} quick`]);
  expect(await stored('slow')).toEqual([]);
  open();
  await waiting;
  // Row-level security of the first organization of a connection does not last.
  await expect(
    group.tx('quick', '').query(`insert into idempotency_keys (org_id, key, fingerprint) values ('slow', 'x', '')`),
  ).rejects.toThrow('row-level security');
});

describe('a refused statement', () => {
  test.each([0, 1, 2, 3])('number %i fails alone, and the others are durable', async (bad) => {
    const { opened, open } = gate();
    const { group } = held(opened);
    void put(group, 'default', `${prefix} before`);
    await new Promise(setImmediate);
    const all = [0, 1, 2, 3].map((n) => put(group, 'default', n === bad ? null : `${prefix} ${n}`));
    open();
    const ends = await Promise.allSettled(all);
    expect(ends.map(({ status }) => status)).toEqual([0, 1, 2, 3].map((n) => (n === bad ? 'rejected' : 'fulfilled')));
    expect((ends[bad] as PromiseRejectedResult).reason).toMatchObject({ code: '23502' });
    const good = [0, 1, 2, 3].filter((n) => n !== bad).map((n) => `${prefix} ${n}`);
    expect(await stored('default')).toEqual([...good, `${prefix} before`]);
  });

  test('does not spoil the connection for the same statement', async () => {
    const one = createGroupCommit(db);
    for (let n = 0; n < 8; n += 1) {
      await expect(put(one, 'default', null)).rejects.toMatchObject({ code: '23502' });
      expect((await put(one, 'default', `${prefix} ${n}`)).key).toBe(`${prefix} ${n}`);
    }
  });
});

test('without a connection all that were sent fail', async () => {
  const lost = createGroupCommit({ orgBatch: () => Promise.reject(new Error('Connection terminated')) });
  const ends = await Promise.allSettled([1, 2].map((n) => put(lost, 'default', `${prefix} ${n}`)));
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('concurrent statements are neither lost nor mixed', async () => {
  const arrivals = fc.array(
    fc.record({
      org: fc.constantFrom('a', 'b', 'c'),
      isBad: fc.boolean(),
      /** Turns of the event loop before it. */
      after: fc.nat({ max: 3 }),
    }),
    { maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(arrivals, async (all) => {
      prefix = randomUUID();
      const group = createGroupCommit(db);
      const ends = [];
      for (const [at, { org, isBad, after }] of all.entries()) {
        for (let turn = 0; turn < after; turn += 1) await new Promise(setImmediate);
        ends.push(
          put(group, org, isBad ? null : `${prefix} ${at}`).then(
            ({ key }) => key,
            () => null,
          ),
        );
      }
      expect(await Promise.all(ends)).toEqual(all.map(({ isBad }, at) => (isBad ? null : `${prefix} ${at}`)));
      for (const org of ['a', 'b', 'c']) {
        const own = all.flatMap((given, at) => (given.org === org && !given.isBad ? [`${prefix} ${at}`] : []));
        expect(await stored(org)).toEqual(own.sort());
      }
    }),
    { numRuns: 15 },
  );
});
