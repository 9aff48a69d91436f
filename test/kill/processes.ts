import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Api } from '../../src/cli/api.js';
import { startWorkerOf, startTree, type Tree } from '../support/servers/tree.js';
import { startTestService, type TestService } from '../support/service.js';

const apiKey = 'kill-test-key-0123456789';

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

  /** kill -9 of the whole tree. */
  async kill(): Promise<void> {
    await this.tree!.kill();
  }

  /** Stops the tree and removes the folder. */
  async close(): Promise<void> {
    await this.tree?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A service without a worker, one worker process at a time, and a pool on their database. */
export class ServiceWithWorker {
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

  async close(): Promise<void> {
    await this.worker?.kill();
    await this.service.stop();
    await this.pool.end();
  }
}
