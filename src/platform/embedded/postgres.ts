import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Logger } from 'pino';
import { canEnter, serverAccount } from './account.js';
import { makeDataFolder, postgresFolder } from './data-folder.js';
import { StartupError } from './errors.js';
import { makeOpenFolder } from './files.js';
import { homeCache } from './home.js';
import { firstFree, loopback } from './ports.js';
import { postgresBinaries } from './postgres-binaries.js';
import { createCluster, postgresEnv, settlePidFile } from './postgres-cluster.js';
import { runServer } from './server.js';

export interface PostgresOptions {
  dataDir: string;
  log: Logger;
  /**
   * Folder for programs and data that the server's account cannot reach elsewhere; default
   * /var/lib/ratchet for root, ~/.cache/ratchet or the data folder (programs only) for others.
   */
  elsewhere?: string;
  /** Called if the server cannot be kept alive. Single exits are restarted at the same address. */
  onExit?: (error: Error) => void;
}

export interface EmbeddedPostgres {
  /** The superuser's URL of the database `postgres`, with the password. */
  url: string;
  readonly pid: number;
  adopted: boolean;
  stop(): Promise<void>;
}

interface Settings {
  data: string;
  port: number;
  password: string;
}

/** Starts or adopts a Postgres server for the data directory. Throws a StartupError. */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { log } = options;
  const account = serverAccount();
  const folder = postgresFolder(options.dataDir);
  const elsewhere = options.elsewhere ?? (account ? '/var/lib/ratchet' : (homeCache() ?? options.dataDir));

  async function dataFolder(): Promise<string> {
    const inside = join(folder, 'data');
    if (existsSync(inside)) {
      throw new StartupError(
        `${inside} holds a database whose password was in ${join(folder, 'server.json')}, which is gone: restore that file or delete ${folder}.`,
      );
    }
    if (!account || (await canEnter(folder, account))) return inside;
    // Not derived from the data directory's name: a new directory must not find an old database.
    const own = mkdtempSync(join(makeOpenFolder(elsewhere, 'RATCHET_DATA_DIR'), 'data-'));
    chmodSync(own, 0o711);
    log.info(`Postgres runs as user id ${account.uid}, which cannot enter ${folder}: its data is in ${own}`);
    return join(own, 'data');
  }

  makeDataFolder(options.dataDir);
  const server = await runServer<Settings>(
    {
      name: 'Postgres',
      folder,
      stopSignals: ['SIGINT', 'SIGQUIT', 'SIGKILL'],
      readyWithinMs: 120_000,
      fits: () => true,
      choose: async (last) => ({
        data: last?.data ?? (await dataFolder()),
        port: await firstFree(last?.port),
        password: last?.password ?? randomBytes(24).toString('base64url'),
      }),
      prepare: async (settings) => {
        const { postgres, initdb } = await postgresBinaries(account, elsewhere, log);
        await createCluster(initdb, settings, account);
        await settlePidFile(settings.data);
        return { file: postgres, env: postgresEnv, account };
      },
      args: ({ data, port }) => ['-D', data, ...serverSettings(port).flatMap((setting) => ['-c', setting])],
      probe: ({ port, password }) => probe(url(port, password)),
    },
    log,
    options.onExit ?? ((error) => log.error({ err: error }, 'Postgres cannot be kept alive')),
  );
  return {
    url: url(server.settings.port, server.settings.password),
    adopted: server.adopted,
    get pid() {
      return server.pid;
    },
    stop: () => server.stop(),
  };
}

// Durability settings (fsync, synchronous_commit …) keep Postgres' defaults.
const serverSettings = (port: number) => [
  `listen_addresses=${loopback}`,
  `port=${port}`,
  'unix_socket_directories=',
  'max_connections=200',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
];

function url(port: number, password: string): string {
  return `postgres://postgres:${password}@${loopback}:${port}/postgres?sslmode=disable`;
}

async function probe(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2000, query_timeout: 2000 });
  // The query below reports a server that dies; without a listener this process would crash.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    await client.end();
  }
}
