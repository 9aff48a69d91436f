import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { connect } from '../../src/platform/db/db.js';
import { DatabaseStartError } from '../../src/platform/db/errors.js';
import { checkDatabase } from '../../src/platform/db/start-check.js';
import { readConfig } from '../../src/service/config.js';
import { startServers } from '../../src/service/servers.js';
import { temporalAddress } from '../support/environment.js';
import { createDatabase } from '../support/servers/embedded.js';

const log = pino({ level: 'silent' });

/** The URL of the service's connections for these settings. */
async function databaseUrlOf(env: Record<string, string>, secretKey: Buffer): Promise<string> {
  const config = readConfig({ TEMPORAL_ADDRESS: temporalAddress(), ...env });
  const { servers, stop } = await startServers(config, secretKey, log, () => undefined);
  await stop();
  return servers.databaseUrl;
}

async function check(url: string, secretKey: Buffer) {
  const db = connect(url, log, 1);
  try {
    return await checkDatabase(db, secretKey, { url, setting: 'RATCHET_APP_DATABASE_URL' });
  } finally {
    await db.close();
  }
}

test("the service's connections get a role without rights, not that of DATABASE_URL", async () => {
  const DATABASE_URL = await createDatabase('empty');
  const [given, used] = [DATABASE_URL, await databaseUrlOf({ DATABASE_URL }, randomBytes(32))].map(
    (url) => new URL(url),
  );
  expect([used!.host, used!.pathname]).toEqual([given!.host, given!.pathname]);
  expect(used!.username).toMatch(/^ratchet_login_/);
});

test('with the URL of the service’s role alone nothing is migrated, and a line says what to run', async () => {
  const DATABASE_URL = await createDatabase('empty');
  const key = randomBytes(32);
  const bare = Object.assign(new URL(DATABASE_URL), { username: '', password: '' }).href;
  const alone = await databaseUrlOf({ RATCHET_APP_DATABASE_URL: bare }, key);
  const refused = await check(alone, key).catch((error: Error) => error);
  expect(refused).toBeInstanceOf(DatabaseStartError);
  expect((refused as Error).message).toMatch(/ratchet migrate-database/);

  await databaseUrlOf({ DATABASE_URL }, key);
  await check(alone, key);
});

test('a role of the user’s own is made with the password of its URL, and used', async () => {
  const DATABASE_URL = await createDatabase('empty');
  const key = randomBytes(32);
  const name = `app-${randomBytes(4).toString('hex')}`;
  const own = Object.assign(new URL(DATABASE_URL), { username: name, password: 'se%23cret' }).href;
  expect(await databaseUrlOf({ DATABASE_URL, RATCHET_APP_DATABASE_URL: own }, key)).toBe(own);
  expect(Math.abs((await check(own, key)).aheadS)).toBeLessThan(30);
});
