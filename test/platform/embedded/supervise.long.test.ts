import { afterEach, expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import timers from 'node:timers/promises';
import { pino } from 'pino';
import type { ServerProcess } from '../../../src/platform/embedded/launch.js';
import { processMark } from '../../../src/platform/embedded/process.js';
import { supervise } from '../../../src/platform/embedded/supervise.js';

afterEach(() => {
  jest.restoreAllMocks();
});

/** A server that ends at once. */
function shortLived(): ServerProcess {
  const child = spawn('true');
  return { mark: { pid: child.pid!, startTime: 'x' }, gone: once(child, 'exit').then(() => undefined) };
}

test('gives up a server that keeps dying, with one message to its owner', async () => {
  const pauses: unknown[] = [];
  jest.spyOn(timers, 'setTimeout').mockImplementation(async (ms) => void pauses.push(ms));
  let starts = 0;
  const error = await new Promise<Error>((resolve) => {
    supervise({
      name: 'It',
      first: shortLived(),
      start: async () => {
        starts += 1;
        if (starts % 2) throw new Error('no');
        return shortLived();
      },
      stopSignals: ['SIGTERM'],
      log: pino({ level: 'silent' }),
      onExit: resolve,
    });
  });
  expect(starts).toBe(12);
  expect(pauses).toEqual([100, 200, 400, 800, 1600, ...Array<number>(7).fill(3200)]);
  expect(error.message).toMatch(/^It exited 13 times in a row; see its log\.$/);
});

test('restarts a server that settles as often as it is killed', async () => {
  jest.spyOn(timers, 'setTimeout').mockImplementation(async () => undefined);
  let time = 0;
  jest.spyOn(Date, 'now').mockImplementation(() => (time += 1_001));
  const onExit = jest.fn();
  await new Promise<void>((resolve) => {
    let starts = 0;
    const supervised = supervise({
      name: 'It',
      first: shortLived(),
      stopSignals: ['SIGTERM'] as const,
      log: pino({ level: 'silent' }),
      onExit,
      start: async () => {
        starts += 1;
        if (starts === 40) void supervised.stop().then(resolve);
        return shortLived();
      },
    });
  });
  expect(onExit).not.toHaveBeenCalled();
});

test('does not restart a stopped server', async () => {
  const child = spawn('sleep', ['60']);
  const start = jest.fn<() => Promise<ServerProcess>>();
  const onExit = jest.fn();
  const first = { mark: processMark(child.pid!)!, gone: once(child, 'exit').then(() => undefined) };
  const said: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void said.push(line) });
  const supervised = supervise({ name: 'It', first, start, stopSignals: ['SIGTERM'], log, onExit });
  await supervised.stop();
  await supervised.stop();
  expect(child.signalCode).toBe('SIGTERM');
  expect([start.mock.calls, onExit.mock.calls, said]).toEqual([[], [], []]);
});
