import { expect, test } from '@jest/globals';
import { retryTransient } from '../../../src/platform/db/patience.js';

const withCode = (code: string) => Object.assign(new Error(code), { code });

/** Number of runs of work that always fails with this error. */
async function triesOf(error: Error): Promise<number> {
  let tries = 0;
  const work = () => {
    tries += 1;
    return Promise.reject(error);
  };
  await expect(retryTransient(work, { patienceMs: 120, onRetry: () => undefined })).rejects.toBe(error);
  return tries;
}

// postgres-errors.test.ts covers the classes of errors.
test('retries transient errors only', async () => {
  expect(await triesOf(withCode('40P01'))).toBeGreaterThan(1);
  expect(await triesOf(withCode('23505'))).toBe(1);
  expect(await triesOf(new TypeError('x is not a function'))).toBe(1);
});
