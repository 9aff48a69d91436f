import { expect, test } from '@jest/globals';
import { guessColumns, shownColumns, showsOptions, type ColumnFacts } from '../../../src/core/prompts/columns.js';

/** A text, a cell of a table, a label, or the same value in each row, by its sign. */
function columnsOf(signs: string): ColumnFacts[] {
  return signs.split(' | ').map((sign) => {
    const [, name, kind] = /^(.+?)([*#=]?)$/.exec(sign)!;
    const labels = kind === '#' ? ['a', 'b'].map((label) => ({ label, count: 50 })) : [];
    const distinct = kind === '=' ? 1 : kind === '#' ? 2 : kind === '*' ? null : 100;
    return { name: name!, num_values: 100, num_distinct: distinct, mean_chars: kind === '*' ? 80 : 6, labels };
  });
}

// Of public files: names as there, `*` long texts, `#` labels, `=` one value.
test.each([
  ['text* | label#', 'text', 'label'],
  ['id | Question* | Answer', 'Question', 'Answer'],
  ['a | b', 'a', 'b'],
  ['text= | label=', 'text', 'label'],
  ['only', 'only', ''],
  ['created_at | id | text*', 'text', ''],
  ['id | created_at | retweeted= | screen_name | text*', 'text', 'screen_name'],
  ['column 1 | count | hate_speech | class# | tweet*', 'tweet', 'class'],
  ['id | candidate | song | sentiment# | theme# | line* | url*', 'line', 'sentiment'],
  [
    'RespondentID | How often do you see the correct label?* | Region#',
    'How often do you see the correct label?',
    'Region',
  ],
  ['question* | passage* | idx', 'question', ''],
  ['question* | options*', 'question', ''],
  ['legal-claim* | case* | correct_choice#', 'legal-claim', 'correct_choice'],
  ['id | customer_profile* | expected_discount | description', 'customer_profile', 'expected_discount'],
  ['CONTENT TYPE# | TITLE* | ISSN | ARCHIVE URL*', 'TITLE', 'CONTENT TYPE'],
  ['first_name | address* | type# | longitude | latitude', 'address', 'type'],
  ['ham# | Ok lar*', 'Ok lar', 'ham'],
  ['__expected | message*', 'message', '__expected'],
])('columns %s', (signs, input, expected) => {
  expect(guessColumns(columnsOf(signs))).toEqual({ input, expected });
});

test.each([
  ['passage* | question* | answer#', ['passage', 'question'], false],
  ['question* | options* | answer', ['question', 'options'], true],
  ['sentence1* | sentence2* | label#', ['sentence1', 'sentence2'], false],
  ['sepal_length | sepal_width | species#', ['sepal_length', 'sepal_width'], false],
  ['text* | note* | label#', [], false],
  // Another right answer, and what follows from it.
  ['question* | answer_option# | explanation* | answer', [], false],
  ['width | correct_width | label#', [], false],
])('a prompt shows of %s', (signs, shown, hasOptions) => {
  const columns = columnsOf(signs);
  expect(shownColumns(columns, guessColumns(columns))).toEqual(shown);
  expect(showsOptions(shown)).toBe(hasOptions);
});
