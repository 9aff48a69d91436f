import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { markedText } from '../../../../src/core/prompts/changes/marked.js';
import {
  changeLines,
  editLine,
  pullRequestText,
  togetherLines,
  type ShownAuthor,
} from '../../../../src/core/prompts/changes/report.js';
import { hostile, prompts } from '../texts.js';

const author: ShownAuthor = {
  candidate_id: 'cand_01_168',
  is_baseline: false,
  is_given: false,
  feedback: [{ seed: 171 }],
  feedback_total: 1,
  num_edits: 1,
  rows: { compared: 9, won: 3, lost: 0 },
};
const added = {
  kind: 'added',
  component: 'system',
  before: null,
  after: '- records_desk: app, old,\n  street',
} as const;
const changed = { kind: 'changed', component: 'system', before: 'Use a | b.', after: 'Use a | c.' } as const;

test('an edit is a line with who wrote it, from which row, and the rows won and lost', () => {
  expect(editLine(added, author)).toBe('+ `records_desk`: app, old, street — #168, from row 171; +3 rows, −0');
  expect(editLine(changed, { ...author, feedback: [{ seed: 1 }, { seed: 2 }], feedback_total: 7, rows: null })).toBe(
    '~ Use a | [-b-]{+c+}. — #168, from rows 1, 2 and 5 more',
  );
  expect(editLine(changed, null)).toBe('~ Use a | [-b-]{+c+}.');
});

test('what several edits won together is said once, beside all of them', () => {
  const several = { ...author, num_edits: 3 };
  expect(editLine(added, several)).toBe('+ `records_desk`: app, old, street — #168, one of its 3 edits');
  const edits = [added, changed].map((edit) => ({ ...edit, author_id: author.candidate_id }));
  expect(togetherLines({ edits, authors: [several] })).toEqual(['#168: 3 edits together, from row 171; +3 rows, −0']);
  expect(togetherLines({ edits, authors: [author] })).toEqual([]);
  expect(togetherLines({ edits: [], authors: [several] })).toEqual([]);
  const reported = edits.map((edit) => ({ edit, author: several, ablation: null }));
  const text = pullRequestText({ title: 'Prompt', edits: reported, verdict: null, commands: [] });
  expect(text.match(/\+3 rows/g)).toHaveLength(1);
});

test('a change in a long text shows its ends, and edits of several components name them', () => {
  const long = 'word '.repeat(4_000);
  const line = editLine({ ...changed, before: `${long}one ${long}`, after: `${long}two ${long}` }, null);
  expect(line).toMatch(/^~ … ?(word )+\[-one-\]\{\+two\+\}( word)+ ?…$/);
  expect(line.length).toBeLessThan(300);
  expect(editLine({ ...added, after: long }, null).length).toBeLessThan(1_100);
  const edits = [added, { ...changed, component: 'user' }];
  expect(changeLines({ edits, authors: [] }).map((each) => each.split(' ')[0])).toEqual(['system', 'user']);
  expect(changeLines({ edits: [changed], authors: [] })).toEqual(['~ Use a | [-b-]{+c+}.']);
});

test('a pull request has a row for each edit', () => {
  const edits = [added, changed].map((edit) => ({ edit, author, ablation: null }));
  const text = pullRequestText({ title: 'Prompt', edits, verdict: 'Better.', commands: ['ratchet diff ses_1'] });
  const table = text.split('\n').filter((line) => line.startsWith('|'));
  expect(table.map((line) => line.replaceAll('\\|', '').split('|').length)).toEqual([6, 6, 6, 6]);
  expect(text).toContain('ratchet diff ses_1');
});

test('a marked text has all of the later one, and what left the earlier one', () => {
  const texts = fc.oneof(prompts, hostile);
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const marked = markedText(before, after);
      const kept = marked.filter(({ kind }) => kind !== 'removed');
      expect(kept.map(({ space, text }) => space + text).join('')).toBe(after);
      if (before === after) expect(marked.filter(({ kind }) => kind !== 'same')).toEqual([]);
    }),
  );
  const kinds = markedText('A one. Name the city. C three.', 'C three. A one.').map(({ kind, text }) => [kind, text]);
  expect(kinds).toContainEqual(['removed', 'Name the city.']);
});
