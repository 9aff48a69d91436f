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

test.each([
  ['no connection', withCode('ECONNREFUSED')],
  ['a shutdown', withCode('57P01')],
  ['a deadlock', withCode('40P01')],
  ['a fail-over', withCode('25006')],
  ['an error of the client without a code', new Error('Connection terminated unexpectedly')],
])('%s is tried again', async (_name, error) => {
  expect(await triesOf(error)).toBeGreaterThan(1);
});

test.each([
  ['a RangeError', new RangeError('Invalid string length')],
  ['a TypeError', new TypeError('x is not a function')],
  ['any other error', new Error('The prompt is not known.')],
  ['bad data', withCode('22P02')],
  ['a broken constraint', withCode('23505')],
  ['a wrong statement', withCode('42703')],
])('%s is not tried again', async (_name, error) => {
  expect(await triesOf(error)).toBe(1);
});
