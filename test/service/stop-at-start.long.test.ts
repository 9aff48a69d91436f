import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { startCluster, type Cluster } from '../support/servers/cluster.js';
import { descendants } from '../support/servers/tree.js';
import { until } from '../support/until.js';

// Invariant: a role that gets SIGTERM while it starts exits with code 0, whatever it waits for.

const program = join(import.meta.dirname, '../../dist/src/cli/ratchet.js');
/** The lock that migrations wait for. */
const lockId = 7_266_338;

let cluster: Cluster;
/** Takes connections and answers nothing. */
let silent: Server;
let address: string;
const sockets = new Set<Socket>();
const children: ChildProcess[] = [];

beforeAll(async () => {
  cluster = await startCluster();
  silent = createServer((socket) => {
    sockets.add(socket);
    // Its process ends meanwhile.
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
});
afterAll(async () => {
  for (const child of children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null))
    child.kill('SIGKILL');
  for (const socket of sockets) socket.destroy();
  silent.close();
  await cluster.close();
});

function start(args: readonly string[], env: Record<string, string>, wrapper: readonly string[] = []): ChildProcess {
  const [file, ...rest] = [...wrapper, process.execPath, program, ...args] as [string, ...string[]];
  const own = { ...process.env, NODE_OPTIONS: '', ...cluster.env, PORT: '0', RATCHET_PUBLIC_URL: 'http://r' };
  const child = spawn(file, rest, { env: { ...own, ...env }, stdio: 'ignore' });
  children.push(child);
  return child;
}

const roles = [['serve'], ['worker'], ['serve', '--processes', '2'], ['dev', '--no-open']];

test.each(roles)('%s %s %s: ends while Postgres does not answer', async (...role) => {
  const connected = once(silent, 'connection');
  const child = start(role, { DATABASE_URL: `postgres://u:p@${address}/d` });
  await connected;
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test.each([['worker'], ['dev', '--no-open']])('%s %s: ends while Temporal does not answer', async (...role) => {
  const connected = once(silent, 'connection');
  const child = start(role, { TEMPORAL_ADDRESS: address });
  await connected;
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

/** Runs `use` while another start holds the lock of migrations, and one waits for it. */
async function whileOneWaits(begin: () => ChildProcess, use: (child: ChildProcess) => Promise<void>): Promise<void> {
  const holder = new pg.Client(cluster.env['DATABASE_URL']!);
  await holder.connect();
  try {
    await holder.query('select pg_advisory_lock($1)', [lockId]);
    const child = begin();
    await until('a start waits', async () => {
      const { rowCount } = await holder.query(
        `select from pg_locks where locktype = 'advisory' and objid = $1 and not granted`,
        [lockId],
      );
      return rowCount === 1;
    });
    await use(child);
  } finally {
    await holder.end();
  }
}

test.each(roles.slice(0, 3))('%s %s %s: ends while another one migrates', async (...role) => {
  await whileOneWaits(
    () => start(role, {}),
    async (child) => {
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    },
  );
});

const isRoot = process.getuid?.() === 0;
const asFirst = ['unshare', '--pid', '--fork', '--kill-child'];
(isRoot ? test : test.skip)('the first process of a container ends, too', async () => {
  await whileOneWaits(
    () => start(['serve'], {}, asFirst),
    async (wrapper) => {
      const [, first] = descendants(wrapper.pid!);
      process.kill(first!, 'SIGTERM');
      expect(await once(wrapper, 'exit')).toEqual([0, null]);
    },
  );
});

test('API processes end that have not begun to listen to their parent', async () => {
  const child = start(['serve', '--processes', '2'], {});
  await until('the first one is there', () => Promise.resolve(descendants(child.pid!).length > 1));
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
