import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { Ratchet } from '../src/client/index.js';
import { descendants, startTree, type Tree } from '../test/support/servers/tree.js';
import { createCaller, type Caller } from './caller.js';
import { startChild, type Child } from './child.js';
import { countStatements, writeStatements } from './profile.js';
import { cpuSeconds, memoryMiB, resetPeaks, savedServer } from './proc.js';
import { embeddedSettings, keyIn, newFolder } from './service.js';

/** The container's counts under a name; times by `clock.now`. */
export interface ContainerCount {
  calls: number;
  maxConcurrent: number;
  firstIn: number;
  lastOut: number;
}

/** The inference URL and key of a held rollout. */
export interface HeldRollout {
  url: string;
  key: string;
}

/** Usage so far: CPU seconds of each part, and Postgres's transactions. */
export interface Spent {
  service: number;
  postgres: number;
  temporal: number;
  container: number;
  transactions: number;
}

/** The built service with embedded servers, a container and a model, each a process tree. */
export interface World extends Caller {
  /** For all that is not measured. */
  client: Ratchet;
  /** The service's base URL. */
  url: string;
  apiKey: string;
  dataDir: string;
  container: Child;
  /** The model, for the service the providers `fake` and `openai`; `url` is its base URL. */
  model: Child;
  temporal: Client;
  /** Postgres as superuser, not subject to row-level security. */
  postgres: pg.Client;
  spent(): Promise<Spent>;
  /**
   * Resident memory of API and worker in MiB; the sum of their peaks since `resetMemoryPeak`.
   */
  memory(): { now: number; peak: number };
  resetMemoryPeak(): void;
}

const readyMs = 120_000;
const stopMs = 30_000;

/**
 * Starts a world in a new folder on free ports for `work`, and always stops it. `profileDir`:
 * folder of CPU and Postgres profiles.
 */
export async function withWorld<T>(work: (world: World) => Promise<T>, profileDir?: string): Promise<T> {
  const folder = newFolder();
  const dataDir = join(folder, 'data');
  const ends: (() => Promise<unknown>)[] = [];
  const end = async () => {
    for (const step of ends.splice(0).reverse()) await step();
    // Also stops a service that did not start completely.
    for (const pid of descendants(process.pid).slice(1)) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  const interrupted = () => void end().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const container = await startChild(join(import.meta.dirname, 'container.ts'));
    ends.push(() => container.stop());
    const model = await startChild(join(import.meta.dirname, 'model.ts'));
    ends.push(() => model.stop());
    const env = { ...embeddedSettings(dataDir), ...modelAt(model.url) };
    if (profileDir !== undefined) {
      // Postgres must restart to count statements.
      const first = await start(env, command());
      const postgres = await openPostgres(dataDir);
      await countStatements(postgres).finally(() => postgres.end());
      await first.stop();
    }
    const tree = await start(env, command(profileDir));
    ends.push(() => tree.stop());
    const pid = tree.process.pid!;

    const [postgresServer, temporalServer] = [savedServer(dataDir, 'postgres'), savedServer(dataDir, 'temporal')];
    const servers = [postgresServer.process.pid, temporalServer.process.pid] as const;
    const postgres = await openPostgres(dataDir);
    ends.push(() => postgres.end());
    if (profileDir !== undefined) ends.push(() => writeStatements(postgres, profileDir));
    const connection = await Connection.connect({ address: `127.0.0.1:${temporalServer.settings.port}` });
    ends.push(() => connection.close());
    const apiKey = keyIn(dataDir);
    const caller = createCaller(tree.url, apiKey);
    ends.push(() => caller.close());

    return await work({
      ...caller,
      client: new Ratchet({ url: tree.url, apiKey }),
      url: tree.url,
      apiKey,
      dataDir,
      container,
      model,
      temporal: new Client({ connection }),
      postgres,
      async spent() {
        const { rows } = await postgres.query<{ n: string }>('select sum(xact_commit) as n from pg_stat_database');
        return {
          service: cpuSeconds(pid, servers),
          postgres: cpuSeconds(servers[0]),
          temporal: cpuSeconds(servers[1]),
          container: cpuSeconds(container.pid),
          transactions: Number(rows[0]?.n),
        };
      },
      memory: () => memoryMiB(pid, servers),
      resetMemoryPeak: () => resetPeaks(pid, servers),
    });
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await end();
  }
}

/** The model as the provider `fake`, and as `openai`, whose prices are known. */
const modelAt = (url: string) => ({ RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: url, OPENAI_BASE_URL: url });

/** Starts the service; stopping it has a timeout, then force. */
async function start(env: Record<string, string>, line: [string, ...string[]]): Promise<Tree> {
  const tree = await inTime(readyMs, 'the service is ready', startTree(env, { command: line }));
  return {
    ...tree,
    stop: () => Promise.race([tree.stop(), delay(stopMs, undefined, { ref: false }).then(() => tree.kill())]),
  };
}

async function openPostgres(dataDir: string): Promise<pg.Client> {
  const { port, password } = savedServer(dataDir, 'postgres').settings;
  const client = new pg.Client(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`);
  await client.connect();
  return client;
}

function command(profileDir?: string): [string, ...string[]] {
  const profile = profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
  return [process.execPath, ...profile, join(import.meta.dirname, '..', 'dist', 'src', 'cli', 'ratchet.js'), 'dev'];
}

/** Usage between two readings. */
export function difference(before: Spent, after: Spent): Spent {
  const names = Object.keys(before) as (keyof Spent)[];
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as unknown as Spent;
}

/** The promise with a timeout, whose error names the missing event. */
export async function inTime<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = delay(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`waited ${ms / 1_000} s in vain until ${what}`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.abort();
  }
}
