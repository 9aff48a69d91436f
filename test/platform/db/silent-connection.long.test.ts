import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { connect, type Db } from '../../../src/platform/db/db.js';
import { isTransient } from '../../../src/platform/db/postgres-errors.js';
import { createDatabase } from '../../support/servers/embedded.js';
import { startTcpProxies } from '../../support/servers/tcp-proxies.js';

const works: [string, (db: Db) => Promise<unknown>][] = [
  ['a transaction', (db) => db.org('one', (tx) => tx.query('select 1'))],
  ['a batch', (db) => db.orgBatch('one', [{ text: 'select 1' }])],
];

test.concurrent.each(works)(
  '%s on a connection that falls silent fails once, and the next one works',
  async (_, work) => {
    const url = new URL(await createDatabase());
    const proxies = await startTcpProxies({ postgres: url.host });
    url.host = proxies.addresses.postgres;
    const db = connect(url.href, pino({ level: 'silent' }), 1);
    try {
      await work(db);
      proxies.silence();
      const error: unknown = await work(db).catch((thrown: unknown) => thrown);
      expect(isTransient(error)).toBe(true);
      await work(db);
    } finally {
      await db.close();
      await proxies.close();
    }
  },
  120_000,
);
