import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect as connectTcp, createServer, type AddressInfo, type Server } from 'node:net';
import { pino } from 'pino';
import { connect } from '../../../src/platform/db/db.js';
import { DatabaseStartError } from '../../../src/platform/db/errors.js';
import { keyFingerprint } from '../../../src/platform/db/key-fingerprint.js';
import { checkDatabase } from '../../../src/platform/db/start-check.js';
import { createDatabase } from '../../support/servers/embedded.js';

const log = pino({ level: 'silent' });
const key = Buffer.alloc(32, 1);
let url: string;
let pooler: Server;

beforeAll(async () => {
  url = await createDatabase();
  const { hostname, port } = new URL(url);
  // As PgBouncer with ignore_startup_parameters = options: it drops them from the first message.
  pooler = createServer((near) => {
    const far = connectTcp(Number(port), hostname);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
    near.once('data', (startup) => {
      const fields = startup.subarray(8).toString().split('\0');
      const at = fields.indexOf('options');
      const rest = Buffer.from(fields.filter((_, i) => i !== at && i !== at + 1).join('\0'));
      const head = Buffer.from(startup.subarray(0, 8));
      head.writeInt32BE(8 + rest.length);
      far.write(Buffer.concat([head, rest]));
      near.pipe(far).pipe(near);
    });
  }).listen(0, '127.0.0.1');
  await once(pooler, 'listening');
});
afterAll(async () => {
  pooler.close();
  await once(pooler, 'close');
});

async function check(at: string, secretKey: Buffer): Promise<void> {
  const db = connect(at, log, 1);
  try {
    await checkDatabase(db, secretKey, { url: at, setting: 'DATABASE_URL' });
  } finally {
    await db.close();
  }
}

test('the first of concurrent keys becomes the database’s key; another key is refused with a message', async () => {
  await Promise.all(Array.from({ length: 5 }, () => check(url, key)));
  const other = Buffer.alloc(32, 2);
  await expect(check(url, other)).rejects.toThrow(DatabaseStartError);
  await expect(check(url, other)).rejects.toThrow(
    `RATCHET_SECRET_KEY (fingerprint ${keyFingerprint(other)}) is not the key of this database (fingerprint ${keyFingerprint(key)})`,
  );
  expect(keyFingerprint(key)).toMatch(/^[0-9a-f]{16}$/);
});

test('refuses a pooler that drops the role, because row-level security would not apply', async () => {
  const through = Object.assign(new URL(url), { port: String((pooler.address() as AddressInfo).port) });
  await expect(check(through.href, key)).rejects.toThrow(/role postgres instead of ratchet_app: a connection pooler/);
});
