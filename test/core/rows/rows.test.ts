import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { clustersOf, clusterText } from '../../../src/core/rows/clusters.js';
import { collectRows, type RowRun } from '../../../src/core/rows/collect.js';
import { passes, type FilteredRow, type RowFilter } from '../../../src/core/rows/filter.js';
import { groupOf, type RowGroup, type RowRuns } from '../../../src/core/rows/groups.js';
import { answerReader, labelCells, labelTable, mostLabels } from '../../../src/core/rows/label-table.js';
import { pureRuns } from '../../support/runs.js';

const options = { numRuns: pureRuns(300) };
const none: RowRuns = { rewards: [], failed: 0 };
const failed: RowRuns = { rewards: [], failed: 1 };
const side = (...rewards: number[]): RowRuns => ({ rewards, failed: 0 });

const anySide = fc.record({
  rewards: fc.array(fc.constantFrom(0, 0.2, 0.5, 1), { maxLength: 4 }),
  failed: fc.nat(2),
});

describe('groupOf', () => {
  test.each<[RowRuns | null, RowRuns, RowGroup]>([
    [side(0), side(1), 'fixed'],
    [side(0), side(0.49), 'failing'],
    [side(0.5), side(0), 'broken'],
    [side(1), side(0.5), 'right'],
    [side(1), side(1, 0), 'flaky'],
    [side(0, 1), side(1), 'flaky'],
    [side(1), failed, 'failed'],
    [failed, side(1), 'right'],
    [failed, side(0), 'failing'],
    [side(0), none, 'untried'],
    [none, side(0), 'failing'],
    [null, side(0), 'failing'],
    [null, side(1), 'right'],
  ])('%j and %j are %s', (baseline, candidate, group) => {
    expect(groupOf(baseline, candidate)).toBe(group);
  });

  test('follows from each side as a set: no order and no repeat of equal rewards changes it', () => {
    fc.assert(
      fc.property(anySide, anySide, (a, b) => {
        const twice = ({ rewards, failed }: RowRuns) => ({ rewards: [...rewards, ...rewards].reverse(), failed });
        expect(groupOf(twice(a), twice(b))).toBe(groupOf(a, b));
      }),
      options,
    );
  });

  test('exchanges fixed and broken with the sides, and compares nothing with itself', () => {
    fc.assert(
      fc.property(anySide, anySide, (a, b) => {
        const there = groupOf(a, b);
        const back: Partial<Record<RowGroup, RowGroup>> = { fixed: 'broken', broken: 'fixed' };
        if (back[there]) expect(groupOf(b, a)).toBe(back[there]);
        expect(['fixed', 'broken']).not.toContain(groupOf(a, a));
      }),
      options,
    );
  });
});

test('collectRows has each row of either side once, by number, with all its rollouts', () => {
  const anyRuns = fc.array(fc.record({ seed: fc.integer({ min: -3, max: 5 }), reward: fc.constantFrom(null, 0, 1) }), {
    maxLength: 20,
  });
  const named = (runs: readonly Omit<RowRun, 'rolloutId'>[], side: string): RowRun[] =>
    runs.map((run, at) => ({ ...run, rolloutId: `${side}${at}` }));
  const shownOf = (runs: readonly RowRun[], seed: number) => {
    const ofRow = runs.filter((run) => run.seed === seed);
    return (ofRow.findLast(({ reward }) => reward !== null) ?? ofRow.at(-1))?.rolloutId;
  };
  fc.assert(
    fc.property(anyRuns, anyRuns, (a, b) => {
      const runs = { baseline: named(a, 'a'), candidate: named(b, 'b') };
      const rows = collectRows(runs, { baselineId: 'a', candidateId: 'b' });
      const seeds = [...new Set([...a, ...b].map(({ seed }) => seed))].sort((one, two) => one - two);
      expect(rows.map(({ seed }) => seed)).toEqual(seeds);
      for (const { seed, baseline, candidate } of rows) {
        expect(baseline?.shown).toBe(shownOf(runs.baseline, seed));
        expect(candidate?.shown).toBe(shownOf(runs.candidate, seed));
      }
      const counted = rows.flatMap(({ baseline, candidate }) => [baseline?.rollouts ?? 0, candidate?.rollouts ?? 0]);
      expect(counted.reduce((sum, count) => sum + count, 0)).toBe(a.length + b.length);
    }),
    options,
  );
  const candidate: RowRun[] = [1, null].map((reward, at) => ({ rolloutId: `r${at}`, seed: 1, reward }));
  const [row] = collectRows({ baseline: [], candidate }, { baselineId: null, candidateId: null });
  expect(row!.candidate).toEqual({ candidateId: null, reward: 1, rollouts: 2, shown: 'r0' });
});

