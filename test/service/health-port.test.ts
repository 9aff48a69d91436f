import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { firstFree } from '../../src/platform/embedded/ports.js';
import type { Check } from '../../src/platform/temporal/readiness.js';
import { readinessOf, serveHealth } from '../../src/service/health-port.js';

let port: number;
let stop: () => Promise<void>;
let checks: Check[] | null;
let isStopping: boolean;
beforeAll(async () => {
  port = await firstFree();
  const current = () => (checks === null ? null : () => Promise.resolve(checks!));
  const readiness = readinessOf(current, () => isStopping);
  stop = await serveHealth({ metrics: () => Promise.resolve('up 1\n'), readiness }, { port, host: '127.0.0.1' });
});
afterAll(() => stop());
beforeEach(() => {
  checks = null;
  isStopping = false;
});
const get = async (path: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return [response.status, await response.text()] as const;
};
const ready = async (path = '/readyz') => {
  const [status, body] = await get(path);
  return [status, JSON.parse(body) as unknown];
};
const check = (name: Check['name'], ok: boolean): Check => ({ name, ok, detail: 'postgres at 10.0.0.3' });

test('a process that starts lives, and is not ready', async () => {
  expect(await get('/livez')).toEqual([200, '{"status":"live"}']);
  expect(await get('/healthz')).toEqual([200, '{"status":"live"}']);
  expect(await ready()).toEqual([503, { status: 'not_ready', checks: { start: { ok: false, detail: null } } }]);
  expect(await get('/metrics')).toEqual([200, 'up 1\n']);
});

test('names what is missing, without the reason: it asks for no key', async () => {
  checks = [check('database', false), check('worker', true)];
  const both = { database: { ok: false, detail: null }, worker: { ok: true, detail: null } };
  expect(await ready()).toEqual([503, { status: 'not_ready', checks: both }]);
  checks = [check('worker', true)];
  expect(await ready()).toEqual([200, { status: 'ready', checks: { worker: both.worker } }]);
});

test('leaves out the checks that the probe excludes, and refuses unknown names', async () => {
  checks = [check('database', true), check('temporal', false), check('worker', false)];
  const [status] = await ready('/readyz?exclude=temporal,worker');
  expect(status).toBe(200);
  expect((await ready('/readyz?exclude=temporal'))[0]).toBe(503);
  expect((await ready('/readyz?exclude=tempral'))[0]).toBe(422);
});

test('a process that stops still lives, and is not ready', async () => {
  checks = [check('worker', true)];
  isStopping = true;
  expect(await ready()).toMatchObject([503, { status: 'draining' }]);
  expect((await get('/livez'))[0]).toBe(200);
});

test('other paths are not there', async () => {
  for (const path of ['/', '/metrics/', '/readyz/x', '//']) expect((await get(path))[0]).toBe(404);
});
