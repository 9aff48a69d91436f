import { describe, expect, test } from '@jest/globals';
import { orderByCoverage, sharedAnswers } from '../../../src/core/prompts/demo-coverage.js';

const demo = (input: string, output = 'answer') => ({ input, output });

describe('the order of possible demonstrations', () => {
  test('begins with those that cover most words of the questions together', () => {
    const demos = [demo('refund parcel'), demo('refund'), demo('invoice'), demo('parcel invoice voucher')];
    const order = orderByCoverage([...demos, demo('voucher')], []);
    expect(order.slice(0, 2)).toEqual([3, 0]);
  });

  test('covers the open questions rather than all', () => {
    const demos = [demo('refund parcel'), demo('refund parcel invoice'), demo('voucher card'), demo('voucher')];
    expect(orderByCoverage(demos, ['a voucher', 'a card'])[0]).toBe(2);
    expect(orderByCoverage(demos, [])[0]).toBe(0);
  });

  test('has every label before it repeats a label', () => {
    const labels = ['lost', 'lost', 'lost', 'late', 'late', 'fee', 'fee'];
    const order = orderByCoverage(
      labels.map((label, at) => demo(`message ${at}`, label)),
      [],
    );
    expect(order.slice(0, 3).map((index) => labels[index])).toEqual(['lost', 'late', 'fee']);
  });

  test('holds every index once, in the given order where nothing distinguishes them', () => {
    expect(orderByCoverage([demo('a'), demo('b'), demo('c')], [])).toEqual([0, 1, 2]);
    expect(orderByCoverage([], ['x'])).toEqual([]);
    expect(
      [
        ...orderByCoverage(
          Array.from({ length: 30 }, (_, at) => demo(`w${at % 5} x${at % 3}`)),
          [],
        ),
      ].sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 30 }, (_, at) => at));
  });

  test('ignores words of most questions and of a single one', () => {
    const demos = [demo('the 17 unique words here'), demo('the refund'), demo('the refund'), demo('the 18')];
    expect(orderByCoverage(demos, [])[0]).toBe(1);
  });
});

test('shared answers are those that occur more than once, but for spaces around them', () => {
  expect(sharedAnswers(['late', 'lost', ' late', 'fee', 'lost', 'late'])).toEqual([
    [0, 2, 5],
    [1, 4],
  ]);
  expect(sharedAnswers(['a', 'b'])).toEqual([]);
});
