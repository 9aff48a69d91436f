import { describe, expect, test } from '@jest/globals';
import { costOf } from '../../../src/clients/models/cost.js';

const usage = (more: Record<string, unknown> = {}) => ({
  usage: { prompt_tokens: 1_000_000, completion_tokens: 100_000, total_tokens: 1_100_000, ...more },
});
const unknown = { costUsd: null, costSource: 'unknown' };

describe('tokens and cost of an answer', () => {
  test('applies the price table: gpt-4o-mini is 0.15 and 0.60 dollars a million tokens', () => {
    expect(costOf('openai', 'gpt-4o-mini', usage())).toEqual({
      promptTokens: 1_000_000,
      completionTokens: 100_000,
      costUsd: expect.closeTo(0.21, 10) as unknown,
      costSource: 'table',
    });
  });

  test('prefers the answering model over the requested one', () => {
    expect(costOf('openai', 'alias', { ...usage(), model: 'gpt-4o-mini-2024-07-18' }).costUsd).toBeCloseTo(0.21);
    expect(costOf('openai', 'gpt-4o-mini', { ...usage(), model: 'no-such-model' }).costUsd).toBeCloseTo(0.21);
  });

  test('discounts cached tokens under each provider’s field name', () => {
    const cached = costOf('openai', 'gpt-4o-mini', usage({ prompt_tokens_details: { cached_tokens: 1_000_000 } }));
    expect(cached.costUsd).toBeCloseTo(0.075 + 0.06);
    const deepseek = (more: object) => costOf('deepseek', 'deepseek-chat', usage({ ...more })).costUsd!;
    expect(deepseek({ prompt_cache_hit_tokens: 1_000_000 })).toBeLessThan(deepseek({}));
    // More cached tokens than prompt tokens: no error and no negative cost.
    const nonsense = costOf('openai', 'gpt-4o-mini', usage({ prompt_tokens_details: { cached_tokens: 1e12 } }));
    expect(nonsense.costUsd).toBeCloseTo(0.135);
  });

  test('prefers the provider’s reported cost', () => {
    const answer = costOf('openrouter', 'openai/gpt-4o-mini', usage({ cost: 0.125 }));
    expect(answer).toMatchObject({ costUsd: 0.125, costSource: 'reported' });
    expect(costOf('openrouter', 'openai/gpt-4o-mini', usage()).costSource).toBe('table');
  });

  test('counts thinking tokens that only the total includes as output', () => {
    const answer = costOf('google', 'gemini-2.5-flash', {
      usage: { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
    });
    expect(answer.completionTokens).toBe(603);
  });

  test('is null, never 0, when unknown', () => {
    expect(costOf('openai', 'no-such-model', usage())).toMatchObject(unknown);
    expect(costOf('ollama', 'gpt-4o-mini', usage())).toMatchObject({ ...unknown, promptTokens: 1_000_000 });
    expect(costOf('openai', 'gpt-4o-mini', {})).toEqual({ promptTokens: null, completionTokens: null, ...unknown });
    expect(costOf('openai', 'gpt-4o-mini', null)).toEqual({ promptTokens: null, completionTokens: null, ...unknown });
    const hostile = { prompt_tokens: -1, completion_tokens: Infinity, cost: 'free', total_tokens: Number.NaN };
    expect(costOf('openai', 'gpt-4o-mini', { usage: hostile })).toEqual({
      promptTokens: null,
      completionTokens: null,
      ...unknown,
    });
  });

  test('treats an invalid token count as unknown, so that it can be stored', () => {
    for (const wrong of [3.5, 1e30, -1, '7', null]) {
      const said = costOf('openai', 'gpt-4o-mini', { usage: { prompt_tokens: wrong, completion_tokens: 5 } });
      expect(said).toMatchObject({ promptTokens: null, completionTokens: 5 });
    }
  });

  test('is 0 for the local provider', () => {
    expect(costOf('local', 'local', { usage: { prompt_tokens: 3, completion_tokens: 4 } })).toEqual({
      promptTokens: 3,
      completionTokens: 4,
      costUsd: 0,
      costSource: 'table',
    });
  });
});
