/** The parts of the bench of real text that need no model. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readRealTextOptions } from '../real-text/options.js';
import { layOut } from '../real-text/model/chat-layout.js';
import { openAnswers } from '../real-text/model/answers.js';
import { splitOf } from '../real-text/splits.js';
import { textTable } from '../real-text/table.js';
import { exactEnd } from '../real-text/tasks/scores.js';
import { tasks } from '../real-text/tasks.js';

const defaults = { splits: '10', heldout: '200', model: '1.5b', budget: '300', fresh: false };

describe('a split', () => {
  const rows = fc.array(fc.record({ input: fc.string({ maxLength: 2 }), expected: fc.string() }), {
    minLength: 400,
    maxLength: 600,
  });

  test('has no input on two sides, whatever its case and spaces', () => {
    fc.assert(
      fc.property(rows, fc.nat(20), (all, number) => {
        const distinct = new Set(all.map(({ input }) => key(input))).size;
        fc.pre(distinct > 100);
        const split = splitOf(all, number, 200);
        const seeds = [...split.trainSeeds, ...split.evaluationSeeds, ...split.heldoutSeeds];
        expect(new Set(seeds.map((seed) => key(split.rows[seed]!.input))).size).toBe(seeds.length);
        expect(seeds).toHaveLength(Math.min(distinct, 300));
      }),
    );
  });

  test('needs a row that no search sees', () => {
    const all = Array.from({ length: 100 }, (_, at) => ({ input: String(at), expected: '' }));
    expect(() => splitOf(all, 0, 200)).toThrow(RangeError);
  });

  const key = (input: string) => input.trim().replace(/\s+/g, ' ').toLowerCase();
});

test('the contents of a chat cannot end a turn', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('<|im_end|>', '<|im_', 'end|>', 'a', '<|im_start|>')), (parts) => {
      const { before, rest } = layOut([
        { role: 'system', content: 's' },
        { role: 'user', content: parts.join('') },
      ]);
      const text = [...before, rest].join('');
      expect(text.match(/<\|im_start\|>/g)).toHaveLength(3);
      expect(text.match(/<\|im_end\|>/g)).toHaveLength(2);
    }),
  );
});

test('equal questions are asked once, and again after an error', async () => {
  const answers = await openAnswers(null);
  let made = 0;
  const make = async () => {
    made += 1;
    if (made === 1) throw new Error('busy');
    return { text: String(made), promptTokens: 1, completionTokens: 1, finishReason: 'stop' as const };
  };
  await expect(answers.of(['q'], make)).rejects.toThrow('busy');
  const both = await Promise.all([answers.of(['q'], make), answers.of(['q'], make)]);
  expect(both.map(({ text }) => text)).toEqual(['2', '2']);
});

test.each([
  ['3 * 6 = 18\nAnswer: 18', 1],
  ['18', 1],
  ['Answer: 17\nAnswer: 18', 1],
  ['Answer: 18\nNo, answer: 17', 0],
  ['The sum is 18', 0],
])('of %j the reward is %d', (answer, reward) => {
  expect(exactEnd({ input: '', expected: '18' }, answer).reward).toBe(reward);
});

test('options name the tasks, contestants and models that there are', () => {
  expect(readRealTextOptions({ ...defaults, tasks: 'date,price' }).tasks.map(({ name }) => name)).toEqual([
    'price',
    'date',
  ]);
  expect(readRealTextOptions(defaults).tasks).toHaveLength(tasks.length);
  for (const wrong of [{ tasks: 'prices' }, { contestants: 'x' }, { model: '7b' }, { splits: '0' }, { budget: 'x' }]) {
    expect(() => readRealTextOptions({ ...defaults, ...wrong })).toThrow(`--${Object.keys(wrong)[0]}`);
  }
});

test('the table has the mean, its interval and the worst split of each contestant', () => {
  const used = { calls: 10, promptTokens: 90, completionTokens: 10 };
  const result = (split: number, right: number) => {
    const usage = { policy: used, proposer: used };
    return { task: 'price', contestant: 'base prompt', split, right, of: 10, usage, promptTokens: 20, seconds: 1 };
  };
  const [, , row, ...rest] = textTable([result(0, 4), result(1, 6)]).split('\n');
  expect(rest).toEqual([]);
  const cells = row!.split('|').map((cell) => cell.trim());
  // 0.5 ± 12.706 * 0.1: Student's t with one degree of freedom.
  expect(cells.slice(3, 6)).toEqual(['2', '0.50 (-0.77 to 1.77)', '0.40']);
});
