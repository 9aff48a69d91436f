import { Client, Connection } from '@temporalio/client';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Api } from '../../support/api.js';
import { until } from '../../support/until.js';
import type { SeededChoice } from '../seeded-choice.js';
import { newFolder } from './folder.js';
import { startChaosModel, type ChaosModel } from '../faults/model-server.js';

/** A kill target. `tree`: everything at once; `disk`: full for a while. */
export type Target = 'tree' | 'worker' | 'api' | 'temporal' | 'postgres' | 'disk';

/** A database whose user may create others, and a Temporal server. */
export interface Servers {
  databaseUrl: string;
  temporalAddress: string;
}

/** A running service, with the harness's means to observe and kill it. */
export interface World {
  url: string;
  servers(): Servers;
  apiKey: string;
  api: Api;
  model: ChaosModel;
  /** kill -9, then a restart; resolves when ready again, with the time of death (epoch ms). */
  kill(target: Target, choice: SeededChoice): Promise<number>;
  /** Queries the database as superuser. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  temporal<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** The processes of the service, by name. */
  processes(): Record<string, number>;
  /** Processes that died on their own since the last call; they are restarted. */
  died(): Promise<string[]>;
  stop(): Promise<void>;
}

/** The part of a world that differs between kinds of worlds. */
export type Engine = Pick<World, 'url' | 'kill' | 'processes' | 'died'> & Servers;

/** The folder of a world. */
export interface Ground {
  folder: string;
  logFile: string;
  /** Settings of all processes of the service. */
  env: Record<string, string>;
  /** Stop functions of the started parts, last first. */
  stops: (() => Promise<unknown>)[];
}

/** Characters shown from the log of a service that did not start. */
const lastWords = 2_000;
const apiKey = 'chaos-test-key-0123456789-0123456789';

/** Starts a world on its own folder and model; calls `logsTo` with the log's path at once. */
export async function startWorld(
  start: (ground: Ground) => Promise<Engine>,
  logsTo: (file: string) => void,
): Promise<World> {
  const folder = newFolder('ratchet-chaos-');
  const model = await startChaosModel();
  const logFile = join(folder, 'service.log');
  writeFileSync(logFile, '');
  logsTo(logFile);
  const env = {
    RATCHET_API_KEY: apiKey,
    RATCHET_EGRESS: 'dev',
    RATCHET_LOG_LEVEL: 'info',
    RATCHET_PROVIDERS: 'chaos',
    CHAOS_BASE_URL: model.url,
  };
  const stops: Ground['stops'] = [async () => rmSync(folder, { recursive: true, force: true }), () => model.close()];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  let engine: Engine;
  try {
    engine = await start({ folder, logFile, env, stops });
    await ready(engine);
  } catch (cause) {
    const words = readFileSync(logFile, 'utf8').slice(-lastWords);
    await stop();
    throw new Error(`${(cause as Error).message}; the last words of its log: ${words}`, { cause });
  }
  return {
    url: engine.url,
    apiKey,
    // Their addresses change with a restart of `npm start`.
    servers: () => ({ databaseUrl: engine.databaseUrl, temporalAddress: engine.temporalAddress }),
    api: new Api(engine.url, apiKey),
    model,
    kill: (target, choice) => engine.kill(target, choice),
    processes: () => engine.processes(),
    died: () => engine.died(),
    // A fault may have just killed the database.
    sql: (text, values) => until('the database answers', () => query(engine.databaseUrl, text, values), 60),
    async temporal(work) {
      const connection = await Connection.connect({ address: engine.temporalAddress });
      try {
        return await work(new Client({ connection }));
      } finally {
        await connection.close();
      }
    },
    stop,
  };
}

/** Resolves when database, Temporal and a worker are ready. */
export async function ready(world: Pick<World, 'url'>): Promise<void> {
  await until('the service is ready', async () => (await fetch(`${world.url}/readyz`)).ok, 60);
}

/** Runs a statement on a connection of its own, as superuser. */
export async function query<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values?: unknown[],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}
