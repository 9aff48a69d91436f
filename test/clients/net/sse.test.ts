import { expect, test } from '@jest/globals';
import { maxBlockLength, SseBlockTooLargeError, SseSplitter } from '../../../src/clients/net/sse.js';
import { heldMs, maxHeldMs } from '../../support/held.js';

const kilobyte = Buffer.from('x'.repeat(1024));

test('refuses an event over the limit, with and without its end', () => {
  const unended = new SseSplitter();
  for (let sent = 0; sent < maxBlockLength; sent += kilobyte.length) expect(unended.push(kilobyte)).toEqual([]);
  expect(() => unended.push(kilobyte)).toThrow(SseBlockTooLargeError);
  const whole = Buffer.from(`${'x'.repeat(maxBlockLength)}\n\n`);
  expect(() => new SseSplitter().push(whole)).toThrow(SseBlockTooLargeError);
  const behind = Buffer.from(`data: {}\n\n${'x'.repeat(maxBlockLength + 1)}`);
  expect(() => new SseSplitter().push(behind)).toThrow(SseBlockTooLargeError);
});

test('reads a long stream of short events', () => {
  const splitter = new SseSplitter();
  const events = Buffer.from('data: {}\n\n'.repeat(200_000));
  expect(splitter.push(events)).toHaveLength(200_000);
  expect(splitter.end()).toBeNull();
});

test('reads an event in pieces of one byte in linear time', async () => {
  const splitter = new SseSplitter();
  const bytes = Buffer.from('x'.repeat(100_000));
  const held = await heldMs(() => {
    for (let at = 0; at < bytes.length; at += 1) splitter.push(bytes.subarray(at, at + 1));
  });
  expect(held).toBeLessThan(maxHeldMs);
});
