import { expect, test } from '@jest/globals';
import { createLessons } from '../../../../src/models/client/quirks/lessons.js';

test('thoughts may lack their opening tag before the first text, and from the first that lacked it', () => {
  const lessonsOf = createLessons();
  const a = () => lessonsOf('http://a/v1', 'm');
  a().keepText(' ');
  expect(a().mayLackOpeningTag).toBe(true);
  for (const [text, lacks] of [
    ['<think>x</think>y', false],
    ['y', false],
    ['x</think>y', true],
    ['y', true],
  ] as const) {
    a().keepText(text);
    // What is learnt of requests leaves it alone.
    a().keep(['temperature'], ['stop']);
    expect([text, a().mayLackOpeningTag]).toEqual([text, lacks]);
  }
  expect([...a().refused]).toEqual(['temperature']);
  expect(lessonsOf('http://b/v1', 'm').mayLackOpeningTag).toBe(true);
});
