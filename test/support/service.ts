import { randomBytes, randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { pino, type Logger } from 'pino';
import { readConfig, type Config, type Roles } from '../../src/service/config.js';
import { Api } from './api.js';
import { startService, type Service } from '../../src/service/main.js';
import { connect, type Db } from '../../src/platform/db/db.js';
import { installRuntime } from '../../src/service/worker.js';
import { workflowId } from '../../src/core/jobs/kinds.js';
import { logLevel, temporalAddress, workflowBundlePath } from './environment.js';
import { createDatabase } from './servers/embedded.js';
import { checkedEvent } from './events.js';
import { kindOf } from './jobs-over-http.js';
import { until } from './until.js';

/** The whole service on its own database and Temporal namespace, with clients for inspection. */
export interface TestService {
  url: string;
  apiKey: string;
  api: Api;
  db: Db;
  temporal: Client;
  /** Runs a statement in the organization of the tests' key. */
  query<Row extends Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Row[]>;
  /** The workflow of a job. */
  workflow(jobId: string): WorkflowHandle;
  config: Config;
  /** Starts another API or worker on the same database and Temporal. */
  another(roles: Roles, more?: Partial<Config>): Promise<Service>;
  /** Stops the first instance gracefully and starts it again. */
  restart(): Promise<void>;
  /** Stops all instances; fails if an event of its jobs does not match its schema. */
  stop(): Promise<void>;
}

// The Temporal runtime, with our log, is installed once per process.
let runtimeInstalled = false;

export async function startTestService(
  env: Record<string, string> = {},
  roles: Roles = { serve: true, work: true },
): Promise<TestService> {
  const databaseUrl = await createDatabase();
  const namespace = `test-${randomUUID().slice(0, 8)}`;
  const address = env['TEMPORAL_ADDRESS'] ?? temporalAddress();
  const connection = await Connection.connect({ address });
  await createNamespace(connection, namespace);
  const apiKey = `test-key-${randomUUID()}`;
  const log: Logger = pino({ level: logLevel('error') }, pino.destination(2));
  const installFor = ({ work }: Roles) => {
    // The runtime ends with its last worker; without a worker it would keep the process alive.
    if (work && !runtimeInstalled) installRuntime(log);
    runtimeInstalled ||= work;
  };
  installFor(roles);
  const config = readConfig({
    PATH: process.env['PATH'],
    PORT: '0',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    RATCHET_SECRET_KEY: randomBytes(32).toString('base64'),
    RATCHET_API_KEY: apiKey,
    RATCHET_EGRESS: 'dev',
    ...env,
  });
  const bundle = { codePath: workflowBundlePath() };
  const db = connect(databaseUrl, log, 4);
  const temporal = new Client({ connection, namespace });
  let service = await startService(config, roles, log, { bundle });
  const extra: Service[] = [];
  const started: TestService = {
    url: service.url ?? '',
    apiKey,
    api: new Api(service.url ?? '', apiKey),
    db,
    temporal,
    query: (sql, params) => db.org('default', (tx) => tx.query(sql, params)),
    workflow: (jobId) => temporal.workflow.getHandle(workflowId(kindOf(jobId), jobId)),
    config,
    async another(otherRoles, more = {}) {
      installFor(otherRoles);
      const other = await startService({ ...config, publicUrl: started.url, ...more }, otherRoles, log, { bundle });
      extra.push(other);
      return other;
    },
    async restart() {
      await service.stop();
      service = await startService(config, roles, log, { bundle });
      started.url = service.url ?? '';
      started.api = new Api(started.url, apiKey);
    },
    async stop() {
      for (const other of extra) await other.stop();
      await service.stop();
      try {
        await checkEvents(started);
      } finally {
        await db.close();
        await connection.close();
      }
    },
  };
  return started;
}

async function checkEvents({ query }: TestService): Promise<void> {
  const events = await query<{ type: string; message: string; data: unknown }>(
    'select type, message, data from events',
  );
  for (const event of events) checkedEvent(event);
}

/** Creates a namespace and waits until the server's parts know it. */
export async function createNamespace(connection: Connection, namespace: string): Promise<void> {
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  const client = new Client({ connection, namespace });
  await until(`namespace ${namespace} is known`, async () => {
    await client.workflowService.listWorkflowExecutions({ namespace, pageSize: 1 });
    return true;
  });
}
