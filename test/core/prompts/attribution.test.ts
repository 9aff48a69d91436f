import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { attribute, removedSegments, type LineageText } from '../../../src/core/prompts/attribution.js';
import { splitSegments } from '../../../src/core/prompts/segments.js';
import { hostile, longTexts, prompts } from './texts.js';

const chain = (...texts: string[]): LineageText[] =>
  texts.map((text, candidate) => ({ candidate, text, parents: candidate === 0 ? [] : [candidate - 1] }));

const whose = (lineage: LineageText[]) => attribute(lineage).map(({ text, candidate }) => [text.trim(), candidate]);

describe('attribute', () => {
  test('attributes a kept sentence to the ancestor that introduced it, even if it moved', () => {
    expect(whose(chain('Root. Old.', 'Root.\nFirst.', 'Second.\nFirst.\n\nRoot.'))).toEqual([
      ['Second.', 2],
      ['First.', 1],
      ['Root.', 0],
    ]);
  });

  test('attributes a restored sentence to the candidate that restored it', () => {
    expect(whose(chain('A.\nB.', 'A.', 'A.\nB.'))).toEqual([
      ['A.', 0],
      ['B.', 2],
    ]);
  });

  test('attributes a merged sentence to the earlier parent', () => {
    const lineage = [
      { candidate: 0, text: 'Root.', parents: [] },
      { candidate: 3, text: 'Root.\nBoth.\nThree.', parents: [0] },
      { candidate: 5, text: 'Root.\nBoth.\nFive.', parents: [0] },
      { candidate: 9, text: 'Root.\nBoth.\nThree.\nFive.\nNine.', parents: [5, 3] },
    ];
    expect(whose(lineage)).toEqual([
      ['Root.', 0],
      ['Both.', 3],
      ['Three.', 3],
      ['Five.', 5],
      ['Nine.', 9],
    ]);
  });

  test('ignores white space; a repeated sentence is new', () => {
    expect(whose(chain('A.', '  A.  \nA.\n'))).toEqual([
      ['A.', 0],
      ['A.', 1],
    ]);
  });

  test('treats a missing parent as empty', () => {
    expect(whose([{ candidate: 7, text: 'A.', parents: [3] }])).toEqual([['A.', 7]]);
    expect(attribute([])).toEqual([]);
  });

  test('for any lineage: joins to the text, and each introducer has the sentence while its parent lacks it', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(prompts, hostile), { minLength: 1, maxLength: 6 }), (texts) => {
        const attributed = attribute(chain(...texts));
        expect(attributed.map(({ text }) => text).join('')).toBe(texts.at(-1));
        const count = (candidate: number, words: string) =>
          splitSegments(texts[candidate] ?? '').filter((segment) => segment.trim() === words).length;
        for (const { text, candidate } of attributed) {
          const words = text.trim();
          for (let from = candidate; from < texts.length; from++) expect(count(from, words)).toBeGreaterThan(0);
          expect(count(candidate, words)).toBeGreaterThan(count(candidate - 1, words));
        }
      }),
    );
  });
});

describe('removedSegments', () => {
  test('lists the sentences missing from the child', () => {
    const parent = attribute(chain('Root. Keep.', 'Root. Keep. First.'));
    expect(removedSegments(parent, 'Keep.\nNew.').map(({ text, candidate }) => [text.trim(), candidate])).toEqual([
      ['Root.', 0],
      ['First.', 1],
    ]);
    expect(removedSegments(parent, 'First.\nKeep.\nRoot.')).toEqual([]);
  });

  test('for any texts: removed and kept sentences make up the parent', () => {
    fc.assert(
      fc.property(prompts, prompts, (text, child) => {
        const parent = attribute(chain(text));
        const removed = removedSegments(parent, child);
        const kept = attribute(chain(text, child)).filter(({ candidate }) => candidate === 0);
        const words = (segments: { text: string }[]) => segments.map((segment) => segment.text.trim()).sort();
        expect(words([...removed, ...kept])).toEqual(words(parent));
      }),
    );
  });
});

test('handles the largest texts', () => {
  const texts = longTexts();
  for (const text of texts)
    expect(
      attribute(chain('Root.', text))
        .map((left) => left.text)
        .join(''),
    ).toBe(text);
  expect(
    attribute(chain(...texts, ...texts))
      .map(({ text }) => text)
      .join(''),
  ).toBe(texts.at(-1));
});
