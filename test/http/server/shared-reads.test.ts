import { expect, test } from '@jest/globals';
import { createSharedReads } from '../../../src/http/server/shared-reads.js';

test('those that want the same at the same moment share a read, others have their own', async () => {
  const shared = createSharedReads<string>();
  const begun: string[] = [];
  const read = (key: string) =>
    shared(key, () => {
      begun.push(key);
      return Promise.resolve(`${key} ${begun.length}`);
    });
  expect(await Promise.all([read('a'), read('b'), read('a')])).toEqual(['a 1', 'b 2', 'a 1']);
  expect(await read('a')).toBe('a 3');
});

test('nobody joins a read that has begun, and a failure is of those that shared it', async () => {
  const shared = createSharedReads<string>();
  let late: Promise<string> | undefined;
  const early = shared('a', () => {
    late = shared('a', () => Promise.resolve('after the change'));
    return Promise.reject(new Error('before the change'));
  });
  const joined = shared('a', () => Promise.resolve('a read of its own'));
  await expect(early).rejects.toThrow('before the change');
  await expect(joined).rejects.toThrow('before the change');
  expect(await late).toBe('after the change');
});
