import { describe, expect, test } from '@jest/globals';
import { alarmed, looks } from './alarmed.js';

// Of 1,000 versions that stay as they are, each checked 30 times against one release, at most 5 %
// ever raise an alarm, better or worse; a real loss is found.

describe.each(['rows', 'traffic'] as const)('alarms of %s', (part) => {
  test.each([
    [10, 0.5],
    [20, 0.9],
    [20, 0.5],
    [50, 0.97],
    [100, 0.8],
  ])('of %i rows that are right at %d are false for at most 5 %% of the versions', (rows, right) => {
    expect(alarmed(looks[part], rows, right)).toBeLessThanOrEqual(0.05);
  });

  test('find a loss of 0.2 on 100 rows', () => {
    expect(alarmed(looks[part], 100, 0.9, 0.7)).toBeGreaterThan(0.95);
  });
});
