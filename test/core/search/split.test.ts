import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { comparableJson, wordsOfJson } from '../../../src/core/prompts/comparable-json.js';
import { groupRows, groupWarnings, namedWarnings } from '../../../src/core/prompts/row-groups.js';
import { splitSeeds } from '../../../src/core/search/split.js';

const counts = fc.integer({ min: 1, max: 400 });
const seeds = fc.maxSafeInteger();
const sizes = (count: number) => {
  const { train, evaluation, heldout } = splitSeeds(count, 0);
  return [train.length, evaluation.length, heldout.length];
};
const all = (count: number) => [...Array(count).keys()];

describe('splitSeeds', () => {
  test.each([
    [1, [1, 1, 0]],
    [9, [9, 9, 0]],
    [10, [6, 4, 0]],
    [29, [17, 12, 0]],
    [30, [12, 8, 10]],
    [100, [40, 27, 33]],
    [240, [96, 64, 80]],
    [400, [186, 124, 90]],
    [10_000, [8_000, 1_000, 1_000]],
  ])('splits %i seeds into %j', (count, expected) => {
    expect(sizes(count)).toEqual(expected);
  });

  test('uses fewer than 10 seeds for both parts', () => {
    for (let count = 1; count < 10; count++) {
      expect(splitSeeds(count, 7)).toEqual({ train: all(count), evaluation: all(count), heldout: [] });
    }
  });

  test('assigns each of 10 or more seeds to exactly one part, in ascending order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 400 }), seeds, (count, seed) => {
        const { train, evaluation, heldout } = splitSeeds(count, seed);
        expect([...train, ...evaluation, ...heldout].sort((a, b) => a - b)).toEqual(all(count));
        for (const part of [train, evaluation, heldout]) expect([...part].sort((a, b) => a - b)).toEqual(part);
      }),
    );
  });

  test('depends on the seed only', () => {
    fc.assert(
      fc.property(counts, seeds, (count, seed) => {
        expect(splitSeeds(count, seed)).toEqual(splitSeeds(count, seed));
      }),
    );
    expect(splitSeeds(100, 0)).not.toEqual(splitSeeds(100, 1));
    expect(splitSeeds(12, 0)).toEqual({ train: [0, 1, 2, 8, 9, 10, 11], evaluation: [3, 4, 5, 6, 7], heldout: [] });
  });

  test('selects seeds uniformly', () => {
    const often = new Array<number>(20).fill(0);
    for (let seed = 0; seed < 2_000; seed++) for (const task of splitSeeds(20, seed).evaluation) often[task]!++;
    // 8 of 20, 2,000 times: 800 each, with a standard deviation of about 22.
    expect(often.every((count) => count > 680 && count < 920)).toBe(true);
  });

  test('keeps the bounds; the remaining seeds train', () => {
    fc.assert(
      fc.property(counts, seeds, fc.integer({ min: 1, max: 50 }), (count, seed, most) => {
        const split = splitSeeds(count, seed, { train: most, evaluation: most, heldout: most });
        for (const part of Object.values(split)) expect(part.length).toBeLessThanOrEqual(most);
        expect(Math.min(split.train.length, split.evaluation.length)).toBeGreaterThan(0);
      }),
    );
    const { train, evaluation, heldout } = splitSeeds(100, 0, { train: 1_000, evaluation: 10, heldout: 5 });
    expect([train.length, evaluation.length, heldout.length]).toEqual([85, 10, 5]);
    const few = splitSeeds(9, 0, { train: 4, evaluation: 3, heldout: 1 });
    expect([few.train.length, few.evaluation.length]).toEqual([4, 3]);
    // The smaller part of the same order: evaluation tasks also train.
    expect(few.evaluation.every((task) => few.train.includes(task))).toBe(true);
  });

  test('keeps each group in one part, and every part has one', () => {
    const grouped = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 60 }).map((sizes) => {
      let from = 0;
      return sizes.map((size) => Array.from({ length: size }, () => from++));
    });
    fc.assert(
      fc.property(grouped, seeds, fc.integer({ min: 1, max: 30 }), (groups, seed, most) => {
        const count = groups.flat().length;
        const parts = splitSeeds(count, seed, { train: most, evaluation: most, heldout: most }, null, groups);
        const groupsIn = (part: number[]) =>
          new Set(part.map((index) => groups.findIndex((own) => own.includes(index))));
        const [train, evaluation, heldout] = [parts.train, parts.evaluation, parts.heldout].map(groupsIn);
        expect(Math.min(train!.size, evaluation!.size)).toBeGreaterThan(0);
        expect(heldout!.size > 0).toBe(groups.length >= 30);
        if (groups.length < 10) return;
        for (const group of groups.keys())
          expect([train, evaluation, heldout].filter((part) => part!.has(group)).length).toBeLessThan(2);
      }),
    );
  });

  test('of equal rows uses the first', () => {
    const row = fc.record({
      input: fc.constantFrom(...'abcdefghijklmnopqrst'),
      expected: fc.constantFrom('x', 'y'),
      note: fc.constantFrom('1', '2'),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 80 }), seeds, (rows, seed) => {
        const grouped = groupRows(rows.map((own) => ({ ...own, words: own.input, row: JSON.stringify(own) })));
        const { train, evaluation, heldout } = splitSeeds(rows.length, seed, undefined, null, grouped.groups);
        const used = [...new Set([...train, ...evaluation, ...heldout])];
        expect([...used, ...grouped.copies].sort((a, b) => a - b)).toEqual(all(rows.length));
        expect(new Set(used.map((at) => JSON.stringify(rows[at]))).size).toBe(used.length);
        const inputs = (part: number[]) => new Set(part.map((at) => rows[at]!.input));
        if (grouped.groups.length < 10) return;
        for (const input of inputs(train)) expect(inputs([...evaluation, ...heldout]).has(input)).toBe(false);
        for (const input of inputs(evaluation)) expect(inputs(heldout).has(input)).toBe(false);
        for (const group of grouped.contradictions) expect(new Set(group.map((at) => rows[at]!.expected)).size).toBe(2);
      }),
    );
  });

  test('leaves a group for each part, however large one is', () => {
    const groups = [all(1_000), ...all(29).map((at) => [1_000 + at])];
    for (let seed = 0; seed < 200; seed += 1) {
      const { train, evaluation, heldout } = splitSeeds(1_029, seed, undefined, null, groups);
      expect([train, evaluation, heldout].every((part) => part.length > 0)).toBe(true);
    }
  });

  test.each([0, -1, 1.5, Number.NaN])('throws for %p seeds', (count) => {
    expect(() => splitSeeds(count, 0)).toThrow(RangeError);
  });

  test('with categories, gives every part each category in its share', () => {
    const categories = all(60).map((index) => (index < 40 ? 'common' : index < 55 ? 'less common' : 'rare'));
    const shares = (part: readonly number[]) =>
      ['common', 'less common', 'rare'].map((name) => part.filter((index) => categories[index] === name).length);
    fc.assert(
      fc.property(seeds, (seed) => {
        const { train, evaluation, heldout } = splitSeeds(60, seed, undefined, categories);
        expect([...train, ...evaluation, ...heldout].sort((a, b) => a - b)).toEqual(all(60));
        for (const part of [train, evaluation, heldout]) {
          for (const [index, share] of [40 / 60, 15 / 60, 5 / 60].entries())
            expect(Math.abs(shares(part)[index]! - share * part.length)).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

test('with more categories than a part has seeds, each category has its share over many splits', () => {
  // 40 categories of 20 rows, and 40 of 10.
  const categories = all(1_200).map((index) => (index < 800 ? `large ${index % 40}` : `small ${index % 40}`));
  const bounds = { train: 100, evaluation: 20, heldout: 30 };
  let [large, small] = [0, 0];
  for (let seed = 0; seed < 200; seed += 1) {
    const { evaluation, heldout } = splitSeeds(1_200, seed, bounds, categories);
    const named = [...evaluation, ...heldout].map((index) => categories[index]!);
    expect(new Set(named).size).toBeGreaterThan(40);
    large += named.filter((name) => name.startsWith('large')).length;
    small += named.filter((name) => name.startsWith('small')).length;
  }
  expect(large / small).toBeGreaterThan(1.8);
  expect(large / small).toBeLessThan(2.2);
});

describe('rows with the same words', () => {
  const texts = ['My card', 'my card!', 'A PIN', 'my  card', 'Other', 'a pin.', '?!', '...'];
  const contents = texts.map((text, at) => {
    const json = JSON.stringify(text);
    return { row: String(at), input: comparableJson(json), words: wordsOfJson(json), expected: '' };
  });
  const grouped = groupRows(contents);

  test('are named, one of each input', () => {
    expect(grouped.similar).toEqual([
      [0, 1, 3],
      [2, 5],
    ]);
    expect(groupRows(contents.filter((_, at) => ![1, 3, 5].includes(at))).similar).toEqual([]);
  });

  test('are said to stand in several parts only where they do', () => {
    const warningsOf = (...parts: number[][]) => groupWarnings(grouped, 'row', parts);
    const [apart, ...rest] = warningsOf([0, 1, 2], [3, 4, 5]);
    expect(rest).toEqual([]);
    expect(apart).toMatch(/^2 inputs .*\(rows 0, 1, 3; 2, 5\)\. 2 of them stand in several parts/);
    expect(warningsOf([0, 1, 3, 4], [2, 5])[0]).not.toMatch('several parts');
  });
});

describe('namedWarnings', () => {
  const contents = ['a', 'b', 'a', 'c', 'a', 'b', 'Z', 'z', 'z!'].map((input, at) => {
    // Rows 0 and 4 are equal.
    // Rows 6 to 8 have the same words.
    return { input, words: input.toLowerCase().replace(/\W/, ''), row: at === 4 ? '0' : String(at), expected: '' };
  });
  const warnings = (train: number[], evaluation: number[], heldout: number[] = []) =>
    namedWarnings(
      contents,
      Object.entries({ train, evaluation, heldout }).map(([name, seeds]) => ({ name, seeds })),
    );

  test.each<[number[], number[], number[], RegExp[]]>([
    [[0, 1], [3], [], []],
    [[0, 1], [0, 1], [], []],
    [[0, 1], [0, 3], [0, 1], []],
    [[0, 1], [2, 3], [], [/^1 of the 2 evaluation rows .* train row .*row 2, as row 0\)/]],
    [[0], [1], [4, 5], [/^2 of the 2 heldout rows .* train row .*row 4, as row 0\)/]],
    [[3], [1], [5], [/^1 of the 1 heldout rows .* evaluation row .*row 5, as row 1\)/]],
    [[], [0, 4, 4, 3], [], [/^1 of the 3 evaluation rows equal/]],
    [[], [0, 2], [], []],
    [[99], [98], [], []],
    [[6], [7], [8], [/\(rows 6, 7, 8\).* several parts/]],
    [[6, 7], [6, 7], [0], []],
    [[6], [6, 7], [], []],
  ])('of %j, %j, %j', (train, evaluation, heldout, expected) => {
    const found = warnings(train, evaluation, heldout);
    expect(found).toHaveLength(expected.length);
    for (const [at, form] of expected.entries()) expect(found[at]).toMatch(form);
  });
});
