import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { agreementCriteria, parseRubric, selectExampleTasks, maxCriteria } from '../../../src/core/verify/rubric.js';

const singleCriterion = (description: string) => [{ name: 'rubric', weight: 1, description }];

describe('parseRubric', () => {
  test('accepts an object', () => {
    const criteria = [{ name: 'a', weight: 2, description: 'x' }];
    expect(parseRubric({ criteria })).toEqual(criteria);
  });

  test('parses a list', () => {
    const text = '\n- Accuracy (2): no false facts\n* tone (0.5) : kind\n  and brief\n\n- a (b) (1):\r\n\tmore: (3)\n';
    expect(parseRubric(text)).toEqual([
      { name: 'Accuracy', weight: 2, description: 'no false facts' },
      { name: 'tone', weight: 0.5, description: 'kind\nand brief' },
      { name: 'a (b)', weight: 1, description: 'more: (3)' },
    ]);
    expect(parseRubric('- a (1): x')).toEqual([{ name: 'a', weight: 1, description: 'x' }]);
  });

  test.each([
    ['Be kind.'],
    ['Judge by:\n- a (1): x'],
    ['- a (1): x\nand no more'],
    ['- a (1): x\n- b: y'],
    ['- a: x'],
    ['- a (0): x'],
    ['- a (-1): x'],
    ['- a (40%): x'],
    ['- a (1e3): x'],
    ['- a (1000001): x'],
    [`- a (${'9'.repeat(400)}): x`],
    ['- a (1): x\n- A (2): y'],
    ['  - a (1): x'],
    ['-a (1): x'],
    ['- (1): x'],
  ])('treats %j as one criterion', (text) => {
    expect(parseRubric(text)).toEqual(singleCriterion(text.trim()));
  });

  test('parses a list of at most 20 items', () => {
    const list = (count: number) => Array.from({ length: count }, (_, at) => `- c${at} (1): x`).join('\n');
    expect(parseRubric(list(maxCriteria))).toHaveLength(maxCriteria);
    expect(parseRubric(list(maxCriteria + 1))).toEqual(singleCriterion(list(maxCriteria + 1)));
  });

  test('returns criteria for any text, and parses a formatted list back', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseRubric(text).length).toBeGreaterThan(0);
      }),
    );
    const item = fc.record({
      name: fc.stringMatching(/^[a-z]{1,9}$/),
      weight: fc.integer({ min: 1, max: 1_000 }).map((hundredths) => hundredths / 100),
      description: fc.stringMatching(/^[A-Za-z():]{0,9}$/),
    });
    const criteria = fc.uniqueArray(item, { minLength: 1, maxLength: maxCriteria, selector: ({ name }) => name });
    fc.assert(
      fc.property(criteria, (list) => {
        const text = list.map(({ name, weight, description }) => `- ${name} (${weight}): ${description}`).join('\n');
        expect(parseRubric(text)).toEqual(list);
      }),
    );
  });

  test('takes linear time on hostile texts', () => {
    for (const hostile of ['- ', '- a(', '- a (1', '- a (1) ', ' ', '(', '- a'.padEnd(9)]) {
      expect(parseRubric(`- ${hostile.repeat(4_000)}`)).toHaveLength(1);
    }
  });
});

test('gold_examples has one criterion', () => {
  expect(agreementCriteria).toEqual([{ name: 'agreement', weight: 1, description: expect.any(String) as unknown }]);
});

test('selects the following tasks as examples, wrapping around, without the task itself', () => {
  expect(selectExampleTasks(2, [0, 1, 2, 3, 4, 5], 3)).toEqual([3, 4, 5]);
  expect(selectExampleTasks(4, [5, 0, 4, 2], 3)).toEqual([5, 0, 2]);
  expect(selectExampleTasks(9, [0, 1, 2, 3], 3)).toEqual([0, 1, 2]);
  expect(selectExampleTasks(0, [0], 3)).toEqual([]);
  expect(selectExampleTasks(1, [0, 1, 2], 1)).toEqual([2]);
});
