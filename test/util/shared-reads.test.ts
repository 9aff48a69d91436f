import { expect, test } from '@jest/globals';
import { createSharedReads } from '../../src/util/shared-reads.js';

test('concurrent equal requests share a read; different ones do not', async () => {
  const shared = createSharedReads<string>();
  const started: string[] = [];
  const read = (key: string) =>
    shared(key, () => {
      started.push(key);
      return Promise.resolve(`${key} ${started.length}`);
    });
  expect(await Promise.all([read('a'), read('b'), read('a')])).toEqual(['a 1', 'b 2', 'a 1']);
  expect(await read('a')).toBe('a 3');
});

test('a read that has begun is not shared, and its failure reaches only the requests that share it', async () => {
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
