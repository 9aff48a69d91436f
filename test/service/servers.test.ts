import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { readConfig } from '../../src/service/config.js';
import { startServers } from '../../src/service/servers.js';
import { temporalAddress } from '../support/environment.js';
import { createDatabase } from '../support/servers/embedded.js';

test("the service's connections get a role without rights, not that of DATABASE_URL", async () => {
  const DATABASE_URL = await createDatabase('empty');
  const config = readConfig({ DATABASE_URL, TEMPORAL_ADDRESS: temporalAddress() });
  const log = pino({ level: 'silent' });
  const { servers, stop } = await startServers(config, randomBytes(32), log, () => undefined);
  await stop();
  const [given, used] = [DATABASE_URL, servers.databaseUrl].map((url) => new URL(url));
  expect([used!.host, used!.pathname]).toEqual([given!.host, given!.pathname]);
  expect(used!.username).toMatch(/^ratchet_login_/);
});