describe('the label table', () => {
  const rows = [
    ['b', 'a'],
    ['a', ' "A". '],
    ['a', 'c'],
    ['a', 'c'],
    ['b', 'who knows'],
    ['b', null],
  ].map(([expected, answer]) => ({ expected: expected!, answer: answer! }));

  test('has expected values, frequent other answers, and a place for the rest', () => {
    const table = labelTable(rows)!;
    expect(table).toEqual({ labels: ['a', 'b'], answers: ['a', 'b', 'c'] });
    expect(labelCells(table, rows)).toEqual([
      { expected: 'a', answered: 'a', count: 1 },
      { expected: 'a', answered: 'c', count: 2 },
      { expected: 'b', answered: 'a', count: 1 },
      { expected: 'b', answered: null, count: 1 },
    ]);
  });

  test('is none without labels, of distinct values, of long ones, and of more than 30', () => {
    const table = (expected: (string | null)[]) =>
      labelTable(expected.map((each) => ({ expected: each, answer: 'x' })));
    expect(table([null, null])).toBeNull();
    expect(table(['1', '2', '3'])).toBeNull();
    expect(table(Array(4).fill('x'.repeat(101)) as string[])).toBeNull();
    const many = Array.from({ length: mostLabels + 1 }, (_, n) => `label ${n}`);
    expect(table([...many, ...many])).toBeNull();
    expect(table([...many.slice(1), ...many.slice(1)])!.answers).toHaveLength(mostLabels);
  });

  test('counts every answered row once, in any order of the rows', () => {
    const anyRow = fc.record({
      expected: fc.constantFrom('a', 'b', 'c'),
      answer: fc.constantFrom('a', 'B.', ' c', 'other', 'lone', '', null),
    });
    fc.assert(
      fc.property(fc.array(anyRow, { minLength: 6, maxLength: 40 }), (all) => {
        const table = labelTable(all)!;
        const cells = labelCells(table, all);
        const answered = all.filter(({ answer }) => answer !== null);
        expect(cells.reduce((sum, { count }) => sum + count, 0)).toBe(answered.length);
        expect(labelTable([...all].reverse())).toEqual(table);
        const read = answerReader(table);
        for (const column of table.answers) expect(read(column)).toBe(column);
      }),
      options,
    );
  });
});

test('clusters leave out quoted texts and numbers, the most frequent first', () => {
  const texts = ['Wrong: "x" in step 3.\nmore', 'Wrong: "y z" in step 12', 'Late.'].map(clusterText);
  expect(texts).toEqual(['Wrong: "…" in step ….', 'Wrong: "…" in step …', 'Late.']);
  expect(clustersOf([texts[2]!, texts[0]!, texts[0]!])).toEqual([
    { feedback: 'Wrong: "…" in step ….', count: 2 },
    { feedback: 'Late.', count: 1 },
  ]);
});

describe('passes', () => {
  const groups = ['failing', 'right', 'fixed'] as const;
  const anyRow: fc.Arbitrary<FilteredRow> = fc.record({
    group: fc.constantFrom(...groups),
    seen: fc.boolean(),
    verdicts: fc.subarray(['right', 'wrong', 'bad_expected'] as const, { maxLength: 2 }),
    texts: fc.record({
      expected: fc.constantFrom('a', 'b'),
      answer: fc.constantFrom('a', null),
      column: fc.constantFrom('a', null),
      cluster: fc.constantFrom('x', null),
    }),
    hasPart: fc.boolean(),
  });
  const anyFilter: fc.Arbitrary<RowFilter> = fc.record(
    {
      seen: fc.boolean(),
      expected: fc.constantFrom('a', 'b'),
      answered: fc.constant('a'),
      otherAnswers: fc.boolean(),
      feedback: fc.constant('x'),
      part: fc.constant('p'),
    },
    { requiredKeys: [] },
  );

  test('the groups of a filter share its rows, and its facet leaves out one part', () => {
    fc.assert(
      fc.property(fc.array(anyRow), anyFilter, (rows, filter) => {
        const count = (more: RowFilter, but?: 'group') => rows.filter((row) => passes(row, more, but)).length;
        const shares = groups.map((group) => count({ ...filter, group }));
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(count(filter));
        expect(count({ ...filter, group: 'failing' }, 'group')).toBe(count(filter));
      }),
      options,
    );
  });
});
