/** The numbers of a result in words. */
import { expect, test } from '@jest/globals';
import {
  evidence,
  isRepeated,
  isTold,
  judgeWords,
  noiseWords,
  plannedWords,
  verdictWords,
} from '../../../dashboard/src/pages/search/verdict.js';
import type { Results } from '../../../dashboard/src/data/search.js';

const comparison = {
  basis: 'heldout' as const,
  seeds: 20,
  baseline_reward: 0.2,
  winner_reward: 0.15,
  baseline_interval: { low: 0.2, high: 0.8 },
  winner_interval: { low: 0.5, high: 0.9 },
  difference: -0.05,
  interval: { low: -0.2, high: 0.1 },
  rows_needed: null,
};
const best = (isBaseline: boolean) => ({ is_baseline: isBaseline }) as Results['best_candidate'];

test('a verdict names the difference with its sign, its interval and its seeds', () => {
  const said = verdictWords({ verdict: 'worse', comparison, best_candidate: best(false) });
  for (const part of ['worse', '−0.050', '−0.200 to +0.100', '20 held-out rows', '0.200 to 0.150'])
    expect(said).toContain(part);
});

test('what would decide an inconclusive comparison is said', () => {
  const open = { ...comparison, rows_needed: 314 };
  expect(verdictWords({ verdict: 'inconclusive', comparison: open, best_candidate: best(false) })).toContain(
    '314 rows',
  );
});

test.each([
  [15, 1 / 3, /^15 held-out rows show a difference above 0\.33\. .* 90 held-out rows, about 270 rows in all\.$/],
  [2, null, /^2 held-out rows show no difference/],
  [90, 0.1, /0\.10\.$/],
])('what %d held-out rows can show', (seeds, least, sentence) => {
  const planned = { basis: 'heldout' as const, seeds, least_difference: least, seeds_for_tenth: 90 };
  expect(plannedWords(planned)).toMatch(sentence);
});

test('there is no verdict before the end, and no winner where the baseline is the best', () => {
  expect(verdictWords({ verdict: null, comparison: null, best_candidate: null })).toBeNull();
  expect(verdictWords({ verdict: 'inconclusive', comparison, best_candidate: best(true) })).not.toContain('20');
});

test('noise is told as a 95 % interval, and a judge with its measures', () => {
  expect(noiseWords({ rollout_sd: 0.5, comparisons: 4, reward_se: 0.1 })).toContain('±0.196');
  const measured = { outputs: 50, threshold: 0.5, accuracy: 0.8, kappa: 0.61, p_value: 0.0001 };
  const judge = { basis: 'expected' as const, ...measured, better_than_chance: true };
  expect(judgeWords(judge)).toContain('80 % of 50 outputs (kappa 0.61, p < 0.001)');
});

test('the panel has the numbers alone once the diagnosis says the verdict', () => {
  const diagnosed = (code: string, isBaseline = false) => ({
    diagnosis: { code } as Results['diagnosis'],
    best_candidate: best(isBaseline),
  });
  expect(isTold(diagnosed('better'))).toBe(true);
  expect(isTold(diagnosed('all_wrong'))).toBe(false);
  expect(isRepeated(diagnosed('better'))).toBe(true);
  expect(isRepeated(diagnosed('overfit'))).toBe(false);
  expect(isRepeated(diagnosed('no_better', true))).toBe(false);
  expect(evidence(comparison)).not.toContain('worse');
});
