import { expect, jest, test } from '@jest/globals';
import { ExpiringMap } from '../../src/util/expiring-map.js';

test('an entry expires on the monotonic clock, whatever the wall clock says', () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  jest.spyOn(Date, 'now').mockReturnValue(0);
  const map = new ExpiringMap<string, number>(2, 1_000);
  map.set('a', 1);
  map.set('b', 2, -500);
  clock.mockReturnValue(999);
  expect([map.get('a'), map.get('b')]).toEqual([1, undefined]);
  clock.mockReturnValue(1_000);
  expect(map.get('a')).toBeUndefined();
  jest.restoreAllMocks();
});

test('the oldest entry makes room', () => {
  const map = new ExpiringMap<string, number>(2, 1_000);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.set('c', 4);
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4]);
});
