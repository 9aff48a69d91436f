import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  applyChanges,
  partsOf,
  promptChanges,
  withoutSentence,
  type Edit,
} from '../../../../src/core/prompts/changes/changes.js';
import { commonShare, wordPieces } from '../../../../src/core/prompts/changes/words.js';
import { hostile, longTexts, prompts } from '../texts.js';

const system = (text: string) => new Map([['system', text]]);
const editsOf = (before: string, after: string) => promptChanges(system(before), system(after)).edits;
const kinds = (edits: Edit[]) => edits.map(({ kind, before, after }) => [kind, before, after]);

const texts = fc.oneof(prompts, hostile);
const components = fc.uniqueArray(fc.tuple(fc.constantFrom('system', 'user', 'constructor', '_demos'), texts), {
  selector: ([name]) => name,
  maxLength: 4,
});

describe('the changes of a prompt', () => {
  test('make the later prompt of the earlier one', () => {
    fc.assert(
      fc.property(components, components, (before, after) => {
        const [old, now] = [new Map(before), new Map(after)];
        expect([...applyChanges(old, promptChanges(old, now))]).toEqual(after);
      }),
    );
  });

  test('of equal prompts are none', () => {
    fc.assert(
      fc.property(components, (parts) => {
        const { edits, components: named, spacing } = promptChanges(new Map(parts), new Map(parts));
        expect([edits, named, spacing.size]).toEqual([[], null, 0]);
      }),
    );
  });

  test('of the same lines in another order are moves only', () => {
    const shuffled = fc
      .array(prompts, { maxLength: 12 })
      .chain((lines) =>
        fc.tuple(fc.constant(lines), fc.shuffledSubarray(lines, { minLength: lines.length, maxLength: lines.length })),
      );
    fc.assert(
      fc.property(shuffled, ([lines, permuted]) => {
        const edits = editsOf(lines.join('\n'), permuted.join('\n'));
        expect(edits.filter(({ kind }) => kind !== 'moved')).toEqual([]);
      }),
    );
  });

  test('are in the order of the later prompt, each with the sentences that it names', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const edits = editsOf(before, after);
        const [old, now] = [partsOf(before).sentences, partsOf(after).sentences];
        for (const { kind, from, to, ...edit } of edits) {
          expect(edit.before).toBe(from === null ? null : old[from]);
          expect(edit.after).toBe(to === null ? null : now[to]);
          expect(kind === 'moved').toBe(edit.before !== null && edit.before === edit.after);
        }
        const places = edits.flatMap(({ to }) => to ?? []);
        expect(places).toEqual([...places].sort((one, other) => one - other));
      }),
    );
  });

  test('moves one line, and marks the words of a line with the same key', () => {
    const before =
      'Sort the message.\n- returns: a parcel goes back\n- records_desk: app, old\n- cards: a card\nBe brief.';
    const after =
      'Be brief.\nSort the message.\n- returns: a parcel goes back\n- cards: a card\n- records_desk: app, old, street\n- keys: a key';
    expect(kinds(editsOf(before, after))).toEqual([
      ['moved', 'Be brief.', 'Be brief.'],
      ['changed', '- records_desk: app, old', '- records_desk: app, old, street'],
      ['added', null, '- keys: a key'],
    ]);
    const pieces = wordPieces('- records_desk: app, old', '- records_desk: app, old, street');
    expect(pieces.map(({ kind, text }) => [kind, text])).toEqual([
      ['same', '- records_desk: app, old'],
      ['added', ', street'],
    ]);
  });

  test('a rewritten sentence is one change, an unrelated one two edits', () => {
    expect(kinds(editsOf('Start. Answer with the team only. End.', 'Start. Answer with one team only. End.'))).toEqual([
      ['changed', 'Answer with the team only.', 'Answer with one team only.'],
    ]);
    expect(kinds(editsOf('Start. Be rude. End.', 'Start. Name every city at length. End.'))).toEqual([
      ['removed', 'Be rude.', null],
      ['added', null, 'Name every city at length.'],
    ]);
  });

  test('of the largest prompts take bounded time', () => {
    for (const text of longTexts()) {
      const other = partsOf(text).sentences.reverse().slice(1).concat('New.').join('\n');
      const started = performance.now();
      expect(applyChanges(system(text), promptChanges(system(text), system(other))).get('system')).toBe(other);
      expect(performance.now() - started).toBeLessThan(5_000);
    }
  });
});

test('words join to both texts', () => {
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const pieces = wordPieces(before, after);
      const without = (left: string) =>
        pieces
          .filter(({ kind }) => kind !== left)
          .map(({ text }) => text)
          .join('');
      expect([without('added'), without('removed')]).toEqual([before, after]);
    }),
  );
});

test.each([
  ['A one. B two. C three.', 1, 'A one. C three.'],
  ['A one. B two.\nC three.', 1, 'A one.\nC three.'],
  ['A one.\n- b: two\n- c: three', 2, 'A one.\n- b: two'],
  ['\nA one.\nB two.\n', 0, '\nB two.\n'],
  ['A one.\n', 0, ''],
])('%j without sentence %d', (text, index, left) => {
  expect(withoutSentence(text, index, null)).toBe(left);
});

test('a text without a sentence has all others', () => {
  fc.assert(
    fc.property(prompts, fc.nat(), (text, pick) => {
      const { sentences } = partsOf(text);
      if (sentences.length === 0) return;
      const index = pick % sentences.length;
      expect(partsOf(withoutSentence(text, index, null)).sentences).toEqual(sentences.toSpliced(index, 1));
      expect(partsOf(withoutSentence(text, index, 'Say so.')).sentences).toEqual(sentences.with(index, 'Say so.'));
    }),
  );
});

test('scripts without spaces are compared letter by letter', () => {
  const [before, after] = ['質問に日本語で答えてください。AI要約', '質問に英語で答えてください。AI要約'];
  expect(commonShare(before, after)).toBeGreaterThan(0.8);
  expect(
    wordPieces(before, after)
      .filter(({ kind }) => kind !== 'same')
      .map(({ text }) => text),
  ).toEqual(['日本', '英']);
  expect(wordPieces('กินข้าว', 'กินปลา').some(({ kind }) => kind === 'same')).toBe(true);
  const { edits } = promptChanges(new Map([['system', before]]), new Map([['system', after]]));
  expect(edits.map(({ kind }) => kind)).toEqual(['changed']);
});
