import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { spawn, type ChildProcess } from 'node:child_process';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { firstFree } from '../../src/embedded/ports.js';
import { logLevel } from '../support/environment.js';
import { createNamespace } from '../support/service.js';
import { startHeldContainer, type HeldContainer } from './held-container.js';

const root = join(import.meta.dirname, '..', '..');

/** The servers of a world; the database's user must be able to create databases. */
export interface Servers {
  databaseUrl: string;
  temporalAddress: string;
}

/** An HTTP answer, its body parsed. */
export interface Reply {
  code: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** One API and one worker as processes on their own database and namespace, with a container. */
export interface World {
  container: HeldContainer;
  temporal: Client;
  /** Calls the API. Rejects only without an answer. */
  call(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown, idempotencyKey?: string): Promise<Reply>;
  /** Reads the database, past row-level security. */
  rows<Row extends pg.QueryResultRow>(sql: string, ...values: unknown[]): Promise<Row[]>;
  startWorker(): Promise<void>;
  /** kill -9. */
  killWorker(): Promise<void>;
  /** kill -9 of the API, followed by a restart at the same address. */
  restartApi(): Promise<void>;
  stop(): Promise<void>;
}

export async function startWorld(servers: Servers): Promise<World> {
  const name = `states_${randomUUID().slice(0, 8)}`;
  const databaseUrl = await createDatabase(servers.databaseUrl, name);
  const connection = await Connection.connect({ address: servers.temporalAddress });
  await createNamespace(connection, name);
  const container = await startHeldContainer();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const port = await firstFree();
  const url = `http://127.0.0.1:${port}`;
  const apiKey = `test-key-${randomUUID()}`;
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    PORT: String(port),
    RATCHET_PUBLIC_URL: url,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TEMPORAL_NAMESPACE: name,
    RATCHET_SECRET_KEY: randomBytes(32).toString('base64'),
    RATCHET_API_KEY: apiKey,
    RATCHET_EGRESS: 'dev',
    RATCHET_LOG_LEVEL: logLevel('silent'),
  };
  let api = await startProcess('serve', env);
  let worker = await startProcess('worker', env);
  return {
    container,
    temporal: new Client({ connection, namespace: name }),
    async call(method, path, body, idempotencyKey) {
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return {
        code: response.status,
        headers: response.headers,
        // Not response.json(): under jest its objects come from another realm, and equal none of
        // ours.
        body: JSON.parse(await response.text()) as Record<string, unknown>,
      };
    },
    rows: async <Row extends pg.QueryResultRow>(sql: string, ...values: unknown[]) =>
      (await pool.query<Row>(sql, values)).rows,
    async startWorker() {
      worker = await startProcess('worker', env);
    },
    killWorker: () => kill(worker),
    async restartApi() {
      await kill(api);
      api = await startProcess('serve', env);
    },
    async stop() {
      await kill(worker);
      await kill(api);
      await container.close();
      await pool.end();
      await connection.close();
      await administer(servers.databaseUrl, `drop database "${name}" with (force)`);
    },
  };
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await administer(serverUrl, `create database "${name}"`);
  return Object.assign(new URL(serverUrl), { pathname: name }).href;
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function startProcess(role: 'serve' | 'worker', env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(root, 'dist/src/cli/ratchet.js'), role], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  // Keep reading after that line, so that later output cannot fill the pipe.
  const ready = new Promise<void>((resolve) =>
    createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('Ready.') && resolve()),
  );
  const ended = once(child, 'exit').then(() => {
    throw new Error(`ratchet ${role} ended before it was ready; see above`);
  });
  ended.catch(() => undefined);
  await Promise.race([ready, ended]);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
