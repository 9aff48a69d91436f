import { expect, test } from '@jest/globals';
import { checkReport } from '../../../src/cli/check/report.js';

const side = { mean_reward: 1, mean_reward_interval: { low: 0.8, high: 1 }, cost_usd: null, latency_ms: null };
const measured = { job_id: 'evl_1', mean_reward: 1, rows: 20, rows_failed: 0, rewards: new Map() };

function reportOf(input: string, answer: string | null, service: string | null = null): string {
  const lost = { row: 3, input, expected: null, before: { reward: 1, answer }, after: { reward: null, answer: null } };
  const comparison = {
    a: side,
    b: side,
    difference: { mean: 0, low: 0, high: 0 },
    verdict: 'worse',
    rows_needed: null,
    flipped_rows: [4],
  };
  return checkReport({
    prompt: 'prompt.txt',
    commit: '0123456789',
    diff: null,
    service,
    refusals: [],
    measured: { head: measured, base: measured, comparison, lost: { count: 12, worst: [lost] } } as never,
  });
}
const row = (report: string) => /^\| 3 \| (.*) \|$/m.exec(report)?.[1];

test('lists the texts of rows that got worse, none of which is markup or a mention', () => {
  expect(row(reportOf('Ask @all |\n `<b>*x*</b>`', ''))).toBe(
    '<code>Ask &#64;all &#124; &#96;&#60;b&#62;&#42;x&#42;&#60;&#47;b&#62;&#96;</code> |  | 1.000 <code></code> | failed ',
  );
});

test('shortens them', () => {
  expect(row(reportOf('ä😀'.repeat(60), null))).toBe(`<code>${'ä😀'.repeat(50)}…</code> |  | 1.000  | failed `);
});

test('names the evaluations of a service that stays, by their pages', () => {
  expect(reportOf('a', null)).not.toContain('evl_1');
  const links = reportOf('a', null, 'https://ratchet.example.com/').match(/\[evl_1\]\(.*?\)/g);
  expect(links).toEqual(Array.from({ length: 2 }, () => '[evl_1](https://ratchet.example.com/#/evaluations/evl_1)'));
});
