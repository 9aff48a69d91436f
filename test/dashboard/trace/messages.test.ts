import { describe, expect, test } from '@jest/globals';
import { answerOf, messagesOf, settingsOf } from '../../../dashboard/src/ui/trace/messages.js';

const request = {
  model: 'm',
  temperature: 0.2,
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
      ],
    },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', function: { name: 'look', arguments: '{"x":1}' } }] },
    { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
  ],
};

describe('messages of a request', () => {
  test('texts, media, tool calls and their results are parts', () => {
    expect(messagesOf(request)).toEqual([
      { role: 'system', name: null, parts: [{ kind: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        name: null,
        parts: [
          { kind: 'text', text: 'What is it?' },
          { kind: 'media', name: 'image', text: 'https://example.com/cat.png' },
        ],
      },
      { role: 'assistant', name: null, parts: [{ kind: 'tool_call', name: 'look', text: '{\n  "x": 1\n}' }] },
      { role: 'tool', name: 'c1', parts: [{ kind: 'text', text: 'a cat' }] },
    ]);
    expect(settingsOf(request)).toEqual({ temperature: 0.2 });
  });

  test.each([[null], ['text'], [{}], [{ messages: 'no list' }]])('%j has none', (odd) => {
    expect(messagesOf(odd)).toEqual([]);
  });

  test('an odd message has no parts, or its JSON', () => {
    expect(messagesOf({ messages: [7, { role: 'user', content: [{ type: 'input_audio', data: 'x' }] }] })).toEqual([
      { role: 'assistant', name: null, parts: [] },
      {
        role: 'user',
        name: null,
        parts: [{ kind: 'media', name: 'input_audio', text: expect.stringContaining('"x"') }],
      },
    ]);
  });
});

describe('an answer', () => {
  test('has a message for each choice, with refusals and reasoning', () => {
    const choices = [
      { message: { role: 'assistant', content: 'Yes.', reasoning_content: 'Hm.' }, finish_reason: 'stop' },
      { message: { role: 'assistant', content: null, refusal: 'No.' }, finish_reason: 'content_filter' },
    ];
    const { messages, finishReasons, error } = answerOf({ choices });
    expect(messages.map(({ parts }) => parts.map(({ kind }) => kind))).toEqual([['reasoning', 'text'], ['refusal']]);
    expect(finishReasons).toEqual(['stop', 'content_filter']);
    expect(error).toBeNull();
  });

  test.each([
    [{ error: { message: 'overloaded' } }, 'overloaded'],
    [{ error: 'overloaded' }, 'overloaded'],
    [null, null],
  ])('%j: the error is %j', (response, error) => {
    expect(answerOf(response)).toMatchObject({ messages: [], error });
  });
});
