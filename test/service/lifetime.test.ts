import { expect, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { Lifetime } from '../../src/service/lifetime.js';

const first = new Error('the worker');
const second = new Error('Postgres');
let logged: unknown[] = [];
const lifetimeOf = (...steps: Parameters<Lifetime['onStop']>[0][]) => {
  logged = [];
  const life = new Lifetime({ error: ({ err }: { err: unknown }) => void logged.push(err) } as never);
  for (const step of steps) life.onStop(step);
  return life;
};

test('stops each part after the one that started later, also after a failure; throws the first failure, logs the rest', async () => {
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
  const life = lifetimeOf(step('c'), thrower, step('b', first), step('a'));
  await expect(life.stop()).rejects.toBe(first);
  expect(ran).toEqual(['a', 'a ended', 'b', 'b ended', 'c', 'c ended']);
  expect(logged).toEqual([second]);
});

test('stops each part once; throws and logs nothing without failures', async () => {
  let stops = 0;
  const life = lifetimeOf(
    () => void (stops += 1),
    () => Promise.resolve(),
  );
  await Promise.all([life.stop(), life.stop()]);
  expect([stops, logged]).toEqual([1, []]);
});

test('a part that cannot go on is logged, and ends the lifetime with its error', async () => {
  const life = lifetimeOf();
  life.fail(first);
  life.fail(second);
  await expect(life.ended).rejects.toBe(first);
  expect(logged).toEqual([first]);
});
