import { expect, test } from '@jest/globals';
import { isInSample, shareOf } from '../../../src/core/deployments/sampling.js';

const n = 20_000;
/** 3.9 standard errors of a share `p` of the texts. */
const nearTo = (p: number) => 3.9 * Math.sqrt((p * (1 - p)) / n);

test('spreads similar texts evenly over 0 to 1', () => {
  for (const [prefix, suffix] of [
    ['user-', ''],
    ['', '@example.org'],
    ['chatcmpl-AaIneRu5caa5p3Sd', 'AjE'],
  ]) {
    const shares = Array.from({ length: n }, (_, at) => shareOf(`${prefix}${at}${suffix}`));
    for (const share of shares) expect(share >= 0 && share < 1).toBe(true);
    const bins = Array.from(
      { length: 10 },
      (_, bin) => shares.filter((share) => Math.floor(share * 10) === bin).length,
    );
    for (const count of bins) expect(Math.abs(count / n - 0.1)).toBeLessThan(nearTo(0.1));
  }
  expect(shareOf('a')).toBe(shareOf('a'));
});

test('samples of two purposes are independent, and 0 and 1 are none and all', () => {
  const ids = Array.from({ length: n }, (_, at) => `chatcmpl-AaIneRu5caa5p3Sd${at}AjE`);
  for (const rate of [0.05, 0.5]) {
    const both = ids.filter((id) => isInSample('log', id, rate) && isInSample('judge', id, rate)).length;
    expect(Math.abs(both / n - rate ** 2)).toBeLessThan(nearTo(rate ** 2));
  }
  expect(ids.filter((id) => isInSample('judge', id, 0))).toHaveLength(0);
  expect(ids.filter((id) => isInSample('judge', id, 1))).toHaveLength(n);
});
