import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp, createServer, type AddressInfo, type Server } from 'node:net';
import pg from 'pg';
import { pino } from 'pino';
import { connect } from '../../../src/platform/db/db.js';
import { loginRoleOf } from '../../../src/platform/db/login-role.js';
import { migrate } from '../../../src/platform/db/migrate.js';
import { urlAs } from '../../../src/platform/db/url.js';
import { createDatabase } from '../../support/servers/embedded.js';

const log = pino({ level: 'silent' });
let url: URL;
beforeAll(async () => {
  url = new URL(await createDatabase());
});
const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers) {
    server.close();
    await once(server, 'close');
  }
});

const who = 'select current_user::text as role';
async function role(at: string): Promise<unknown> {
  const db = connect(at, log, 1);
  try {
    return await db.worker((tx) => tx.query(who));
  } finally {
    await db.close();
  }
}
const app = [{ role: 'ratchet_app' }];

/** A URL of the test's database with other hosts and parameters. */
const at = (hosts: string, query = ''): string => {
  const { username, password, pathname } = url;
  return `postgres://${username}:${password}@${hosts}${pathname}?${query}`;
};

test('of several hosts the first that answers is used, and the next one when it goes', async () => {
  expect(await role(at(`127.0.0.1:1,${url.host}`))).toEqual(app);
  expect(await role(at(`${url.host},127.0.0.1:1`))).toEqual(app);
  await expect(role(at('127.0.0.1:1,127.0.0.1:2'))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('of several hosts one that only reads is passed over', async () => {
  const readOnly = new URL(await createDatabase());
  const admin = new pg.Client(readOnly.href);
  await admin.connect();
  await admin.query(`alter database "${readOnly.pathname.slice(1)}" set default_transaction_read_only = on`);
  await admin.end();
  const only = at(`${url.host},${url.host}`).replace(url.pathname, readOnly.pathname);
  await expect(role(only)).rejects.toMatchObject({ code: '25006' });
});

test('a wrong password ends the search: no other host is asked', async () => {
  const wrong = at(`${url.host},127.0.0.1:1`).replace(url.password, 'wrong');
  await expect(role(wrong)).rejects.toMatchObject({ code: '28P01' });
});

test.each(['', 'sslmode=prefer', 'sslmode=allow', 'sslmode=disable'])('a server without TLS: %s', async (query) => {
  expect(await role(at(url.host, query))).toEqual(app);
});

test.each(['require', 'verify-full', 'no-verify'])('a server without TLS is refused by sslmode=%s', async (mode) => {
  await expect(role(at(url.host, `sslmode=${mode}`))).rejects.toThrow('SSL');
});

/** Passes messages on, and refuses statements with a hashed password as Neon does. */
async function neonLike(): Promise<string> {
  const text =
    'Received HTTP code 400 from control plane: {"error":"Neon only supports being given plaintext passwords"}';
  const fields = Buffer.from(`SERROR\0VERROR\0CXX000\0M${text}\0\0`);
  const head = Buffer.from([0x45, 0, 0, 0, 0]);
  head.writeInt32BE(fields.length + 4, 1);
  const refusal = Buffer.concat([head, fields, Buffer.from([0x5a, 0, 0, 0, 5, 0x49])]);
  const server = createServer((near) => {
    const far = connectTcp(Number(url.port), url.hostname);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.on('data', (data) => void (data.includes("password 'SCRAM-") ? near.write(refusal) : far.write(data)));
    far.pipe(near);
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a server that refuses hashed passwords gets the password', async () => {
  const login = loginRoleOf(randomBytes(32));
  await migrate(at(await neonLike(), 'sslmode=disable'), log, { login });
  expect(await role(urlAs(url.href, login.name, login.password))).toEqual(app);
});
