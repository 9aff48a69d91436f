import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { draftPrompt, labelsOf, mostLabels } from '../../../src/core/prompts/drafted.js';
import { isFixed } from '../../../src/core/prompts/row-template.js';
import { bracedNames } from '../../../src/core/prompts/template.js';
import { completeLocally } from '../../../src/local-model/index.js';
import { newcomerRows, newcomerTeams } from '../../support/newcomer.js';

const column = fc.string({ minLength: 1, maxLength: 30 }).filter((name) => !/[{}]/.test(name) && name.trim() !== '');
const label = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/[{}\r\n]/.test(text));

const labelsIn = (values: readonly string[]) => {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return labelsOf(counts);
};

test('a draft shows the input once, each label, and never the right answers', () => {
  fc.assert(
    fc.property(column, column, fc.uniqueArray(label, { maxLength: mostLabels }), (input, expected, labels) => {
      fc.pre(input !== expected);
      const messages = draftPrompt({ input, shown: [], expected, labels });
      const names = messages.flatMap(({ content }) => bracedNames(content));
      expect(names).toEqual([names[0] === 'input' ? 'input' : input.trim()]);
      for (const each of labels) expect(messages[0]!.content).toContain(each);
    }),
  );
});

test('a draft for answers behind a mark asks for steps, and for the mark', () => {
  const [task] = draftPrompt({ input: 'question', shown: [], expected: 'answer', labels: [], isMarked: true });
  expect(task!.content).toContain('step by step');
  expect(task!.content).toContain('####');
});

test('labels are few, short and repeated values, the commonest first', () => {
  expect(labelsIn(['a', 'b', 'b', ' a', 'b', ''])).toEqual([
    { label: 'b', count: 3 },
    { label: 'a', count: 2 },
  ]);
  // One label, free text, long values, too many, and measures are none.
  const many = Array.from({ length: mostLabels + 1 }, (_, n) => `l${n}`);
  for (const values of [
    ['a', 'a'],
    ['a', 'b', 'c'],
    ['x'.repeat(61), 'b', 'b', 'b'],
    [...many, ...many],
    ['0.1', '0.2', '0.1', '0.2'],
    ['3', '4', '5'].flatMap((digit) => Array.from({ length: 30 }, (_, n) => `${digit}${n % 10}`)),
  ])
    expect(labelsIn(values)).toEqual([]);
});

test.each([
  [['passage', 'question'], 'the passage and question', '{{passage}}\n\n{{question}}'],
  [['a_1', 'b', 'c', 'd'], 'one a line (a 1, b, c, d)', '{{a_1}}\n{{b}}\n{{c}}\n{{d}}'],
])('a draft shows %s in a message of placeholders, which no search rewrites', (shown, words, message) => {
  const [task, asked] = draftPrompt({ input: shown[1]!, shown, expected: 'answer', labels: [] });
  expect(task!.content).toContain(words);
  expect(asked!.content).toBe(message);
  expect(isFixed(asked!.content, (name) => shown.includes(name))).toBe(true);
});

test('the local model answers with the labels of a draft, and is right more often than a guess', () => {
  const rows = newcomerRows();
  const labels = labelsIn(rows.map(({ team }) => team)).map((each) => each.label);
  expect(labels).toEqual(newcomerTeams);
  const [system] = draftPrompt({ input: 'message', shown: [], expected: 'team', labels });
  const answers = rows.map(({ message }) => {
    const completion = completeLocally({ messages: [system, { role: 'user', content: message }] });
    return completion.choices[0].message.content;
  });
  for (const answer of answers) expect(newcomerTeams).toContain(answer);
  const right = rows.filter(({ team }, n) => team === answers[n]).length;
  expect(right / rows.length).toBeGreaterThan(1 / newcomerTeams.length);
});
