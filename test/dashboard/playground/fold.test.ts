import { expect, test } from '@jest/globals';
import { noAnswer, withChunk, type StreamedAnswer } from '../../../dashboard/src/pages/playground/fold.js';
import { inputText, valuesOf } from '../../../dashboard/src/pages/playground/input.js';

const folded = (...chunks: object[]) =>
  chunks.reduce<StreamedAnswer>((last, chunk) => withChunk(last, JSON.stringify(chunk)), noAnswer);
const delta = (content: string, finish: string | null = null) => ({
  model: 'm-1',
  choices: [{ delta: { content }, finish_reason: finish }],
});

test('chunks make the answer, the last one its usage', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 2, cost: 0.5 };
  const answer = folded(delta('Hel'), delta('lo', 'stop'), { choices: [], usage });
  expect(answer).toEqual({
    text: 'Hello',
    model: 'm-1',
    finishReason: 'stop',
    promptTokens: 5,
    completionTokens: 2,
    costUsd: 0.5,
    error: null,
    isDone: false,
  });
  expect(withChunk(answer, '[DONE]').isDone).toBe(true);
});

test('an error of the stream keeps the text before it', () => {
  const answer = folded(delta('Hel'), { error: { message: 'overloaded' } });
  expect([answer.text, answer.error]).toEqual(['Hel', 'overloaded']);
  expect(folded({ error: {} }).error).not.toBeNull();
});

test('the fields of a graph are sent as JSON and read back', () => {
  const text = inputText(['question', 'context'], { question: 'why', other: 'x' });
  expect(JSON.parse(text)).toEqual({ question: 'why', context: '' });
  expect(valuesOf(['question', 'context'], text)).toEqual({ question: 'why', context: '' });
  expect(valuesOf(['question'], 'typed before')).toEqual({ question: 'typed before' });
  expect(inputText([], valuesOf([], '{"a": 1}'))).toBe('{"a": 1}');
});
