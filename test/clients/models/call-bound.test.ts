import { describe, expect, test } from '@jest/globals';
import { boundCall, unknownPrice } from '../../../src/clients/models/call-bound.js';

// gpt-4o-mini is 0.15 and 0.60 dollars a million tokens.
const messages = [{ role: 'user', content: 'Where is my card?' }];
const ask = (more: object = {}, provider = 'openai') =>
  boundCall(provider, { model: 'gpt-4o-mini', messages, ...more }, 4_096) as {
    body: Record<string, unknown>;
    costUsd: number;
    field?: string;
  };
const cost = (body: object, answerTokens: number) =>
  expect.closeTo(Buffer.byteLength(JSON.stringify(body)) * 0.15e-6 + answerTokens * 0.6e-6, 12) as unknown;

describe('the most that a call can cost', () => {
  test('is the request’s bytes as prompt tokens and the longest answer, which the request then names', () => {
    const { body, costUsd } = ask();
    expect(body).toEqual({ model: 'gpt-4o-mini', messages, max_tokens: 4_096 });
    expect(costUsd).toEqual(cost(body, 4_096));
  });

  test.each<[string, object, object, number]>([
    ['its own limit', { max_tokens: 100 }, { max_tokens: 100 }, 100],
    ['the other name', { max_completion_tokens: 100 }, { max_completion_tokens: 100 }, 100],
    ['both names', { max_tokens: 90, max_completion_tokens: 100 }, { max_tokens: 90, max_completion_tokens: 90 }, 90],
    ['a limit of null', { max_tokens: null }, { max_tokens: 4_096 }, 4_096],
    ['too large a limit', { max_tokens: 1e6 }, { max_tokens: 16_384 }, 16_384],
    ['several choices', { n: 3, max_tokens: 100 }, { n: 3, max_tokens: 100 }, 300],
  ])('%s', (_name, given, sent, tokens) => {
    const { body, costUsd } = ask(given);
    expect(body).toEqual({ model: 'gpt-4o-mini', messages, ...sent });
    expect(costUsd).toEqual(cost(body, tokens));
  });

  test('counts bytes, not characters: no tokenizer makes more of them', () => {
    const wide = [{ role: 'user', content: '你'.repeat(1_000) }];
    expect(ask({ messages: wide }).costUsd - ask({ messages: [{ role: 'user', content: '' }] }).costUsd).toBeCloseTo(
      3_000 * 0.15e-6,
      12,
    );
  });

  test('tools cost what the provider puts before them', () => {
    const { body, costUsd } = ask({ tools: [] });
    expect(costUsd).toEqual(cost({ ...body, pad: 'x'.repeat(1_000 - 9) }, 4_096));
  });

  test('models of OpenAI that think are limited by the name they take', () => {
    expect(ask({ model: 'o3-mini' }).body).toMatchObject({ max_completion_tokens: 4_096 });
    expect(ask({ model: 'o3-mini' }).body).not.toHaveProperty('max_tokens');
  });

  test('the local model is free', () => expect(ask({ model: 'local' }, 'local').costUsd).toBe(0));

  test.each<[string, object, string]>([
    ['an image', { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages'],
    ['a search', { web_search_options: {} }, 'web_search_options'],
    ['a prediction', { prediction: { type: 'content', content: 'x' } }, 'prediction'],
    ['a dearer tier', { service_tier: 'priority' }, 'service_tier'],
    ['choices by a text', { n: '5' }, 'n'],
    ['a limit by a text', { max_tokens: '5' }, 'max_tokens'],
    ['a model without a price', { model: 'no-such-model' }, 'model'],
  ])('%s has none, and the field is named', (_name, more, field) => {
    expect(ask(more)).toEqual({ field, message: expect.stringMatching(new RegExp(`^${field} .*\\.$`)) as unknown });
  });
});

test('a price is known for a model of its very provider only', () => {
  expect(unknownPrice({ provider: 'openai', model: 'gpt-4o-mini' })).toBeNull();
  expect(unknownPrice({ provider: 'local', model: 'any' })).toBeNull();
  expect(unknownPrice({ provider: 'my-vllm', model: 'gpt-4o-mini' })).toMatch(
    /"gpt-4o-mini" of the provider "my-vllm"/,
  );
});
