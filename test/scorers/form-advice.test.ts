import { expect, test } from '@jest/globals';
import { formAdvice } from '../../src/scorers/form-advice.js';

test.each<[string, string | null, string, string, string | null]>([
  ['contains reads a label in a sentence', 'exact', 'card_control', 'It is card_control.', 'contains'],
  ['contains does not read another spelling', 'exact', 'card_control', 'Card Control', null],
  ['numeric reads a number in a sentence', 'exact', '18', 'So it is 18.', 'numeric'],
  ['numeric reads the last number', 'numeric', '18', '18 in 3 days', 'last number'],
  ['no scorer is named for a container', null, 'card_control', 'It is card_control.', null],
])('%s', (_, type, expected, answered, named) => {
  const advice = formAdvice(type, [{ expected: [expected], answered }]);
  const all = ['contains', 'numeric', 'last number'];
  for (const name of named === null ? all : []) expect(advice).not.toContain(name);
  expect(advice).toContain(named ?? 'Ask for the answer alone');
});
