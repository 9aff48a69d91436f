import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dollarsOf } from '../../../src/core/jobs/dollars-of-parts.js';

// Invariants: no job gets more than what is left; a session gets at least half of it, and leaves
// three times what the jobs before it have cost, where half is enough for that.

const dollars = fc.integer({ min: 0, max: 1_000_000 }).map((thousandths) => thousandths / 1_000);

test('the dollars of a job are what the earlier ones leave, of a session without those of its winner', () => {
  fc.assert(
    fc.property(dollars, dollars, (max, spent) => {
      const left = Math.max(0, max - spent);
      expect(dollarsOf('rows', { max, spent })).toBe(left);
      const session = dollarsOf('session', { max, spent });
      expect(session).toBeGreaterThanOrEqual(left / 2);
      expect(left - session).toBeLessThanOrEqual(3 * spent + 1e-9);
      if (3 * spent <= left / 2) expect(left - session).toBeCloseTo(3 * spent, 6);
    }),
  );
});
