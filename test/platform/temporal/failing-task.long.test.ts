import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { readFailingTask } from '../../../src/platform/temporal/failing-task.js';
import { installRuntime } from '../../../src/service/worker.js';
import { temporalAddress } from '../../support/environment.js';
import { until } from '../../support/until.js';

// A workflow task that fails again and again is named by its cause, and logged by nobody else.

const lines: { level: number; msg: string }[] = [];
const taskQueue = `failing-${randomUUID()}`;
let connection: Connection;
let client: Client;
let native: NativeConnection;
beforeAll(async () => {
  installRuntime(pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }));
  connection = await Connection.connect({ address: temporalAddress() });
  native = await NativeConnection.connect({ address: temporalAddress() });
  client = new Client({ connection });
});
afterAll(async () => {
  await native.close();
  await connection.close();
});

/** Runs a worker with the workflows of a file during `work`. */
async function withWorkflows<T>(file: string, work: () => Promise<T>): Promise<T> {
  const workflowBundle = await bundleWorkflowCode({ workflowsPath: join(__dirname, 'workflows', file) });
  const worker = await Worker.create({ connection: native, taskQueue, workflowBundle });
  return worker.runUntil(work);
}

const start = (type: string) => client.workflow.start(type, { workflowId: randomUUID(), taskQueue });
type Handle = Awaited<ReturnType<typeof start>>;

async function failureOf(handle: Handle) {
  let found: Awaited<ReturnType<typeof readFailingTask>> = null;
  await until('its task fails', async () => (found = await readFailingTask(client, await handle.describe())) !== null);
  return found;
}

test('names nondeterminism and faults of workflow code', async () => {
  const changed = await withWorkflows('before.ts', async () => {
    const handle = await start('changed');
    await until('it waits', async () => (await handle.describe()).historyLength >= 5);
    expect(await readFailingTask(client, await handle.describe())).toBeNull();
    return handle;
  });
  await changed.signal('wake');
  await withWorkflows('after.ts', async () => {
    const broken = await start('broken');
    expect(await failureOf(broken)).toEqual({
      cause: 'workflow_worker_unhandled_failure',
      message: 'a fault in workflow code',
    });
    expect(await failureOf(changed)).toMatchObject({ cause: 'non_deterministic_error' });
    await expect((await start('failed')).result()).rejects.toThrow();
    for (const handle of [broken, changed]) await handle.terminate();
  });
  expect(lines.filter(({ level, msg }) => level >= 40 && !msg.startsWith('No '))).toEqual([]);
}, 120_000);
