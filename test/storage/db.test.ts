import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { connect } from '../../src/storage/db.js';
import { createDatabase } from '../support/embedded.js';

const settings = ['idle_in_transaction_session_timeout', 'statement_timeout', 'tcp_keepalives_idle'];

test('no connection outlives its process or its network with a lock in its hands, whatever the URL says', async () => {
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

test('a transaction that is left open is ended by Postgres, and its lock with it', async () => {
  const db = connect(await createDatabase(), pino({ level: 'silent' }), 2);
  try {
    let held = false;
    const stuck = db.org('default', async (tx) => {
      // Its own limit, shortened: that of the service is a quarter of a minute.
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
