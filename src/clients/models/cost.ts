import { calcPrice } from '@pydantic/genai-prices';
import { field } from '../net/untrusted.js';

/** Tokens and dollars of one model call; null if unknown, never a guess and never 0. */
export interface CallCost {
  promptTokens: number | null;
  completionTokens: number | null;
  costUsd: number | null;
  /** The cost is `reported` by the provider, from the `table` of public prices, or `unknown`. */
  costSource: 'reported' | 'table' | 'unknown';
}

export const unknownCost: CallCost = {
  promptTokens: null,
  completionTokens: null,
  costUsd: null,
  costSource: 'unknown',
};

/** A call that the provider refused. */
export const noCost: CallCost = {
  promptTokens: 0,
  completionTokens: 0,
  costUsd: 0,
  // No provider bills a refused call; no provider reports its cost.
  costSource: 'table',
};

/** The sum over several calls; null where any of them is null. */
export function sumOfCosts(costs: readonly CallCost[]): CallCost {
  const sumOf = (name: 'promptTokens' | 'completionTokens' | 'costUsd') =>
    costs.reduce<number | null>((sum, { [name]: cost }) => (sum === null || cost === null ? null : sum + cost), 0);
  const costUsd = sumOf('costUsd');
  const known = costs.every(({ costSource }) => costSource === 'reported') ? 'reported' : 'table';
  return {
    promptTokens: sumOf('promptTokens'),
    completionTokens: sumOf('completionTokens'),
    costUsd,
    costSource: costUsd === null ? 'unknown' : known,
  };
}

/**
 * Tokens and cost of a chat completion, from its `usage`. A cost reported by the provider precedes
 * its price table; `local` is free.
 */
export function costOf(provider: string, requestedModel: string, completion: unknown): CallCost {
  const usage = field(completion, 'usage');
  const promptTokens = count(field(usage, 'prompt_tokens'));
  const completionTokens = outputTokens(usage, promptTokens);
  const tokens = { promptTokens, completionTokens };
  if (provider === 'local') return { ...tokens, costUsd: 0, costSource: 'table' };
  const reported = amount(field(usage, 'cost'));
  if (reported !== null) return { ...tokens, costUsd: reported, costSource: 'reported' };
  if (promptTokens === null || completionTokens === null) return { ...tokens, costUsd: null, costSource: 'unknown' };
  const cached =
    count(field(field(usage, 'prompt_tokens_details'), 'cached_tokens')) ??
    count(field(usage, 'prompt_cache_hit_tokens'));
  const answered = field(completion, 'model');
  const models = [typeof answered === 'string' ? answered : requestedModel, requestedModel];
  for (const model of models) {
    const costUsd = tablePrice(provider, model, promptTokens, completionTokens, Math.min(cached ?? 0, promptTokens));
    if (costUsd !== null) return { ...tokens, costUsd, costSource: 'table' };
  }
  return { ...tokens, costUsd: null, costSource: 'unknown' };
}

/** Google counts and bills thinking tokens in `total_tokens`, not in `completion_tokens`. */
function outputTokens(usage: unknown, promptTokens: number | null): number | null {
  const completion = count(field(usage, 'completion_tokens'));
  const total = count(field(usage, 'total_tokens'));
  if (promptTokens === null || total === null) return completion;
  return Math.max(completion ?? 0, total - promptTokens);
}

/** Price of tokens in dollars by the provider's table; null: unknown. `local` is free. */
export function priceOf(provider: string, model: string, promptTokens: number, answerTokens: number): number | null {
  return provider === 'local' ? 0 : tablePrice(provider, model, promptTokens, answerTokens, 0);
}

function tablePrice(provider: string, model: string, input: number, output: number, cached: number): number | null {
  const usage = { input_tokens: input, output_tokens: output, ...(cached > 0 && { cache_read_tokens: cached }) };
  try {
    const price = calcPrice(usage, model, { providerId: provider })?.total_price ?? null;
    return price !== null && Number.isFinite(price) ? price : null;
  } catch {
    // The table throws for usage without a listed price: the cost is unknown.
    return null;
  }
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function amount(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}
