import { expect, test } from '@jest/globals';
import { isPushback, mayPass, retryAdvice } from '../../../src/clients/net/retry-advice.js';

const now = Date.UTC(2026, 0, 1);
const advice = (headers: Record<string, string>) => retryAdvice(headers, now);

test.each<[Record<string, string>, string | null]>([
  [{}, null],
  [{ 'retry-after': '3' }, '3'],
  [{ 'retry-after': '0.25' }, '0.25'],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, 'Thu, 01 Jan 2026 00:00:09 GMT'],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after-ms': '1500', 'retry-after': '2' }, '1.5'],
  [{ 'retry-after-ms': 'x', 'retry-after': '2' }, '2'],
  [{ 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-remaining-requests': '5' }, null],
  [{ 'x-ratelimit-reset-tokens': '6m0.5s', 'x-ratelimit-remaining-tokens': '0' }, '360.5'],
  [{ 'x-ratelimit-reset-tokens': '20ms', 'x-ratelimit-reset-requests': '1h2m' }, '3720'],
  [{ 'x-ratelimit-reset': String(now + 4_000), 'x-ratelimit-remaining': '0' }, '4'],
  [{ 'x-ratelimit-reset': String(now / 1_000 + 7) }, '7'],
  [
    { 'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:05Z', 'anthropic-ratelimit-requests-remaining': '0' },
    '5',
  ],
  [{ 'retry-after': ' 3 ' }, '3'],
  [{ 'retry-after': '20s' }, '20'],
  [{ 'retry-after': '-5' }, null],
  [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 'Wed, 21 Oct 2015 07:28:00 GMT'],
  [{ 'x-ratelimit-reset-after': '12' }, '12'],
  [{ 'x-ratelimit-reset-requests-day': '33011.38', 'x-ratelimit-remaining-requests-day': '0' }, '33011.38'],
  [{ 'x-ratelimit-reset-tokens-minute': '9', 'x-ratelimit-remaining-tokens-minute': '0' }, '9'],
])('%j says: %s', (headers, expected) => {
  expect(advice(headers).retryAfter).toBe(expected);
});

test('x-should-retry decides before the status', () => {
  expect(advice({ 'x-should-retry': 'True ' }).shouldRetry).toBe(true);
  expect(advice({ 'x-should-retry': 'false' }).shouldRetry).toBe(false);
  expect(advice({ 'x-should-retry': 'maybe' }).shouldRetry).toBeNull();
  expect(mayPass(400, { shouldRetry: true })).toBe(true);
  expect(mayPass(503, { shouldRetry: false })).toBe(false);
  expect([429, 503, 529, 500, 408].filter(isPushback)).toEqual([429, 503, 529]);
});
