import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { agreement, criteriaOf, exampleTasks, maxCriteria } from '../../../src/core/verify/rubric.js';

const one = (description: string) => [{ name: 'rubric', weight: 1, description }];

describe('the criteria of a rubric', () => {
  test('of an object', () => {
    const criteria = [{ name: 'a', weight: 2, description: 'x' }];
    expect(criteriaOf({ criteria })).toEqual(criteria);
  });

  test('of a text that is a list', () => {
    const text = '\n- Accuracy (2): no false facts\n* tone (0.5) : kind\n  and brief\n\n- a (b) (1):\r\n\tmore: (3)\n';
    expect(criteriaOf(text)).toEqual([
      { name: 'Accuracy', weight: 2, description: 'no false facts' },
      { name: 'tone', weight: 0.5, description: 'kind\nand brief' },
      { name: 'a (b)', weight: 1, description: 'more: (3)' },
    ]);
    expect(criteriaOf('- a (1): x')).toEqual([{ name: 'a', weight: 1, description: 'x' }]);
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
  ])('%j is one criterion', (text) => {
    expect(criteriaOf(text)).toEqual(one(text.trim()));
  });

  test('a list has at most 20 items', () => {
    const list = (count: number) => Array.from({ length: count }, (_, at) => `- c${at} (1): x`).join('\n');
    expect(criteriaOf(list(maxCriteria))).toHaveLength(maxCriteria);
    expect(criteriaOf(list(maxCriteria + 1))).toEqual(one(list(maxCriteria + 1)));
  });

  test('every text gives criteria, and what is written as a list is read back', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(criteriaOf(text).length).toBeGreaterThan(0);
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
        expect(criteriaOf(text)).toEqual(list);
      }),
    );
  });

  test('none takes long', () => {
    for (const hostile of ['- ', '- a(', '- a (1', '- a (1) ', ' ', '(', '- a'.padEnd(9)]) {
      expect(criteriaOf(`- ${hostile.repeat(4_000)}`)).toHaveLength(1);
    }
  });
});

test('gold_examples is judged by one criterion', () => {
  expect(agreement).toEqual([{ name: 'agreement', weight: 1, description: expect.any(String) as unknown }]);
});

test('examples are the tasks that follow, in a circle, and never the task itself', () => {
  expect(exampleTasks(2, [0, 1, 2, 3, 4, 5])).toEqual([3, 4, 5]);
  expect(exampleTasks(4, [5, 0, 4, 2])).toEqual([5, 0, 2]);
  expect(exampleTasks(9, [0, 1, 2, 3])).toEqual([0, 1, 2]);
  expect(exampleTasks(0, [0])).toEqual([]);
  expect(exampleTasks(1, [0, 1, 2], 1)).toEqual([2]);
});
