import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createPace } from '../../src/util/pace.js';
import { pureRuns } from '../support/runs.js';

test('no window has more turns than 101 and 100 a second, and nobody waits for more than a second', () => {
  const gaps = fc.array(fc.oneof(fc.nat(3), fc.nat(30), fc.nat(5_000)), { minLength: 1, maxLength: 900 });
  fc.assert(
    fc.property(gaps, (waits) => {
      let time = 0;
      const pace = createPace(() => time);
      const turns: number[] = [];
      for (const gap of waits) {
        time += gap;
        const waitMs = pace('a');
        if (waitMs === null) continue;
        expect(waitMs).toBeLessThanOrEqual(1_000);
        turns.push(time + waitMs);
      }
      expect(turns).toEqual([...turns].sort((a, b) => a - b));
      const excess = turns.map((turn, last) =>
        Math.max(...turns.slice(0, last + 1).map((first, at) => last - at - 100 - (turn - first) / 10)),
      );
      expect(Math.max(...excess, 0)).toBeLessThan(1e-6);
    }),
    { numRuns: pureRuns(50) },
  );
});

test('a network that does not hurry never waits, and networks do not wait for each other', () => {
  let time = 0;
  const pace = createPace(() => time);
  for (let n = 0; n < 1_000; n += 1) {
    time += 10;
    expect(pace('slow')).toBe(0);
  }
  const hurried = Array.from({ length: 250 }, () => pace('fast'));
  expect(hurried.filter((waitMs) => waitMs === 0)).toHaveLength(100);
  expect(hurried.filter((waitMs) => waitMs === null)).toHaveLength(50);
  expect(pace('other')).toBe(0);
});
