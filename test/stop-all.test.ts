import { expect, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { stopAll } from '../src/stop-all.js';

const first = new Error('the worker');
const second = new Error('Postgres');
const logged: unknown[] = [];
const log = { error: ({ err }: { err: unknown }) => void logged.push(err) } as Parameters<typeof stopAll>[1];

test('runs each step after the previous one, also after a failure; throws the first failure and logs the rest', async () => {
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

test('throws and logs nothing without failures', async () => {
  logged.length = 0;
  await stopAll([() => undefined, () => Promise.resolve()], log);
  await stopAll([], log);
  expect(logged).toEqual([]);
});
