import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import pg from 'pg';
import { Api } from '../../support/api.js';
import { commandLine } from '../../../src/platform/embedded/process.js';
import { descendants, startApiOf, startTree, startWorkerOf, type Tree } from '../../support/servers/tree.js';
import type { TestService } from '../../support/service.js';
import { serviceOfFile, type WorldOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { newFolder } from './folder.js';
import { Restartable } from './restartable.js';

const apiKey = 'kill-test-key-0123456789-0123456789';

/** The `npm start` tree on a data folder that survives its kills. */
class RestartableTree extends Restartable {
  readonly apiKey = apiKey;
  readonly folder: string;

  constructor(env: Record<string, string> = {}) {
    const folder = newFolder('ratchet-kill-');
    const own = { PORT: '0', RATCHET_TEMPORAL_PORT: '0', RATCHET_API_KEY: apiKey };
    super(() => startTree({ ...own, RATCHET_DATA_DIR: join(folder, 'data'), ...env }));
    this.folder = folder;
  }

  /** Address of the last started tree; each start has its own. */
  get url(): string {
    return this.tree.url;
  }

  get loginUrl(): string {
    return this.tree.loginUrl;
  }

  get api(): Api {
    return new Api(this.url, apiKey);
  }

  /** The id of a process of the tree, by its command line. */
  processOf(command: RegExp): number {
    const pid = descendants(this.pid).find((one) => command.test(commandLine(one) ?? ''));
    if (pid === undefined) throw new Error(`no process of the tree runs ${command.source}`);
    return pid;
  }

  /** Stops the tree and removes the folder. */
  async close(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** `npm start` for all tests of a file, with an optional world. */
export function treeOfFile<W extends WorldOfFile | undefined>(startWorld?: () => Promise<W>) {
  const on = {} as { world: W; tree: RestartableTree };
  beforeAll(async () => {
    if (startWorld) on.world = await startWorld();
    on.tree = new RestartableTree(on.world?.env);
    await on.tree.start();
  }, 120_000);
  afterAll(async () => {
    await on.tree.close();
    await on.world?.close();
  }, 60_000);
  return on;
}

/** The worker or the API of a service, as a process of its own. */
class RoleProcess extends Restartable {
  private readonly pool: pg.Pool;

  constructor(service: TestService, run: (service: TestService) => Promise<Tree>) {
    super(() => run(service));
    this.pool = new pg.Pool({ connectionString: service.config.databaseUrl!, max: 4 });
  }

  /**
   * Takes a lock, lets `go` run into it, and kills the process once `when` holds, given the number
   * of connections that wait. Their statements end with it.
   */
  async killAt(
    [lock, ...values]: [statement: string, ...values: unknown[]],
    go: () => unknown,
    when: (waiting: number) => Promise<boolean> | boolean = (waiting) => waiting > 0,
  ): Promise<void> {
    const client = await this.pool.connect();
    const blocked = async () => {
      const { rows } = await this.pool.query<{ pid: number }>(
        'select pid from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
        [own.pid],
      );
      return rows;
    };
    await client.query('begin');
    const own = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!;
    try {
      await client.query(lock, values);
      await go();
      await until(`what follows waits: ${lock}`, async () => when((await blocked()).length), 60);
      await this.kill();
      // Postgres would complete a statement of the dead process.
      for (const { pid } of await blocked()) await this.pool.query('select pg_terminate_backend($1)', [pid]);
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  async close(): Promise<void> {
    await this.kill();
    await this.pool.end();
  }
}

/** A service without a worker for all tests of a file, its worker process, and its world. */
export function workerOfFile<W extends WorldOfFile | undefined>(startWorld?: () => Promise<W>) {
  const on = {} as { world: W; service: TestService; worker: RoleProcess };
  // Hooks run in this order: the worker ends before its service.
  afterAll(() => on.worker.close(), 60_000);
  const file = serviceOfFile(startWorld, { serve: true, work: false });
  beforeAll(() => {
    Object.assign(on, file, { worker: new RoleProcess(file.service, startWorkerOf) });
  });
  return on;
}

/** A worker for all tests of a file, the API of it as a process, and its world. */
export function apiOfFile<W extends WorldOfFile>(startWorld: () => Promise<W>) {
  const on = {} as { world: W; service: TestService; process: RoleProcess; api: Api };
  afterAll(() => on.process.close(), 60_000);
  // Nothing calls models through this address.
  const env = { RATCHET_PUBLIC_URL: 'http://127.0.0.1:1' };
  const file = serviceOfFile(
    async () => {
      const world = await startWorld();
      return { ...world, env: { ...world.env, ...env } };
    },
    { serve: false, work: true },
  );
  beforeAll(() => {
    Object.assign(on, file, { process: new RoleProcess(file.service, startApiOf) });
    Object.defineProperty(on, 'api', { get: () => new Api(on.process.tree.url, file.service.apiKey) });
  });
  return on;
}
