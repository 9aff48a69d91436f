import { describe, expect, test } from '@jest/globals';
import { failedLine, figure, mergeRuns, markdown, usedTable, type Row } from '../table.js';

const row = (value: number, more: Partial<Row> = {}): Row => ({ what: 'wall', value, unit: 's', ...more });

describe('a line', () => {
  test('shows median and range of the runs, and the median of their ratios', () => {
    const runs = [row(2, { beside: { what: 'ideal', value: 1 } }), row(3, { beside: { what: 'ideal', value: 2 } })];
    expect(mergeRuns([...runs, row(10, { beside: { what: 'ideal', value: 1 } })])).toMatchObject({
      measured: '3 s (2 to 10)',
      beside: '1 s: ideal',
      ratio: '2',
    });
    expect(mergeRuns([row(2)])).toMatchObject({ measured: '2 s', beside: '', ratio: '', aim: '', met: 'no aim' });
    expect(() => mergeRuns([])).toThrow(RangeError);
  });

  test.each<[Partial<Row>, string, string]>([
    [{ aim: { of: 'value', most: 2 } }, 'at most 2 s', 'met'],
    [{ aim: { of: 'value', most: 1.99 } }, 'at most 1.99 s', 'not met'],
    [{ aim: { of: 'value', least: 2 } }, 'at least 2 s', 'met'],
    [{ aim: { of: 'value', least: 2.1 } }, 'at least 2.1 s', 'not met'],
    [{ aim: { of: 'ratio', most: 1.2 }, beside: { what: 'ideal', value: 1 } }, 'at most 1.2, as ratio', 'not met'],
    [{ aim: { of: 'ratio', most: 1.2 }, beside: { what: 'ideal', value: 2 } }, 'at most 1.2, as ratio', 'met'],
    [{ aim: { of: 'difference', most: 1 }, beside: { what: 'direct', value: 1 } }, 'at most 1 s more', 'met'],
    [{ aim: { of: 'difference', most: 0.5 }, beside: { what: 'direct', value: 1 } }, 'at most 0.5 s more', 'not met'],
  ])('%j: %s, %s', (more, aim, met) => {
    expect(mergeRuns([row(2, more)])).toMatchObject({ aim, met });
  });

  test('names a missing peer, without a verdict', () => {
    const line = mergeRuns([
      row(2, { beside: { what: 'gepa: no Python', value: null }, aim: { of: 'ratio', most: 1 } }),
    ]);
    expect(line).toMatchObject({ beside: 'not shown: gepa: no Python', ratio: '', met: 'no aim' });
  });

  test('shows the reason of a failed row in one line', () => {
    expect(failedLine('proxy', 'it broke\nat once')).toMatchObject({ measured: 'it broke at once', met: 'failed' });
  });
});

test('formats figures briefly', () => {
  expect([0.123, 1.004, 12.34, 123.4, 12_345.6, 1].map(figure)).toEqual(['0.12', '1', '12.3', '123', '12,346', '1']);
});

test('the table is Markdown with aligned columns and escaped bars', () => {
  const lines = markdown([mergeRuns([row(2)]), failedLine('a|b', 'no')]).split('\n');
  expect(lines).toHaveLength(4);
  expect(new Set(lines.map((line) => line.replaceAll('\\|', '__').split('|').length))).toEqual(new Set([8]));
  expect(new Set(lines.map(({ length }) => length)).size).toBe(1);
  expect(lines[3]).toContain('a\\|b');
});

test('the usage table shows usage per unit of work', () => {
  const spent = { service: 2, postgres: 1, temporal: 0.5, container: 9, transactions: 250 };
  const [, , line] = usedTable([row(1), row(2, { used: { unit: 'rollout', n: 1_000, spent } })]).split('\n');
  expect(line!.split('|').map((cell) => cell.trim())).toEqual(['', 'wall', 'rollout', '2', '1', '0.5', '0.25', '']);
  expect(usedTable([row(1)])).toBe('');
});
