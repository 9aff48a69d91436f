import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import pg from 'pg';
import { Api } from '../../support/api.js';
import { commandLine } from '../../../src/embedded/process.js';
import { descendants, startWorkerOf, startTree, type Tree } from '../../support/servers/tree.js';
import { startTestService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

const apiKey = 'kill-test-key-0123456789-0123456789';

/** The `npm start` tree on a data folder that survives its kills. */
export class RestartableTree {
  readonly apiKey = apiKey;
  readonly folder = mkdtempSync(join(tmpdir(), 'ratchet-kill-'));
  private readonly env: Record<string, string>;
  private tree: Tree | undefined;
  private client: Api | undefined;

  constructor(env: Record<string, string> = {}) {
    // As root, Postgres runs as another user, who needs access to this folder.
    chmodSync(this.folder, 0o755);
    this.env = env;
  }

  /** Address of the last started tree; each start has its own. */
  get url(): string {
    return this.tree!.url;
  }

  get loginUrl(): string {
    return this.tree!.loginUrl;
  }

  get api(): Api {
    return this.client!;
  }

  async start(): Promise<void> {
    this.tree = await startTree({
      PORT: '0',
      RATCHET_TEMPORAL_PORT: '0',
      RATCHET_DATA_DIR: join(this.folder, 'data'),
      RATCHET_API_KEY: apiKey,
      ...this.env,
    });
    this.client = new Api(this.tree.url, apiKey);
  }

  /** The id of a process of the tree, by its command line. */
  processOf(command: RegExp): number {
    const pid = descendants(this.tree!.process.pid!).find((one) => command.test(commandLine(one) ?? ''));
    if (pid === undefined) throw new Error(`no process of the tree runs ${command.source}`);
    return pid;
  }

  /** kill -9 of the whole tree. */
  async kill(): Promise<void> {
    await this.tree!.kill();
  }

  /** SIGTERM to the service. */
  async terminate(): Promise<void> {
    await this.tree!.terminate();
  }

  /** Stops the tree and removes the folder. */
  async close(): Promise<void> {
    await this.tree?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A service without a worker, one worker process at a time, and a pool on their database. */
class ServiceWithWorker {
  readonly service: TestService;
  readonly pool: pg.Pool;
  private worker: Tree | undefined;

  private constructor(service: TestService) {
    this.service = service;
    this.pool = new pg.Pool({ connectionString: service.config.databaseUrl!, max: 4 });
  }

  static async create(env: Record<string, string>): Promise<ServiceWithWorker> {
    return new ServiceWithWorker(await startTestService(env, { serve: true, work: false }));
  }

  get hasWorker(): boolean {
    return this.worker !== undefined;
  }

  async startWorker(): Promise<void> {
    this.worker = await startWorkerOf(this.service);
  }

  /** kill -9 of the worker. */
  async killWorker(): Promise<void> {
    await this.worker!.kill();
  }

  /**
   * Locks a table against writes, lets `go` run into the lock, and kills the worker once `when`
   * holds. Its waiting statements end with it.
   */
  async killWorkerAt(table: string, go: () => void, when: () => Promise<boolean>): Promise<void> {
    const client = await this.pool.connect();
    await client.query('begin');
    await client.query(`lock table ${table} in share mode`);
    go();
    try {
      await until(`what follows waits for ${table}`, when, 30);
      await this.killWorker();
      // Postgres would complete a statement of the dead worker.
      await this.pool.query(
        `select pg_terminate_backend(pid) from pg_locks where not granted and relation = '${table}'::regclass`,
      );
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  /** The number of connections that wait for a table. */
  async waiting(table: string): Promise<number> {
    const { rows } = await this.pool.query<{ n: number }>(
      `select count(distinct pid)::int as n from pg_locks where not granted and relation = '${table}'::regclass`,
    );
    return rows[0]!.n;
  }

  async close(): Promise<void> {
    await this.worker?.kill();
    await this.service.stop();
    await this.pool.end();
  }
}

interface World {
  env: Record<string, string>;
  close(): Promise<void>;
}

/** A service with a worker process for all tests of a file, and the world of its settings. */
export function workerOfFile<W extends World>(
  startWorld: () => Promise<W>,
): { world: W; worker: ServiceWithWorker; service: TestService } {
  const on = {} as { world: W; worker: ServiceWithWorker; service: TestService };
  beforeAll(async () => {
    on.world = await startWorld();
    on.worker = await ServiceWithWorker.create(on.world.env);
    on.service = on.worker.service;
  }, 90_000);
  afterAll(async () => {
    await on.worker.close();
    await on.world.close();
  }, 60_000);
  return on;
}
