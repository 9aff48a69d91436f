import { describe, expect, test } from '@jest/globals';
import { completeLocally, LocalRequestError } from '../../src/local-model/complete.js';
import { countTokens } from '../../src/local-model/words.js';

const messages = [
  { role: 'system', content: 'Classify.' },
  { role: 'user', content: 'Message: my apples\n\nLabels: apple_desk, pear_desk' },
];

describe('completeLocally', () => {
  test('answers as an OpenAI chat completion, the same each time', () => {
    const completion = completeLocally({ model: 'any', messages, temperature: 1 });
    expect(completion).toEqual({
      id: expect.stringMatching(/^chatcmpl-local-[0-9a-f]{24}$/),
      object: 'chat.completion',
      created: 0,
      model: 'any',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'apple_desk' }, logprobs: null, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 3 + 3 + 3 + 14, completion_tokens: 3, total_tokens: 26 },
    });
    expect(completeLocally({ model: 'any', messages, temperature: 1 })).toEqual(completion);
    expect(completeLocally({ model: 'any', messages }).id).not.toBe(completion.id);
  });

  test('counts a token for each six letters or digits, and for any other sign', () => {
    expect(countTokens('')).toBe(0);
    expect(countTokens('Hello, world 123')).toBe(4);
    expect(countTokens('internationalize it')).toBe(4);
  });

  test('truncates the answer at the token limit and reports it', () => {
    for (const limit of [{ max_tokens: 2 }, { max_completion_tokens: 2, max_tokens: 50 }]) {
      const { choices, usage } = completeLocally({ messages, ...limit });
      expect(choices[0]).toMatchObject({ message: { content: 'apple_' }, finish_reason: 'length' });
      expect(usage.completion_tokens).toBe(2);
    }
    expect(completeLocally({ messages, max_tokens: 3 }).choices[0].finish_reason).toBe('stop');
  });

  test('accepts content as a list of parts, and the developer role as system', () => {
    const user = [{ type: 'text', text: 'Message: figs\n\nLabels: k1, k2' }, { type: 'image_url' }, null];
    const request = [
      { role: 'developer', content: '- `k1`: plums\n- `k2`: figs' },
      { role: 'user', content: user },
    ];
    expect(completeLocally({ messages: request }).choices[0].message.content).toBe('k2');
  });

  test.each([
    [undefined, 'messages'],
    [[], 'messages'],
    ['hi', 'messages'],
    [[{ role: 'user', content: 'x' }, 'y'], 'messages[1].role'],
    [[{ content: 'x' }], 'messages[0].role'],
  ])('refuses %j and names the field', (bad, param) => {
    expect(() => completeLocally({ messages: bad })).toThrow(LocalRequestError);
    expect(() => completeLocally({ messages: bad })).toThrow(expect.objectContaining({ param }));
  });
});
