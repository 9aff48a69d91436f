import { chmodSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import { makeDataFolder } from './data-folder.js';
import { directGrpc } from '../../util/proxy.js';
import { StartupError } from './errors.js';
import { makeFolder } from './files.js';
import { homeCache, homeFolder } from './home.js';
import { firstFree, isFree, loopback } from './ports.js';
import { runServer } from './server.js';
import { findTemporalBinary } from './temporal-binary.js';

export interface TemporalOptions {
  dataDir: string;
  /** Port of the gRPC front end on 127.0.0.1; 0: a free port, reused after restarts if possible. */
  port: number;
  /** Whether a start fails where the port is taken, in place of taking a free one; default true. */
  isPortFixed?: boolean;
  /** Serves the web UI, which takes anyone: at `port` + 1000 if free, else any port. */
  ui?: boolean;
  log: Logger;
  /** Cache of the binary; default ~/.cache/ratchet. */
  cacheDir?: string;
  /** PATH of the server, which a version manager's `temporal` needs; default: none. */
  searchPath?: string | undefined;
  /** Called if the server cannot be kept alive. Single exits are restarted on the same port. */
  onExit?: (error: Error) => void;
}

export interface EmbeddedTemporal {
  address: string;
  /** null: no UI. */
  uiUrl: string | null;
  /** Port of the HTTP API, which refuses every request. */
  httpPort: number;
  readonly pid: number;
  adopted: boolean;
  stop(): Promise<void>;
}

interface Ports {
  port: number;
  uiPort: number | null;
  /** The server always opens these ports; Ratchet does not use them. */
  httpPort: number;
  metricsPort: number;
}

/** The HTTP API takes any web page's requests, so it answers no host name that exists. */
const refuseHttp = ['--dynamic-config-value', 'frontend.httpAllowedHosts=["nobody.invalid"]'];

/** Each setting improves latency by a measured factor of 2 to 40 on the single shard (ADR 2). */
const tuning = [
  ...['journal_mode=wal', 'synchronous=normal'].flatMap((pragma) => ['--sqlite-pragma', pragma]),
  ...[
    // Hand an activity to the requesting worker without the task queue.
    'system.enableActivityEagerExecution=true',
    'matching.numTaskqueueReadPartitions=1',
    'matching.numTaskqueueWritePartitions=1',
    'history.timerProcessorMaxTimeShift="5ms"',
    'history.transferProcessorMaxPollRPS=2000',
    'history.timerProcessorMaxPollRPS=2000',
    'history.visibilityProcessorMaxPollRPS=2000',
  ].flatMap((value) => ['--dynamic-config-value', value]),
];

/** Starts or adopts a Temporal dev server with its state in the data directory. */
export async function startTemporal(options: TemporalOptions): Promise<EmbeddedTemporal> {
  const { port, isPortFixed = true, ui = false, log, cacheDir = homeCache() ?? options.dataDir } = options;
  makeDataFolder(options.dataDir);
  const folder = join(resolve(options.dataDir), 'temporal');
  chmodSync(makeFolder(folder, 'RATCHET_DATA_DIR'), 0o700);
  const server = await runServer<Ports>(
    {
      name: 'Temporal',
      folder,
      stopSignals: ['SIGTERM', 'SIGKILL'],
      readyWithinMs: 60_000,
      fits: (last) => (!port || !isPortFixed || last.port === port) && ui === (last.uiPort !== null),
      choose: async (last) => ({
        port: port && isPortFixed ? await wanted(port, 'RATCHET_TEMPORAL_PORT') : await firstFree(last?.port, port),
        uiPort: ui ? await firstFree(port ? port + 1000 : (last?.uiPort ?? undefined)) : null,
        httpPort: await firstFree(last?.httpPort),
        metricsPort: await firstFree(last?.metricsPort),
      }),
      prepare: async () => ({
        file: await findTemporalBinary(log, cacheDir),
        env: { HOME: homeFolder() ?? folder, ...(options.searchPath && { PATH: options.searchPath }) },
      }),
      args: (ports) => [
        'server',
        'start-dev',
        '--ip',
        loopback,
        '--port',
        `${ports.port}`,
        ...(ports.uiPort === null ? ['--headless'] : ['--ui-port', `${ports.uiPort}`]),
        '--http-port',
        `${ports.httpPort}`,
        '--metrics-port',
        `${ports.metricsPort}`,
        ...refuseHttp,
        '--db-filename',
        join(folder, 'temporal.db'),
        '--log-level',
        'warn',
        '--color',
        'never',
        ...tuning,
      ],
      probe: (ports) => probe(ports.port),
    },
    log,
    options.onExit ?? ((error) => log.error({ err: error }, 'Temporal cannot be kept alive')),
  );
  return {
    address: `${loopback}:${server.settings.port}`,
    uiUrl: server.settings.uiPort === null ? null : `http://${loopback}:${server.settings.uiPort}`,
    httpPort: server.settings.httpPort,
    adopted: server.adopted,
    get pid() {
      return server.pid;
    },
    stop: () => server.stop(),
  };
}

async function wanted(port: number, setting: string): Promise<number> {
  if (await isFree(port)) return port;
  throw new StartupError(
    `Port ${port} on ${loopback} is in use by another program: stop it, or set ${setting} to another port (0: any free port).`,
  );
}

async function probe(port: number): Promise<void> {
  // gRPC waits a second before it retries a refused connection; a plain connection fails at once.
  const socket = connectTcp({ port, host: loopback });
  await once(socket, 'connect', { signal: AbortSignal.timeout(2000) }).finally(() => socket.destroy());
  // Lazy: a connection that fails to connect cannot be closed and keeps retrying.
  const connection = Connection.lazy({ address: `${loopback}:${port}`, channelArgs: directGrpc });
  try {
    await connection.withDeadline(Date.now() + 2000, () =>
      connection.workflowService.describeNamespace({ namespace: 'default' }),
    );
  } finally {
    await connection.close();
  }
}
