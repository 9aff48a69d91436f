import { expect, test } from '@jest/globals';
import { shareOf } from '../../../src/core/deployments/sampling.js';

test('spreads similar texts evenly over 0 to 1', () => {
  for (const [prefix, suffix] of [
    ['user-', ''],
    ['', '@example.org'],
    ['chatcmpl-AaIneRu5caa5p3Sd', 'AjE'],
  ]) {
    const n = 20_000;
    const shares = Array.from({ length: n }, (_, at) => shareOf(`${prefix}${at}${suffix}`));
    for (const share of shares) expect(share >= 0 && share < 1).toBe(true);
    // 3.9 standard errors of a share of a tenth.
    const bins = Array.from(
      { length: 10 },
      (_, bin) => shares.filter((share) => Math.floor(share * 10) === bin).length,
    );
    for (const count of bins) expect(Math.abs(count / n - 0.1)).toBeLessThan(0.0083);
  }
  expect(shareOf('a')).toBe(shareOf('a'));
});
