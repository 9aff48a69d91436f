import { chatDoubt } from '../../../src/core/prompts/chat-rows.js';
import { describe, expect, test } from '@jest/globals';
import { expectedOf, fillMessages, rowValues } from '../../../src/core/prompts/row-template.js';

test('a row has its own values only, as texts', () => {
  const row = { text: 'hi', tags: ['a'], empty: null };
  const names = { input: 'text', tags: 'tags', empty: 'empty', a: 'constructor' };
  expect([...rowValues(row, { placeholders: names, expected: null })]).toEqual([
    ['input', 'hi'],
    ['tags', '["a"]'],
    ['empty', ''],
    ['a', ''],
  ]);
  const placeholders = Object.fromEntries([['__proto__', '__proto__']]);
  expect([...rowValues(row, { placeholders, expected: null })]).toEqual([['__proto__', '']]);
  expect([
    ...rowValues(JSON.parse('{"__proto__": "own"}') as object as typeof row, { placeholders, expected: null }),
  ]).toEqual([['__proto__', 'own']]);
});

describe('chats', () => {
  const chat = [
    { role: 'system', content: 'You add.' },
    { role: 'user', content: '2+2' },
  ];
  const answered = [...chat, { role: 'assistant', content: '4' }];
  const columns = { placeholders: { input: 'messages' }, expected: 'messages' };
  const prompt = (content: string) => [{ role: 'user' as const, content }];
  const filled = (row: Record<string, unknown>, content: string, expected: string | null = null) =>
    fillMessages(prompt(content), rowValues(row, { placeholders: { input: 'messages' }, expected }), 1_000);

  test('take the place of a message that is their placeholder, and are JSON within a text', () => {
    expect(filled({ messages: chat }, '{{input}}')).toEqual(chat);
    expect(filled({ messages: chat }, 'Chat: {{input}}')).toEqual(prompt(`Chat: ${JSON.stringify(chat)}`));
    const parts = [{ role: 'user', content: [{ type: 'text', text: 'a' }] }];
    expect(filled({ messages: parts }, '{{input}}')).toEqual(prompt('a'));
    const told = [{ role: 'developer', content: 'You add.' }, chat[1]];
    expect(filled({ messages: told }, '{{input}}')).toEqual(chat);
  });

  test('end with the right answer where they are the expected column', () => {
    expect(filled({ messages: answered }, '{{input}}', 'messages')).toEqual(chat);
    expect(expectedOf(answered, columns)).toBe('4');
    expect(expectedOf(chat, columns)).toBeUndefined();
    expect(expectedOf(answered, { placeholders: { input: 'other' }, expected: 'messages' })).toBe(answered);
  });

  const call = { role: 'assistant', content: null, tool_calls: [{ id: '1' }] };
  test.each<[unknown, string | null]>([
    [[...chat, call], 'tools'],
    [[...chat, { role: 'tool', content: 'x' }], 'tools'],
    [[{ role: 'user', content: [{ type: 'image_url' }] }], 'parts that are no text'],
    [[{ role: 'model', content: 'x' }], 'the role "model"'],
    [[{ role: 'user', content: null }], 'messages without a text'],
    [[{ from: 'human', value: 'x' }], 'the fields "from" and "value"'],
    [chat, null],
    [[{ role: 'User', content: 'x' }], null],
    [[{ role: 'user' }, 1], null],
    [[{ x: 1 }], null],
    [[], null],
    ['a text', null],
  ])('%j: what keeps it from being one is %j', (value, doubt) => {
    expect(chatDoubt(value)).toBe(doubt);
    // Where it also holds the right answer, there is none to read.
    if (doubt !== null) expect(expectedOf(value, columns)).toBeUndefined();
  });

  test.each([[[]], [[{ role: 'tool', content: 'x' }]], [[{ role: 'user' }]], [{ role: 'user', content: 'x' }]])(
    '%j is no chat, but JSON in its order',
    (value) => {
      expect(filled({ messages: value }, '{{input}}')).toEqual(prompt(JSON.stringify(value)));
    },
  );
});
