import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { splitSegments } from '../../../src/core/prompts/segments.js';
import { withoutSentences } from '../../../src/core/proposals/shorten.js';

const root = { candidate: 0, parents: [], texts: { system: 'Answer with the label.', user: 'Message: {text}' } };
const child = (system: string, user = root.texts.user) => ({ candidate: 3, parents: [0], texts: { system, user } });

describe('withoutSentences', () => {
  test('removes the later or the earlier half of the added sentences, and keeps the others', () => {
    const lineage = [root, child('Be brief.\nAnswer with the label. Use capitals.\n\n- No quotes.')];
    expect(withoutSentences(lineage, 0)!.system).toBe('Be brief.\nAnswer with the label.');
    expect(withoutSentences(lineage, 1)!.system).toBe('Answer with the label. Use capitals.\n\n- No quotes.');
    expect(withoutSentences(lineage, 0)!.user).toBe(root.texts.user);
  });

  test('counts sentences of ancestors and of all components', () => {
    const between = {
      candidate: 1,
      parents: [0],
      texts: { ...root.texts, system: 'Answer with the label. Be brief.' },
    };
    const last = { ...child('Answer with the label. Be brief.', 'Message: {text}\nNo quotes.'), parents: [1] };
    const lineage = [root, between, last];
    expect(withoutSentences(lineage, 0)).toEqual({ ...last.texts, user: 'Message: {text}' });
    expect(withoutSentences(lineage, 1)).toEqual({ ...last.texts, system: 'Answer with the label.' });
  });

  test('ends a line where its last sentence leaves', () => {
    const list = 'Classify. Be brief.\n- spam\n- ham';
    const before = { ...root, texts: { ...root.texts, system: 'Classify.\n- spam\n- ham' } };
    expect(withoutSentences([before, child(list)], 0)!.system).toBe(before.texts.system);
  });

  test('has no half of one sentence beside it, and leaves no text empty', () => {
    const one = [root, child('Answer with the label. Be brief.')];
    expect(withoutSentences(one, 0)!.system).toBe(root.texts.system);
    expect(withoutSentences(one, 1)).toBeNull();
    expect(withoutSentences([root, child('Name the label.')], 0)).toBeNull();
    expect(withoutSentences([root], 0)).toBeNull();
  });

  test('adds no sentence, and both halves together are all that was added', () => {
    const sentence = fc.constantFrom('A.', 'Bb cc.', 'Dd?', '- e', '1. Ff.', 'Answer with the label.');
    const joined = fc.array(fc.tuple(sentence, fc.constantFrom(' ', '\n', '\n\n')), { maxLength: 9 });
    fc.assert(
      fc.property(joined, (parts) => {
        const system = ['Keep this.', ...parts.flat()].join(' ').trim();
        const long = splitSegments(system).map((text) => text.trim());
        const before = { ...root, texts: { ...root.texts, system: 'Keep this.' } };
        const halves = [0, 1].map((half) => withoutSentences([before, child(system)], half));
        for (const texts of halves) {
          if (texts === null) continue;
          const short = splitSegments(texts.system!).map((text) => text.trim());
          expect(short[0]).toBe('Keep this.');
          expect(short.length).toBeLessThan(long.length);
          expect(short.filter((text) => !long.includes(text))).toEqual([]);
        }
        const removed = halves.map((texts) => (texts ? long.length - splitSegments(texts.system!).length : 0));
        expect(removed[0]! + removed[1]!).toBe(long.length - 1);
      }),
    );
  });
});
