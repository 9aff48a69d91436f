import { describe, expect, test } from '@jest/globals';
import {
  chooseComponents,
  componentsToRewrite,
  lineageOf,
  mergeCandidates,
  removedCandidates,
  type LineageTexts,
  type Texts,
} from '../../../src/core/proposals/components.js';

const names = ['system', 'tone', 'user'];

describe('chooseComponents', () => {
  test.each<[string, string[], string[]]>([
    ['the named component', ['The tone is wrong.'], ['tone']],
    ['the name in any case', ['TONE: wrong'], ['tone']],
    ['those named at least half as often as the most named', ['tone', 'tone', 'user'], ['tone', 'user']],
    ['no components named less than half as often', ['tone', 'tone', 'tone', 'user'], ['tone']],
    ['counts of failures, not of mentions', ['user user user user', 'tone', 'tone', 'tone'], ['tone']],
    ['several in the order of the prompt', ['user', 'system'], ['system', 'user']],
  ])('by feedback: %s', (_, feedback, expected) => {
    expect(chooseComponents(names, feedback, 'feedback', 0)).toEqual(expected);
  });

  test.each<[string, string, boolean]>([
    ['tone', 'intonement, tones, tone_2 and atone', false],
    ['tone', 'the (tone)', true],
    ['tone', 'tone', true],
    ['тон', 'тонна', false],
    ['тон', 'плохой ТОН.', true],
    ['tone', 'toneé', false],
    ['a.b', 'axb', false],
    ['a.b', 'see a.b!', true],
    ['c++', 'in c++ it', true],
    ['system-2', 'the system-2 part', true],
  ])('the name %p is a word of %p: %p', (name, text, isNamed) => {
    // 'other' is always named once, so it is chosen alone unless the name is found too.
    const chosen = chooseComponents(['other', name], [`${text} other`], 'feedback', 0);
    expect(chosen).toEqual(isNamed ? ['other', name] : ['other']);
  });

  test('rotates if feedback names no component', () => {
    const turns = [0, 1, 2, 3, 7].map((turn) => chooseComponents(names, ['wrong', ''], 'feedback', turn));
    expect(turns).toEqual([['system'], ['tone'], ['user'], ['system'], ['tone']]);
    expect(chooseComponents(names, [], 'feedback', 1)).toEqual(['tone']);
  });

  test('round_robin rotates and all chooses all, for any feedback', () => {
    expect(chooseComponents(names, ['tone'], 'round_robin', 5)).toEqual(['user']);
    expect(chooseComponents(names, ['tone'], 'all', 5)).toEqual(names);
  });

  test('chooses the only component of a prompt', () => {
    for (const selection of ['feedback', 'round_robin', 'all'] as const) {
      expect(chooseComponents(['system'], ['user'], selection, 3)).toEqual(['system']);
    }
  });
});

describe('mergeCandidates', () => {
  const base: Texts = { system: 'One.\nTwo.\nThree.', tone: 'Be kind.' };
  const side = (candidate: number, texts: Partial<Record<string, string>>) => {
    return { candidate, texts: { ...base, ...texts } as Texts };
  };

  test('combines the changes of all candidates', () => {
    const merged = mergeCandidates(base, [
      side(1, { system: 'One.\nTwo.\nThree!' }),
      side(2, { system: 'First.\nTwo.\nThree.' }),
      side(3, { tone: 'Be brief.' }),
    ]);
    expect(merged).toEqual({ texts: { system: 'First.\nTwo.\nThree!', tone: 'Be brief.' }, parents: [1, 2, 3] });
  });

  test('omits a candidate that conflicts with earlier ones entirely', () => {
    const merged = mergeCandidates(base, [
      side(1, { system: 'One.\nDeux.\nThree.' }),
      side(2, { system: 'One.\nZwei.\nThree.', tone: 'Be loud.' }),
      side(3, { tone: 'Be brief.' }),
    ]);
    expect(merged).toEqual({ texts: { system: 'One.\nDeux.\nThree.', tone: 'Be brief.' }, parents: [1, 3] });
  });

  test('returns null if no two candidates merge', () => {
    expect(mergeCandidates(base, [])).toBeNull();
    expect(mergeCandidates(base, [side(1, { tone: 'Be loud.' })])).toBeNull();
    expect(mergeCandidates(base, [side(1, { tone: 'Be loud.' }), side(2, { tone: 'Be calm.' })])).toBeNull();
  });
});

test('componentsToRewrite chooses by the selection', () => {
  const components = { selection: 'round_robin' as const, turn: 4 };
  expect(componentsToRewrite(names, ['user'], { components })).toEqual(['tone']);
  expect(componentsToRewrite(names, ['user'], { components: { ...components, selection: 'feedback' } })).toEqual([
    'user',
  ]);
});

describe('removedCandidates', () => {
  const all = new Map<number, LineageTexts>(
    (
      [
        [0, [], { system: 'Help.', tone: 'Be kind.' }],
        [1, [0], { system: 'Help.\nRefunds: amber.', tone: 'Be kind.' }],
        [2, [0], { system: 'Help.', tone: 'Be kind.\nBe brief.' }],
        [3, [1, 2], { system: 'Help.\nRefunds: amber.', tone: 'Be kind.\nBe brief.' }],
        [4, [3], { system: 'Help.\nRefunds: amber.\nParcels: birch.', tone: 'Be kind.\nBe brief.' }],
      ] as const
    ).map(([candidate, parents, texts]) => [candidate, { candidate, parents, texts }]),
  );
  const removed = (parent: number, changes: Partial<Record<string, string>>) => {
    const texts = { ...all.get(parent)!.texts, ...changes } as Texts;
    return removedCandidates(lineageOf(all, parent), texts);
  };

  test('lineageOf lists each ancestor once, after its parents', () => {
    expect(lineageOf(all, 4).map(({ candidate }) => candidate)).toEqual([0, 1, 2, 3, 4]);
    expect(lineageOf(all, 2).map(({ candidate }) => candidate)).toEqual([0, 2]);
    expect(lineageOf(all, 9)).toEqual([]);
  });

  test.each<[string, Partial<Record<string, string>>, number[]]>([
    ['nothing is removed', { system: 'Help.\nRefunds: amber.\nParcels: birch.\nMore.' }, []],
    ['the candidate that introduced the sentence, through a merge', { system: 'Help.\nParcels: birch.' }, [1]],
    ['the parent itself', { system: 'Help.\nRefunds: amber.' }, [4]],
    ['candidates of each component', { system: 'Help.\nRefunds: amber.', tone: 'Be kind.' }, [2, 4]],
    ['all candidates, ascending and once', { system: 'New.', tone: '' }, [0, 1, 2, 4]],
    ['a moved sentence is not removed', { system: 'Parcels: birch.\nRefunds: amber.\nHelp.' }, []],
  ])('%s', (_, changes, expected) => {
    expect(removed(4, changes)).toEqual(expected);
  });
});
