import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { startCluster, type Cluster } from '../support/servers/cluster.js';
import { startTree, type Tree } from '../support/servers/tree.js';
import { until } from '../support/until.js';

// Invariant: each role says at a port of its own whether it lives and whether it is ready, and an
// API that runs without a worker can be told from one that does not work.

interface Answer {
  status: number;
  ready: string;
  checks: Record<string, { ok: boolean; detail: string | null }>;
}

/** A role with its port of health. */
interface Role extends Tree {
  health: string;
}

const program = join(import.meta.dirname, '../../dist/src/cli/ratchet.js');
const started: Tree[] = [];
let cluster: Cluster;
let api: Role;
let worker: Role;
beforeAll(async () => {
  cluster = await startCluster();
  api = await start('serve');
}, 60_000);
afterAll(async () => {
  await Promise.all(started.map((role) => role.kill()));
  await cluster.close();
}, 60_000);

async function start(...args: string[]): Promise<Role> {
  const port = await firstFree();
  const own = { PORT: '0', RATCHET_METRICS_PORT: String(port), RATCHET_PUBLIC_URL: 'http://127.0.0.1:1' };
  const command = args.length > 1 ? ([process.execPath, program, ...args] as const) : (args[0] as 'serve' | 'worker');
  const role = await startTree({ ...cluster.env, ...own }, { command });
  started.push(role);
  return { ...role, health: `http://127.0.0.1:${port}` };
}

async function ask(url: string): Promise<Answer> {
  const response = await fetch(url);
  const { status: ready, checks } = (await response.json()) as { status: string; checks: Answer['checks'] };
  return { status: response.status, ready, checks };
}
const isReady = async (url: string) => (await fetch(url)).status === 200;

test('an API without a worker is ready for callers, and not ready as a service', async () => {
  for (const base of [api.url, api.health]) {
    expect((await fetch(`${base}/livez`)).status).toBe(200);
    expect(await ask(`${base}/readyz`)).toMatchObject({ status: 503, checks: { worker: { ok: false } } });
    expect(await ask(`${base}/readyz?exclude=worker,temporal`)).toMatchObject({ status: 200, ready: 'ready' });
  }
});

test('a worker alone is ready once its pollers poll', async () => {
  worker = await start('worker');
  expect((await fetch(`${worker.health}/livez`)).status).toBe(200);
  await until('it is ready', () => isReady(`${worker.health}/readyz`));
  const names = ['database', 'migrations', 'temporal', 'worker', 'jobs'];
  expect(Object.keys((await ask(`${worker.health}/readyz`)).checks)).toEqual(names);
  expect(await (await fetch(`${worker.health}/metrics`)).text()).toContain('ratchet_worker_slots');
  await until('the API is ready', () => isReady(`${api.health}/readyz`));
}, 60_000);

test('several API processes have one port, which says what one of them says', async () => {
  const { health } = await start('serve', '--processes', '2');
  await until('it is ready', () => isReady(`${health}/readyz`));
  expect((await fetch(`${health}/livez`)).status).toBe(200);
  expect(Object.keys((await ask(`${health}/readyz?exclude=worker`)).checks)).not.toContain('worker');
}, 60_000);

test('a worker that starts again takes no API away', async () => {
  const seen = new Set<number>();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) seen.add((await fetch(`${api.url}/readyz?exclude=worker`)).status);
  })();
  try {
    expect(await worker.terminate()).toBe(0);
    // Its last report counts as long as that of a worker that hangs.
    expect(await isReady(`${api.url}/readyz`)).toBe(true);
    worker = await start('worker');
  } finally {
    isOver = true;
    await watching;
  }
  expect([...seen]).toEqual([200]);
}, 90_000);

test('a worker that hangs is seen by the API, whose metrics answer', async () => {
  process.kill(worker.process.pid!, 'SIGSTOP');
  try {
    await until('it is not ready', async () => !(await ask(`${api.health}/readyz`)).checks['worker']!.ok, 15);
    await until('the API is', () => isReady(`${api.health}/readyz?exclude=worker`));
    const metrics = async () => (await fetch(`${api.health}/metrics`)).text();
    await until('its metrics say so', async () => /^ratchet_live_workers 0$/m.test(await metrics()));
  } finally {
    process.kill(worker.process.pid!, 'SIGCONT');
  }
  await until('it is ready again', () => isReady(`${api.health}/readyz`));
}, 90_000);

test('a role that waits at its start lives, and is not ready', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const port = await firstFree();
  const database = `postgres://u:p@127.0.0.1:${(silent.address() as AddressInfo).port}/d`;
  const child = spawn(process.execPath, [program, 'worker'], {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      ...cluster.env,
      DATABASE_URL: database,
      RATCHET_PUBLIC_URL: 'http://r',
      RATCHET_METRICS_PORT: String(port),
    },
    stdio: 'ignore',
  });
  try {
    await once(silent, 'connection');
    const health = `http://127.0.0.1:${port}`;
    await until('it lives', async () => (await fetch(`${health}/livez`).catch(() => null))?.status === 200);
    expect(await ask(`${health}/readyz`)).toMatchObject({ status: 503, checks: { start: { ok: false } } });
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
    silent.close();
  }
  expect(child.exitCode).toBe(0);
}, 60_000);
