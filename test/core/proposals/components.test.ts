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

describe('which components are rewritten', () => {
  test.each<[string, string[], string[]]>([
    ['the one that is named', ['The tone is wrong.'], ['tone']],
    ['in any case', ['TONE: wrong'], ['tone']],
    ['those named in half as many failures as the one named most', ['tone', 'tone', 'user'], ['tone', 'user']],
    ['not those named less often', ['tone', 'tone', 'tone', 'user'], ['tone']],
    ['counted by failures, not by mentions', ['user user user user', 'tone', 'tone', 'tone'], ['tone']],
    ['in the order of the prompt', ['user', 'system'], ['system', 'user']],
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
    // The other is named once in any case: alone, unless the name is found too.
    const chosen = chooseComponents(['other', name], [`${text} other`], 'feedback', 0);
    expect(chosen).toEqual(isNamed ? ['other', name] : ['other']);
  });

  test('where feedback names none: in turns', () => {
    const turns = [0, 1, 2, 3, 7].map((turn) => chooseComponents(names, ['wrong', ''], 'feedback', turn));
    expect(turns).toEqual([['system'], ['tone'], ['user'], ['system'], ['tone']]);
    expect(chooseComponents(names, [], 'feedback', 1)).toEqual(['tone']);
  });

  test('in turns, whatever is named; or all', () => {
    expect(chooseComponents(names, ['tone'], 'round_robin', 5)).toEqual(['user']);
    expect(chooseComponents(names, ['tone'], 'all', 5)).toEqual(names);
  });

  test('a prompt of one is that one', () => {
    for (const selection of ['feedback', 'round_robin', 'all'] as const) {
      expect(chooseComponents(['system'], ['user'], selection, 3)).toEqual(['system']);
    }
  });
});

describe('candidates combined', () => {
  const base: Texts = { system: 'One.\nTwo.\nThree.', tone: 'Be kind.' };
  const side = (candidate: number, texts: Partial<Record<string, string>>) => {
    return { candidate, texts: { ...base, ...texts } as Texts };
  };

  test('have what each of them changed', () => {
    const merged = mergeCandidates(base, [
      side(1, { system: 'One.\nTwo.\nThree!' }),
      side(2, { system: 'First.\nTwo.\nThree.' }),
      side(3, { tone: 'Be brief.' }),
    ]);
    expect(merged).toEqual({ texts: { system: 'First.\nTwo.\nThree!', tone: 'Be brief.' }, parents: [1, 2, 3] });
  });

  test('leave out whoever contradicts those before, as a whole', () => {
    const merged = mergeCandidates(base, [
      side(1, { system: 'One.\nDeux.\nThree.' }),
      side(2, { system: 'One.\nZwei.\nThree.', tone: 'Be loud.' }),
      side(3, { tone: 'Be brief.' }),
    ]);
    expect(merged).toEqual({ texts: { system: 'One.\nDeux.\nThree.', tone: 'Be brief.' }, parents: [1, 3] });
  });

  test('are null where no two go together', () => {
    expect(mergeCandidates(base, [])).toBeNull();
    expect(mergeCandidates(base, [side(1, { tone: 'Be loud.' })])).toBeNull();
    expect(mergeCandidates(base, [side(1, { tone: 'Be loud.' }), side(2, { tone: 'Be calm.' })])).toBeNull();
  });
});

test('componentsToRewrite takes the named component, else chooses by the selection', () => {
  const rewrite = { component: 2, examples: [], tip: null };
  expect(componentsToRewrite(names, ['tone'], { rewrite })).toEqual(['user']);
  const components = { selection: 'round_robin' as const, turn: 4 };
  expect(componentsToRewrite(names, ['user'], { components })).toEqual(['tone']);
  expect(componentsToRewrite(names, ['user'], { components: { ...components, selection: 'feedback' } })).toEqual([
    'user',
  ]);
});

describe('whose words a child lacks', () => {
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

  test('a lineage holds each ancestor once, after its parents', () => {
    expect(lineageOf(all, 4).map(({ candidate }) => candidate)).toEqual([0, 1, 2, 3, 4]);
    expect(lineageOf(all, 2).map(({ candidate }) => candidate)).toEqual([0, 2]);
    expect(lineageOf(all, 9)).toEqual([]);
  });

  test.each<[string, Partial<Record<string, string>>, number[]]>([
    ['nothing is lacking', { system: 'Help.\nRefunds: amber.\nParcels: birch.\nMore.' }, []],
    ['who brought the sentence in, through a merge', { system: 'Help.\nParcels: birch.' }, [1]],
    ['the parent itself', { system: 'Help.\nRefunds: amber.' }, [4]],
    ['of each component', { system: 'Help.\nRefunds: amber.', tone: 'Be kind.' }, [2, 4]],
    ['ascending, each once', { system: 'New.', tone: '' }, [0, 1, 2, 4]],
    ['a sentence that moved is there', { system: 'Parcels: birch.\nRefunds: amber.\nHelp.' }, []],
  ])('%s', (_, changes, expected) => {
    expect(removed(4, changes)).toEqual(expected);
  });
});
