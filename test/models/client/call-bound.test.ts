import { describe, expect, test } from '@jest/globals';
import { boundCall, unknownPrice } from '../../../src/models/client/call-bound.js';

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

describe('upper bound of a call’s cost', () => {
  test('counts the request’s bytes as prompt tokens and adds the longest answer, which it sets in the request', () => {
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

  test('counts bytes, which no tokenizer exceeds, instead of characters', () => {
    const wide = [{ role: 'user', content: '你'.repeat(1_000) }];
    expect(ask({ messages: wide }).costUsd - ask({ messages: [{ role: 'user', content: '' }] }).costUsd).toBeCloseTo(
      3_000 * 0.15e-6,
      12,
    );
  });

  test('adds the provider’s prompt tokens for tools', () => {
    const { body, costUsd } = ask({ tools: [] });
    expect(costUsd).toEqual(cost({ ...body, pad: 'x'.repeat(1_000 - 9) }, 4_096));
  });

  test('names the limit alike for all models; one that refuses the name gets the other', () => {
    expect(ask({ model: 'o3-mini' }).body).toMatchObject({ max_tokens: 4_096 });
  });

  test('is 0 for the local model', () => expect(ask({ model: 'local' }, 'local').costUsd).toBe(0));

  test.each<[string, object, string]>([
    ['an image', { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages'],
    ['a search', { web_search_options: {} }, 'web_search_options'],
    ['a prediction', { prediction: { type: 'content', content: 'x' } }, 'prediction'],
    ['a more expensive tier', { service_tier: 'priority' }, 'service_tier'],
    ['a text as number of choices', { n: '5' }, 'n'],
    ['a text as limit', { max_tokens: '5' }, 'max_tokens'],
    ['a model without a price', { model: 'no-such-model' }, 'model'],
  ])('%s has no bound, and the error names the field', (_name, more, field) => {
    expect(ask(more)).toEqual({ field, message: expect.stringMatching(new RegExp(`^${field} .*\\.$`)) as unknown });
  });
});

test('requires the model’s own provider for a price', () => {
  expect(unknownPrice({ provider: 'openai', model: 'gpt-4o-mini' })).toBeNull();
  expect(unknownPrice({ provider: 'local', model: 'any' })).toBeNull();
  expect(unknownPrice({ provider: 'my-vllm', model: 'gpt-4o-mini' })).toMatch(
    /"gpt-4o-mini" of the provider "my-vllm"/,
  );
});
