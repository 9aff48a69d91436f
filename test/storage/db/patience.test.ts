import { expect, test } from '@jest/globals';
import { retryTransient } from '../../../src/storage/db/patience.js';

const withCode = (code: string) => Object.assign(new Error(code), { code });

/** How often the work runs that fails with this error for ever. */
async function triesOf(error: Error): Promise<number> {
  let tries = 0;
  const work = () => {
    tries += 1;
    return Promise.reject(error);
  };
  await expect(retryTransient(work, { patienceMs: 120, onRetry: () => undefined })).rejects.toBe(error);
  return tries;
}

// The classes of errors are in postgres-errors.test.ts.
test('retries transient errors only', async () => {
  expect(await triesOf(withCode('40P01'))).toBeGreaterThan(1);
  expect(await triesOf(withCode('23505'))).toBe(1);
  expect(await triesOf(new TypeError('x is not a function'))).toBe(1);
});
