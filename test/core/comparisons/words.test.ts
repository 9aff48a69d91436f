import { expect, test } from '@jest/globals';
import { sentenceOf, type NamedVerdict } from '../../../src/core/comparisons/words.js';

const column = (name: string, verdict: NamedVerdict['verdict'], mean: number): NamedVerdict => ({
  ...{ name, verdict, mean },
  ...{ low: mean - 0.09, high: mean + 0.09, rows: 84 },
});

test('the better ones come first, with their figures', () => {
  const [b, c, d] = [column('B', 'better', 0.12), column('C', 'inconclusive', 0.01), column('D', 'worse', -0.2)];
  expect(sentenceOf('A', [c, b])).toBe(
    'B is better than A (+0.120, 95 % +0.030 to +0.210, 84 rows); C is not shown to differ.',
  );
  expect(sentenceOf('A', [d, column('E', 'inconclusive', 0), c])).toBe(
    'D is worse than A (−0.200, 95 % −0.290 to −0.110, 84 rows); E and C are not shown to differ.',
  );
  expect(sentenceOf('A', [c])).toBe('C is not shown to differ from A.');
});
