import { describe, expect, test } from '@jest/globals';
import { costOf } from '../../../src/models/client/cost.js';

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

  test('reads costs as text and under other names', () => {
    for (const cost of [{ cost: '0.5' }, { estimated_cost: 0.5 }, { cost_in_usd_ticks: 5_000_000_000 }]) {
      expect(costOf('odd', 'no-such-model', usage(cost))).toMatchObject({ costUsd: 0.5, costSource: 'reported' });
    }
    for (const odd of ['', 'x', '-1', '1e3', '1_000', '0x10', ' ']) {
      expect(costOf('odd', 'm', { usage: { prompt_tokens: odd, completion_tokens: 1, cost: odd } })).toMatchObject({
        ...unknown,
        promptTokens: null,
      });
    }
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

  describe('at a provider with an own key', () => {
    const model = 'openai/gpt-4o-mini';
    const own = (more: object) => costOf('openrouter', model, usage({ is_byok: true, cost: 0, ...more }));
    test('adds the price of the vendor to the fee', () => {
      expect(own({ cost_details: { upstream_inference_cost: 0.0123 } }).costUsd).toBeCloseTo(0.0123);
      expect(own({ cost: 0.001, cost_details: { upstream_inference_cost: 0.02 } }).costUsd).toBeCloseTo(0.021);
      expect(own({}).costUsd).toBeCloseTo(0.21);
    });
    test('adds nothing to a cost that has it already', () => {
      const more = { is_byok: false, cost: 0.02, cost_details: { upstream_inference_cost: 0.02 } };
      expect(own(more).costUsd).toBe(0.02);
    });
    test('a reported 0 is believed for a free model only', () => {
      const free = 'meta-llama/llama-3.3-70b-instruct:free';
      expect(costOf('openrouter', model, usage({ cost: 0 }))).toMatchObject({ costSource: 'table' });
      expect(costOf('openrouter', free, usage({ cost: 0 }))).toMatchObject({ costUsd: 0, costSource: 'reported' });
      expect(costOf('openrouter', 'no/such', usage({ cost: 0 }))).toMatchObject(unknown);
    });
  });

  test.each<[string, string, string, object, number | null]>([
    ['cache writes', 'anthropic', 'claude-sonnet-4-5', { cache_creation_input_tokens: 100_000 }, 8.4],
    [
      'cache writes beside the prompt',
      'anthropic',
      'claude-haiku-4-5',
      { prompt_tokens: 10, cache_creation_input_tokens: 1_000, completion_tokens: 0, total_tokens: 10 },
      0.00126,
    ],
    ['cache writes without a price', 'openai', 'gpt-4o-mini', { cache_creation_input_tokens: 100 }, null],
    ['audio with a price', 'google', 'gemini-2.5-flash', { prompt_tokens_details: { audio_tokens: 1_000_000 } }, 1.25],
    ['audio without one', 'openai', 'gpt-4o-mini', { prompt_tokens_details: { audio_tokens: 1 } }, null],
    ['spoken answers without one', 'openai', 'gpt-4o-mini', { completion_tokens_details: { audio_tokens: 1 } }, null],
    ['a priority tier', 'openai', 'gpt-4o-mini', { service_tier: 'priority' }, null],
    ['a batch', 'anthropic', 'claude-sonnet-4-5', { service_tier: 'batch' }, null],
    ['the standard tier', 'openai', 'gpt-4o-mini', { service_tier: 'standard' }, 0.21],
    ['searches', 'openai', 'gpt-4o-mini', { server_tool_use: { web_search_requests: 2 } }, null],
    ['a total', 'perplexity', 'sonar', { cost: { total_cost: 0.005 } }, 0.005],
  ])('prices %s', (_name, provider, model, more, cost) => {
    const { costUsd } = costOf(provider, model, usage(more as Record<string, unknown>));
    if (cost === null) expect(costUsd).toBeNull();
    else expect(costUsd).toBeCloseTo(cost, 6);
  });

  test('prices a tier of the answer as unknown', () => {
    expect(costOf('openai', 'gpt-4o-mini', { ...usage(), service_tier: 'flex' })).toMatchObject(unknown);
    expect(costOf('openai', 'gpt-4o-mini', { ...usage(), service_tier: 'default' }).costUsd).toBeCloseTo(0.21);
  });

  test.each<[string, object]>([
    ['in the choice', { choices: [{ usage: usage().usage }] }],
    ['in the message', { choices: [{ message: { usage: usage().usage } }] }],
    ['in x_groq', { x_groq: { id: 'r', usage: usage().usage } }],
    ['with null choices', { choices: null, ...usage() }],
    ['beside an empty one', { usage: {}, choices: [{ usage: usage().usage }] }],
    ['beside null', { usage: null, x_groq: { usage: usage().usage } }],
    ["in Anthropic's names", { usage: { input_tokens: 1_000_000, output_tokens: 100_000 } }],
  ])('finds usage %s', (_name, body) => {
    expect(costOf('openai', 'gpt-4o-mini', body)).toMatchObject({ promptTokens: 1_000_000, completionTokens: 100_000 });
  });
});
