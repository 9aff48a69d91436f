import { describe, expect, test } from '@jest/globals';
import { componentNames, componentTexts, withTexts } from '../../../src/core/prompts/components.js';
import { promptMessagesSchema } from '../../../src/contracts/prompt.js';
import type { Message } from '../../../src/core/prompts/message.js';

const messages: Message[] = [
  { role: 'system', content: 'one' },
  { role: 'user', content: 'two', name: 'act' },
  { role: 'system', content: 'three' },
  { role: 'user', content: 'four' },
  { role: 'system', content: 'five', name: 'constructor' },
];

describe('components', () => {
  test('are named by name, else by role with a number from the second', () => {
    expect(componentNames(messages)).toEqual(['system', 'act', 'system_2', 'user', 'constructor']);
    expect(promptMessagesSchema.parse(messages)).toEqual(messages);
  });

  test('keep their texts unless replaced', () => {
    expect(componentTexts(null)).toEqual({});
    expect(withTexts(messages, componentTexts(messages))).toEqual(messages);
    expect(withTexts(messages, { act: 'new', nobody: 'x' })).toEqual(
      messages.map((message) => (message.name === 'act' ? { ...message, content: 'new' } : message)),
    );
  });
});
