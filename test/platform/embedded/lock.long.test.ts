import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder, tryLock } from '../../../src/platform/embedded/lock.js';
import { processMark } from '../../../src/platform/embedded/process.js';
import { runTypeScript } from '../../support/children.js';
import { freshFolder } from './folders.js';

const released = (lock: ReturnType<typeof tryLock>) => 'release' in lock;

describe('the lock of a folder', () => {
  test('has one holder, and is free again after its release', () => {
    const file = join(freshFolder(), 'lock');
    const first = tryLock(file);
    if (!('release' in first)) throw new Error('the lock was not free');
    expect(tryLock(file)).toEqual({ heldBy: process.pid });
    first.release();
    expect(released(tryLock(file))).toBe(true);
  });

  test('names its holder and the remedy in one line', () => {
    const folder = freshFolder();
    lockFolder(folder);
    const again = () => lockFolder(folder);
    expect(again).toThrow(`The data in ${folder} is in use by another Ratchet (process ${process.pid})`);
    expect(again).toThrow(/^.*RATCHET_DATA_DIR\.$/);
  });

  test.each([
    ['whose process is gone', JSON.stringify({ pid: 2 ** 22 + 1, startTime: 'x', token: 'x' })],
    [
      'whose process id now belongs to another process',
      JSON.stringify({ pid: process.pid, startTime: 'earlier', token: 'x' }),
    ],
    ['left empty by a power cut', ''],
  ])('replaces a lock %s', (_, left) => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'lock'), left);
    expect(released(tryLock(join(folder, 'lock')))).toBe(true);
    expect(tryLock(join(folder, 'lock'))).toEqual({ heldBy: process.pid });
    expect(readdirSync(folder)).toEqual(['lock']);
  });

  // A third process that arrives during the takeover finds no lock and must not take it.
  test('has one holder during a takeover', () => {
    const folder = freshFolder();
    const file = join(folder, 'lock');
    const stale = JSON.stringify({ pid: 2 ** 22 + 1, startTime: 'x', token: 'x' });
    const successor = `${file}.after.${createHash('sha256')
      .update(file + stale)
      .digest('hex')
      .slice(0, 32)}`;
    writeFileSync(file, stale);
    writeFileSync(successor, JSON.stringify({ ...processMark(process.ppid), token: 'x' }));
    expect(tryLock(file)).toEqual({ heldBy: process.ppid });
    writeFileSync(successor, stale);
    expect(released(tryLock(file))).toBe(true);
    expect(tryLock(file)).toEqual({ heldBy: process.pid });
    expect(readdirSync(folder)).toEqual(['lock']);
  });

  test('is not taken from a living process', () => {
    const file = join(freshFolder(), 'lock');
    writeFileSync(file, JSON.stringify({ ...processMark(process.ppid), token: 'x' }));
    expect(tryLock(file)).toEqual({ heldBy: process.ppid });
  });

  test('goes to exactly one of several processes that find it stale at the same time', async () => {
    const folder = freshFolder();
    const files = Array.from({ length: 300 }, (_, index) => join(folder, `lock${index}`));
    for (const file of files) writeFileSync(file, JSON.stringify({ pid: 2 ** 22 + 1, startTime: 'x', token: 'x' }));
    const script = join(import.meta.dirname, 'take-locks.ts');
    const takers = Array.from({ length: 5 }, () => runTypeScript<number>(script, [`${Date.now() + 2000}`, ...files]));
    const got = await Promise.all(takers.map((taker) => taker.first));
    for (const taker of takers) taker.process.kill();
    expect(got.reduce((sum, count) => sum + count)).toBe(files.length);
  });
});
