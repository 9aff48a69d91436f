import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fillMessages, inputsOf, rowPlaceholders, rowValues } from '../../../src/core/prompts/row-template.js';
import { maxProposalChars } from '../../../src/core/proposals/limits.js';
import { placeholderProblem, textsProblem } from '../../../src/core/proposals/placeholders.js';

const names = ['input', 'Question Text', 'user-question', '1st_question', 'naïve', 'a.b', '問い', 'x:y'];
const rowsOf = (...used: string[]) => ({
  placeholders: Object.fromEntries(used.map((name) => [name, name])),
  columns: [...names, 'expected', 'right "answer"'],
});

describe('a text in place of another on rows', () => {
  test.each(names)('keeps {{%s}}', (name) => {
    const parent = `Answer with a letter. {{${name}}}`;
    expect(placeholderProblem('Answer MAGIC.', parent, rowsOf(name))).toMatch(/^lacks the placeholder/);
    expect(placeholderProblem(`MAGIC {{ ${name} }}`, parent, rowsOf(name))).toBeNull();
  });

  test.each([...names, 'expected', 'right "answer"', 'question', 'gold'])('adds no {{%s}}', (name) => {
    expect(placeholderProblem(`MAGIC {{${name}}}`, 'Answer.', rowsOf())).toMatch(/^adds /);
  });

  test.each(['${{ secrets.X }}', '{{"label": "A"}}', '{{#if x}}', '{single}', '{{', '}} {{', '{% raw %}'])(
    'may have literal %s',
    (braces) => expect(placeholderProblem(`MAGIC ${braces}`, 'Answer.', rowsOf())).toBeNull(),
  );

  test('may keep or lose the literal braces of its parent', () => {
    expect(placeholderProblem('Use {{name}}.', 'Write {{name}}.', rowsOf())).toBeNull();
    expect(placeholderProblem('Use it.', 'Write {{name}}.', rowsOf())).toBeNull();
  });

  test('is filled as its parent is: no text that is accepted shows another column', () => {
    const piece = fc.constantFrom(...names, 'expected', '{{', '}}', ' ', '{', '}', 'word', '"', 'right "answer"');
    const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));
    const all = inputsOf(Object.fromEntries([...names, 'expected', 'right "answer"'].map((name) => [name, name])));
    fc.assert(
      fc.property(text, text, (parent, child) => {
        const used = rowPlaceholders([{ role: 'user', content: parent }], all);
        if (placeholderProblem(child, parent, rowsOf(...used)) !== null) return;
        expect(rowPlaceholders([{ role: 'user', content: child }], all).sort()).toEqual(used.sort());
      }),
    );
  });
});

test('a text of a container keeps its placeholders as written, and adds none', () => {
  const parent = 'Use {name} and {{ other }}.';
  expect(placeholderProblem('Use {name}.', parent, null)).toMatch(/lacks the placeholder \{\{ other \}\}/);
  expect(placeholderProblem(`${parent} {more}`, parent, null)).toMatch(/^adds \{more\}/);
  expect(placeholderProblem('Answer {{question}}', 'Answer.', null)).toMatch(/^adds/);
  expect(placeholderProblem('Answer {"a": 1} or {label}', 'Answer.', null)).toBeNull();
});

test.each([
  '{x}',
  '{naïve}',
  '{x.y}',
  '{x[0]}',
  '{x!r}',
  '{price:>10.2f}',
  '{ratio:%}',
  '{{ x | trim }}',
  "{{ x['y'] }}",
  '{{x[0].y}}',
  '{{ x | join(", ") }}',
  '{{x.y}}',
  '{{Question Text}}',
])('a text of a container keeps %s', (placeholder) => {
  const parent = `Use ${placeholder}.`;
  expect(placeholderProblem('Use it.', parent, null)).toBe(`lacks the placeholder ${placeholder} of its parent`);
  expect(placeholderProblem(`Now use ${placeholder}.`, parent, null)).toBeNull();
});

test.each(['{answer: string}', '{"a": 1}', '\\d{3}', '{a, b}', '{{#if x}}', '{% if x %}', '{}', '{ x }'])(
  'a text of a container may lose %s',
  (literal) => expect(placeholderProblem('Use it.', `Use ${literal}.`, null)).toBeNull(),
);

test('every text has the rules, and room to grow', () => {
  const [short, long] = ['x'.repeat(100), 'x'.repeat(33_600)];
  expect(maxProposalChars(short)).toBe(32_000);
  expect(maxProposalChars(long)).toBe(41_600);
  expect(maxProposalChars('x'.repeat(99_000))).toBe(100_000);
  const texts = { system: 'Answer {{expected}}', user: '{{input}}' };
  const found = textsProblem(texts, { system: 'Answer', user: '{{input}}' }, rowsOf('input'));
  expect(found?.component).toBe('system');
  expect(textsProblem({ system: `${long}y` }, { system: long }, rowsOf())).toBeNull();
  expect(textsProblem({ system: 'x'.repeat(41_601) }, { system: long }, rowsOf())?.component).toBe('system');
});

test('braces that are no input reach the model as they are', () => {
  const content = '${{ secrets.X }} {{"a": 1}} {{name}} {{ Question Text }} {{{input}}}';
  const values = rowValues(
    { input: '{{name}}', 'Question Text': 'q' },
    {
      ...rowsOf('input', 'Question Text'),
      expected: null,
    },
  );
  expect(fillMessages([{ role: 'user', content }], values, 1_000)).toEqual([
    { role: 'user', content: '${{ secrets.X }} {{"a": 1}} {{name}} q {{{name}}}' },
  ]);
});
