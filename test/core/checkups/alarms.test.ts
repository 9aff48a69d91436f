import { expect, test } from '@jest/globals';
import { alarmLevel } from '../../../src/core/checkups/verdict.js';
import { range } from '../../support/range.js';
import { alarmed, looks } from './alarmed.js';

// The smallest cases of alarms.long.test.ts.

test.each(['rows', 'traffic'] as const)(
  'alarms of 10 rows of %s are false for at most 5 %% of the versions',
  (part) => {
    expect(alarmed(looks[part], 10, 0.5)).toBeLessThanOrEqual(0.05);
  },
);

test('two parts of a checkup share its level', () => {
  const levels = range(1, 1_000).map((number) => 2 * alarmLevel({ number, comparisons: 2 }));
  expect(levels.reduce((sum, level) => sum + level, 0)).toBeLessThanOrEqual(0.05);
});
