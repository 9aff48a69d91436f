import { expect, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { stopAll } from '../src/stop-all.js';

const first = new Error('the worker');
const second = new Error('Postgres');
const logged: unknown[] = [];
const log = { error: ({ err }: { err: unknown }) => void logged.push(err) } as Parameters<typeof stopAll>[1];

test('each step runs after the one before has ended, also where that failed; the first failure is thrown, others are logged', async () => {
  const ran: string[] = [];
  const step = (name: string, failure?: Error) => async () => {
    ran.push(name);
    await setImmediate();
    ran.push(`${name} ended`);
    if (failure) throw failure;
  };
  const thrower = () => {
    throw second;
  };
  await expect(stopAll([step('a'), step('b', first), thrower, step('c')], log)).rejects.toBe(first);
  expect(ran).toEqual(['a', 'a ended', 'b', 'b ended', 'c', 'c ended']);
  expect(logged).toEqual([second]);
});

test('where nothing fails nothing is thrown or logged', async () => {
  logged.length = 0;
  await stopAll([() => undefined, () => Promise.resolve()], log);
  await stopAll([], log);
  expect(logged).toEqual([]);
});
