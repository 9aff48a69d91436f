import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { connect, type Db, type Tx } from '../../../src/platform/db/db.js';
import { createDatabase } from '../../support/servers/embedded.js';
import { gate } from '../../support/gate.js';

const settings = ['idle_in_transaction_session_timeout', 'statement_timeout', 'tcp_keepalives_idle'];

test('a lock ends with its process or network, whatever options the URL has', async () => {
  const url = new URL(await createDatabase());
  url.searchParams.set('options', '-c role=postgres -c statement_timeout=0 -c idle_in_transaction_session_timeout=0');
  const db = connect(url.href, pino({ level: 'silent' }), 1);
  try {
    const found = await db.org('default', (tx) =>
      tx.query<{ name: string; setting: string; unit: string | null }>(
        'select name, setting, unit from pg_settings where name = any($1) order by name',
        [settings],
      ),
    );
    const [role] = await db.org('default', (tx) => tx.query<{ user: string }>('select current_user as user'));
    expect(found).toEqual([
      { name: 'idle_in_transaction_session_timeout', setting: '15000', unit: 'ms' },
      { name: 'statement_timeout', setting: '25000', unit: 'ms' },
      { name: 'tcp_keepalives_idle', setting: '10', unit: 's' },
    ]);
    expect(role).toEqual({ user: 'ratchet_app' });
  } finally {
    await db.close();
  }
});

test('Postgres ends an abandoned transaction, and its lock with it', async () => {
  const db = connect(await createDatabase(), pino({ level: 'silent' }), 2);
  try {
    let held = false;
    const stuck = db.org('default', async (tx) => {
      // A shortened limit: the service's limit is 15 s.
      await tx.query(`set local idle_in_transaction_session_timeout = '50ms'`);
      await tx.query('select pg_advisory_xact_lock(1)');
      held = true;
      await db.org('default', (other) => other.query('select pg_advisory_xact_lock(1)'));
      await tx.query('select 1');
    });
    await expect(stuck).rejects.toThrow();
    expect(held).toBe(true);
  } finally {
    await db.close();
  }
});

describe('batched statements', () => {
  let db: Db;
  beforeAll(async () => {
    db = connect(await createDatabase(), pino({ level: 'silent' }), 1);
  });
  afterAll(() => db.close());
  const orgSetting = `current_setting('app.org', true)`;

  test('are answered in order', async () => {
    const rows = await db.org('default', (tx) =>
      Promise.all([1, 2, 3].map((n) => tx.query<{ n: number }>('select $1::int as n', [n]))),
    );
    expect(rows).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
  });

  test('fail together, and leave no result on a connection that another user has by then', async () => {
    const { opened, open } = gate();
    let late: Promise<unknown> = Promise.resolve();
    const work = db.org('default', (tx) => {
      late = tx.query('select 1').then(async () => {
        await opened;
        return tx.query(`select ${orgSetting} as org`);
      });
      return Promise.all([late, tx.query('select 1 / 0')]);
    });
    await expect(work).rejects.toThrow('division by zero');
    const other = db.org('other', async (tx) => {
      open();
      await expect(late).rejects.toThrow('has ended');
      return tx.query(`select ${orgSetting} as org`);
    });
    expect(await other).toEqual([{ org: 'other' }]);
  });

  test('apart: each is independent, sees only its organization, and leaves no state on the connection', async () => {
    const seen = await db.orgApart('one', async (tx) => {
      const [first] = await tx.query<{ org: string; id: string }>(
        `select ${orgSetting} as org, pg_current_xact_id()::text as id`,
      );
      await expect(tx.query('select 1 / 0')).rejects.toThrow('division by zero');
      const [second] = await tx.query<{ org: string; id: string }>(
        `select ${orgSetting} as org, pg_current_xact_id()::text as id`,
      );
      return [first!, second!];
    });
    expect(seen.map(({ org }) => org)).toEqual(['one', 'one']);
    expect(seen[0]!.id).not.toBe(seen[1]!.id);
    expect(await db.worker((tx) => tx.query(`select ${orgSetting} as org`))).toEqual([{ org: '' }]);
  });

  test('apart: statements before a failure remain', async () => {
    const id = 'evl_apart';
    const put = db.orgApart('default', async (tx) => {
      await tx.query(`insert into idempotency_keys (org_id, key, fingerprint) values ('default', $1, '')`, [id]);
      await tx.query('select 1 / 0');
    });
    await expect(put).rejects.toThrow('division by zero');
    expect(await db.org('default', (tx) => tx.query('select key from idempotency_keys'))).toEqual([{ key: id }]);
  });

  test('with a commit behind them: all of them, or none', async () => {
    const add = (tx: Tx, key: string) =>
      tx.query(`insert into idempotency_keys (org_id, key, fingerprint) values ('default', $1, '')`, [key]);
    const added = (prefix: string) =>
      db.org('default', (tx) => tx.query('select from idempotency_keys where key ^@ $1', [prefix]));
    await db.orgHot('default', async (tx, commit) => {
      const sent = [add(tx, 'all-1'), add(tx, 'all-2')];
      commit();
      await Promise.all(sent);
      await expect(add(tx, 'all-3')).rejects.toThrow('has ended');
    });
    expect(await added('all-')).toHaveLength(2);

    const broken = db.orgHot('default', async (tx, commit) => {
      const sent = [add(tx, 'none-1'), tx.query('select 1 / 0'), add(tx, 'none-2')];
      commit();
      await Promise.all(sent);
    });
    await expect(broken).rejects.toThrow('division by zero');
    expect(await added('none-')).toEqual([]);
  });
});
