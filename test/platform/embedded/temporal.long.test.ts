import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { firstFree } from '../../../src/platform/embedded/ports.js';
import { end, lives, processMark } from '../../../src/platform/embedded/process.js';
import { startTemporal, type EmbeddedTemporal, type TemporalOptions } from '../../../src/platform/embedded/temporal.js';
import { runTypeScript, type Child } from '../../support/children.js';
import { until } from '../../support/until.js';
import { freshFolder } from './folders.js';

interface Answer {
  address: string;
  uiUrl: string;
  pid: number;
}

const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function start(options: Partial<TemporalOptions> & { dataDir: string }): Promise<EmbeddedTemporal> {
  const server = await startTemporal({ port: 0, log: pino({ level: 'silent' }), ...options });
  stops.push(() => server.stop());
  return server;
}

/** Starts one in a process of its own and kills that process: the server survives. */
async function orphan(dataDir: string): Promise<Answer> {
  const script = join(import.meta.dirname, '../..', 'support', 'servers', 'run-embedded.ts');
  const parent: Child<Answer> = runTypeScript(script, ['temporal', JSON.stringify({ dataDir, port: 0 })]);
  const answer = await parent.first;
  const mark = processMark(answer.pid)!;
  stops.push(() => end(mark, ['SIGKILL']));
  parent.process.kill('SIGKILL');
  await parent.ended;
  expect(lives(mark)).toBe(true);
  return answer;
}

/** Whether every thread of a process has stopped (state T, the third field of its stat). */
function isStopped(pid: number): boolean {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.every((thread) => /\) [Tt] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')));
}

/** Starts a workflow without a worker, so that only the server knows it. */
async function remember(address: string, workflowId: string): Promise<void> {
  const connection = await Connection.connect({ address });
  await new Client({ connection }).workflow.start('anything', { workflowId, taskQueue: 'nobody' });
  await connection.close();
}

async function recall(address: string, workflowId: string): Promise<string> {
  const connection = await Connection.connect({ address, connectTimeout: 2000 });
  try {
    return (await new Client({ connection }).workflow.getHandle(workflowId).describe()).status.name;
  } finally {
    await connection.close();
  }
}

describe('embedded Temporal', () => {
  test('serves gRPC and UI on loopback, and keeps its state and ports over a restart', async () => {
    const dataDir = freshFolder();
    const first = await start({ dataDir, ui: true });
    expect(first.address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect((await fetch(first.uiUrl!)).status).toBe(200);
    expect(statSync(join(dataDir, 'temporal')).mode & 0o777).toBe(0o700);
    await remember(first.address, 'before');
    await first.stop();

    const second = await start({ dataDir, ui: true });
    expect([second.address, second.uiUrl, second.adopted]).toEqual([first.address, first.uiUrl, false]);
    expect(await recall(second.address, 'before')).toBe('RUNNING');
  });

  test('refuses every request of its HTTP API, and has no UI by default', async () => {
    const { address, uiUrl, httpPort } = await start({ dataDir: freshFolder() });
    await remember(address, 'before');
    const terminateAll = JSON.stringify({
      visibilityQuery: 'ExecutionStatus="Running"',
      reason: 'x',
      terminationOperation: { identity: 'x' },
    });
    const http = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${httpPort}/api/v1/${path}`, init);
    // A simple request, which a web page may send.
    const headers = { origin: 'http://evil.example', 'content-type': 'text/plain' };
    const simple = { method: 'POST', headers, body: terminateAll };
    const answers = [
      await http('namespaces/default/batch-operations/b1', simple),
      await http('namespaces/default/workflows/before/signal/pause', { ...simple, body: '{}' }),
      await http('namespaces'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(await recall(address, 'before')).toBe('RUNNING');
    expect(uiUrl).toBeNull();
  });

  test('is adopted after a kill of its parent, and ended by a stop', async () => {
    const dataDir = freshFolder();
    const before = await orphan(dataDir);
    await remember(before.address, 'before');
    const after = await start({ dataDir });
    expect([after.address, after.pid, after.adopted]).toEqual([before.address, before.pid, true]);
    expect(await recall(after.address, 'before')).toBe('RUNNING');
    const mark = processMark(after.pid)!;
    await after.stop();
    expect(lives(mark)).toBe(false);
  });

  test('is ended instead when it no longer answers', async () => {
    const dataDir = freshFolder();
    const hung = await orphan(dataDir);
    const mark = processMark(hung.pid)!;
    process.kill(hung.pid, 'SIGSTOP');
    // The signal reaches threads one by one: a running thread may still answer.
    await until('all of it stands still', () => isStopped(hung.pid));
    const after = await start({ dataDir });
    expect([after.address, after.adopted]).toEqual([hung.address, false]);
    expect(lives(mark)).toBe(false);
  });

  test('is ended instead when another port is wanted', async () => {
    const dataDir = freshFolder();
    const { pid, address } = await orphan(dataDir);
    const port = await firstFree();
    const after = await start({ dataDir, port });
    expect([after.address, after.adopted]).toEqual([`127.0.0.1:${port}`, false]);
    expect(after.address).not.toBe(address);
    expect(processMark(pid)).toBeUndefined();
  });

  test('spares a process that only reuses the previous id', async () => {
    const dataDir = freshFolder();
    await (await start({ dataDir })).stop();
    const file = join(dataDir, 'temporal', 'server.json');
    const saved = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...saved, process: { pid: process.pid, startTime: 'earlier' } }));
    expect((await start({ dataDir })).adopted).toBe(false);
  });

  test('is restarted when it dies: same address, nothing lost', async () => {
    const server = await start({ dataDir: freshFolder() });
    await remember(server.address, 'before');
    const died = server.pid;
    process.kill(died, 'SIGKILL');
    await until('another process serves', () => server.pid !== died);
    expect(await recall(server.address, 'before')).toBe('RUNNING');
  });

  test('reports in one line that its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    stops.push(async () => other.close());
    const taken = new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use by another program.*RATCHET_TEMPORAL_PORT.*$`);
    await expect(start({ dataDir: freshFolder(), port })).rejects.toThrow(taken);
  });

  test('reports in one line that its data is in use', async () => {
    const dataDir = freshFolder();
    await start({ dataDir });
    await expect(start({ dataDir })).rejects.toThrow(/^The data in .*temporal is in use by another Ratchet.*$/);
  });
});
