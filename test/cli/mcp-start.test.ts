import { expect, jest, test } from '@jest/globals';
import { parse } from 'node:path';
import { ToolService, type Connection } from '../../src/cli/mcp/service.js';
import { Ratchet } from '../../src/client/index.js';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { Tools } from '../support/tools.js';

// `ratchet mcp` before it has a service.

test('the server initializes and lists its tools without a service, in a folder without files', async () => {
  const nowhere = `http://127.0.0.1:${await firstFree()}`;
  const env = { RATCHET_URL: nowhere, RATCHET_API_KEY: 'k'.repeat(40) };
  const tools = await new Tools(parse(process.cwd()).root, env).connect();
  try {
    expect((await tools.client.listTools()).tools).not.toHaveLength(0);
    // Each call looks again.
    for (let at = 0; at < 2; at += 1) expect((await tools.call('list_jobs', {})).error).toContain('RATCHET_URL');
    for (const args of [{ prompt: 'etc/passwd' }, { prompt: '/etc/passwd', data: '/etc/passwd' }])
      expect((await tools.call('evaluate', args)).error).toContain('--folder');
    expect((await tools.call('deploy', { source: '/etc/passwd', name: 'x' })).error).toContain('--folder');
  } finally {
    await tools.close();
  }
}, 30_000);

test('a setting that is invalid is an error of the tools', async () => {
  const tools = await new Tools(process.cwd(), { PORT: 'none' }).connect();
  try {
    expect((await tools.call('list_jobs', {})).error).toContain('PORT');
  } finally {
    await tools.close();
  }
}, 30_000);

const nowhere = new Ratchet({ url: 'http://127.0.0.1:1', apiKey: '', maxRetries: 0 });
const connection: Connection = { client: nowhere, ends: null };

test('a call during a long start is answered, and a later one is served', async () => {
  let ready!: () => void;
  const start = new Promise<void>((resolve) => (ready = resolve));
  const connect = jest.fn(async (use: (connection: Connection) => Promise<void>) => {
    await start;
    await use(connection);
  });
  const service = new ToolService(connect, 0);
  await expect(service.use(() => Promise.resolve(1))).rejects.toThrow('call again');
  ready();
  await start;
  const patient = () => service.use(() => Promise.resolve(2)).catch(() => null);
  let answered = await patient();
  while (answered === null) answered = await patient();
  expect(answered).toBe(2);
  await service.close();
  expect(connect).toHaveBeenCalledTimes(1);
});

test('a start that fails is told by one call, and the next call starts again', async () => {
  const connect = jest
    .fn<(use: (connection: Connection) => Promise<void>) => Promise<void>>()
    .mockRejectedValueOnce(new Error('disk full'))
    .mockImplementation((use) => use(connection));
  const service = new ToolService(connect);
  await expect(service.use(() => Promise.resolve(1))).rejects.toThrow('disk full');
  expect(await service.use(() => Promise.resolve(1))).toBe(1);
  await service.close();
});

test('the error of a start that no call awaited is told by the next call', async () => {
  let fail!: (error: Error) => void;
  const start = new Promise<void>((_, reject) => (fail = reject));
  const service = new ToolService(() => start, 0);
  await expect(service.use(() => Promise.resolve(1))).rejects.toThrow('call again');
  fail(new Error('disk full'));
  await start.catch(() => undefined);
  await new Promise(setImmediate);
  await expect(service.use(() => Promise.resolve(1))).rejects.toThrow('disk full');
});

test('after a service is gone, the next call looks for another', async () => {
  const connect = jest.fn((use: (connection: Connection) => Promise<void>) => use(connection));
  const service = new ToolService(connect);
  const gone = () => service.use(({ client }) => client.providers());
  for (let at = 0; at < 2; at += 1) await expect(gone()).rejects.toMatchObject({ code: 'unreachable' });
  expect(connect).toHaveBeenCalledTimes(2);
  await service.close();
});
