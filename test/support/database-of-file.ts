import { afterAll, beforeAll } from '@jest/globals';
import { pino } from 'pino';
import { connect, type Db } from '../../src/platform/db/db.js';
import { createDatabase } from './servers/embedded.js';

/** A migrated database for the tests of a file, with at most `connections` connections. */
export function databaseOfFile(connections: number): Db {
  const db = {} as Db;
  beforeAll(async () => {
    Object.assign(db, connect(await createDatabase(), pino({ level: 'silent' }), connections));
  });
  afterAll(() => db.close());
  return db;
}
