import { expect, test } from '@jest/globals';
import { ago, clock, decimal, fullClock } from '../../../dashboard/src/util/format.js';

const at = new Date(2026, 10, 26, 14, 3, 7);
const text = at.toISOString();
const later = (ms: number) => at.getTime() + ms;

test('a time has its date on other days', () => {
  expect(clock(text, later(60_000))).toBe('14:03:07');
  expect(clock(text, later(24 * 3_600_000))).toBe('2026-11-26 14:03:07');
  expect(fullClock(text)).toMatch(/^2026-11-26 14:03:07 \S+$/);
  expect(ago(text, later(36 * 3_600_000))).toBe('2026-11-26');
});

test('numbers of sentences are short', () => {
  expect([1295, 0.736842, 12_345.678].map(decimal)).toEqual(['1,295', '0.7368', '12,350']);
});
