import { expect, test } from '@jest/globals';
import { rowValues } from '../../../src/core/prompts/row-template.js';

test('a row has its own values only, as texts', () => {
  const row = { text: 'hi', tags: ['a'], empty: null };
  const names = { input: 'text', tags: 'tags', empty: 'empty', a: 'constructor' };
  expect([...rowValues(row, names)]).toEqual([
    ['input', 'hi'],
    ['tags', '["a"]'],
    ['empty', ''],
    ['a', ''],
  ]);
  const placeholders = Object.fromEntries([['__proto__', '__proto__']]);
  expect([...rowValues(row, placeholders)]).toEqual([['__proto__', '']]);
  expect([...rowValues(JSON.parse('{"__proto__": "own"}') as object as typeof row, placeholders)]).toEqual([
    ['__proto__', 'own'],
  ]);
});
