import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { firstFree, isFree, reserveFree } from '../../../src/platform/embedded/ports.js';

test('takes a wanted port only if it is free', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  expect(await isFree(port)).toBe(false);
  const instead = await firstFree(undefined, port);
  expect(instead).not.toBe(port);
  other.close();
  await once(other, 'close');
  expect(await firstFree(port)).toBe(port);
});

test('picks distinct free ports below those of outgoing connections', async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, () => firstFree()));
  expect(new Set(ports).size).toBe(200);
  expect(Math.min(...ports)).toBeGreaterThanOrEqual(20_000);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});

test('keeps a reserved port from others until its server takes it', async () => {
  const { port, release } = await reserveFree();
  expect(await isFree(port)).toBe(false);
  await Promise.all([release(), release()]);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  await release();
  expect(await isFree(port)).toBe(false);
  server.close();
});
