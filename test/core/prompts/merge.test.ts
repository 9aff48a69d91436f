import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mergeTexts } from '../../../src/core/prompts/merge.js';
import { splitSegments } from '../../../src/core/prompts/segments.js';
import { hostile, longTexts, prompts, sentences } from './texts.js';

/** A text's sentences in order, without white space. */
const words = (text: string) =>
  splitSegments(text)
    .map((segment) => segment.trim())
    .filter((segment) => segment !== '');
const merged = (base: string, ours: string, theirs: string) => {
  const result = mergeTexts(base, ours, theirs);
  return result.ok ? result.text : result.conflicts;
};

/** Edits of a base text: sentences inserted, removed and changed. */
const edited = (base: string, name: string) =>
  fc.array(fc.tuple(fc.nat(), fc.constantFrom('in', 'out', 'change'), sentences), { maxLength: 4 }).map((edits) => {
    const lines = base.split('\n');
    for (const [where, what, text] of edits) {
      const index = where % (lines.length + 1);
      lines.splice(index, what === 'in' ? 0 : 1, ...(what === 'out' ? [] : [`${name} ${text}`]));
    }
    return lines.join('\n');
  });
const bases = fc
  .uniqueArray(fc.nat({ max: 40 }), { maxLength: 10 })
  .map((ns) => ns.map((n) => `Rule ${n}.`).join('\n'));
const threes = bases.chain((base) => fc.tuple(fc.constant(base), edited(base, 'Ours'), edited(base, 'Theirs')));

describe('mergeTexts', () => {
  test.each([
    ['edits in different places', 'A.\nB.\nC.', 'A1.\nB.\nC.', 'A.\nB.\nC1.', 'A1.\nB.\nC1.'],
    ['edits side by side', 'One. Two.', 'One 1. Two.', 'One. Two 1.', 'One 1. Two 1.'],
    ['both at the end', 'A.', 'A.\nB.', 'A.\nC.', 'A.\nB.\nC.'],
    ['both at the beginning', 'A.', 'B.\nA.', 'C.\nA.', 'B.\nC.\nA.'],
    ['both in the middle, with a common sentence', 'A.\nZ.', 'A.\nB.\nC.\nZ.', 'A.\nC.\nD.\nZ.', 'A.\nB.\nC.\nD.\nZ.'],
    ['from nothing', '', 'A.', 'B.', 'A.\nB.'],
    ['the same edit', 'A.\nB.', 'A.\nB1.', 'A.\nB1.', 'A.\nB1.'],
    ['one side removes, the other adds', 'A.\nB.\nC.', 'A.\nC.', 'A.\nB.\nC.\nD.', 'A.\nC.\nD.'],
    ['both remove, one side more', 'A.\nB.\nC.\nD.', 'A.\nD.', 'A.\nB.\nD.', 'A.\nD.'],
    ['different spacing', 'One. Two.', 'One.\nTwo.', 'One.\n\nTwo.', 'One.\n\nTwo.'],
    ['changed in two ways', 'A.\nB.\nC.', 'A.\nB1.\nC.', 'A.\nB2.\nC.', 1],
    ['removed by one side, changed by the other', 'A.\nB.\nC.', 'A.\nC.', 'A.\nB2.\nC.', 1],
    ['two conflicts', 'A.\nB.\nC.', 'A1.\nB.\nC1.', 'A2.\nB.\nC2.', 2],
  ])('%s', (_, base, ours, theirs, expected) => {
    expect(merged(base, ours, theirs)).toBe(expected);
  });

  test('applies the change of one side, or an identical change of both', () => {
    fc.assert(
      fc.property(hostile, hostile, (base, side) => {
        expect(merged(base, side, base)).toBe(side);
        expect(merged(base, base, side)).toBe(side);
        expect(merged(base, side, side)).toBe(side);
      }),
    );
  });

  test('contains every added sentence and no removed or unknown one', () => {
    fc.assert(
      fc.property(threes, ([base, ours, theirs]) => {
        const result = mergeTexts(base, ours, theirs);
        fc.pre(result.ok);
        const [old, mine, yours, all] = [base, ours, theirs, result.text].map(words) as [
          string[],
          string[],
          string[],
          string[],
        ];
        for (const added of [...mine, ...yours]) if (!old.includes(added)) expect(all).toContain(added);
        for (const left of all) expect([...mine, ...yours]).toContain(left);
        for (const word of old) expect(all.includes(word)).toBe(mine.includes(word) && yours.includes(word));
        expect(new Set(all.filter((left) => old.includes(left))).size).toBe(
          all.filter((left) => old.includes(left)).length,
        );
      }),
    );
  });

  test('is symmetric except for the order of insertions', () => {
    fc.assert(
      fc.property(fc.oneof(threes, fc.tuple(prompts, prompts, prompts)), ([base, ours, theirs]) => {
        const [left, right] = [mergeTexts(base, ours, theirs), mergeTexts(base, theirs, ours)];
        if (!left.ok || !right.ok) return expect(left).toEqual(right);
        expect(words(left.text).sort()).toEqual(words(right.text).sort());
      }),
    );
  });

  test('never conflicts for edits of different sentences', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('none', 'ours', 'theirs'), { maxLength: 20 }), (sides) => {
        const side = (name: string) => sides.map((left, i) => (left === name ? `New ${i}.` : `Rule ${i}.`)).join('\n');
        const both = sides.map((left, i) => (left === 'none' ? `Rule ${i}.` : `New ${i}.`)).join('\n');
        expect(merged(side(''), side('ours'), side('theirs'))).toBe(both);
      }),
    );
  });

  test('merges any texts or reports at least one conflict', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (base, ours, theirs) => {
        const result = mergeTexts(base, ours, theirs);
        if (!result.ok) expect(result.conflicts).toBeGreaterThan(0);
      }),
    );
    const texts = longTexts();
    for (const [i, base] of texts.entries()) {
      for (const ours of ['', texts[(i + 1) % texts.length]!]) mergeTexts(base, ours, texts[(i + 2) % texts.length]!);
    }
    const huge = 'A.\n'.repeat(300_000);
    expect(mergeTexts(huge, `${huge}B.`, huge)).toEqual({ ok: true, text: `${huge}B.` });
  });
});
