import { calcPrice } from '@pydantic/genai-prices';
import { tokensIn, usageIn, type TokenCounts } from './answers/usage.js';
import { field } from '../../clients/net/untrusted.js';

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
 * Tokens and cost of a chat completion, from its usage. A cost reported by the provider precedes
 * its price table, unless it is a 0 for a model that is not free; `local` is free. Null where
 * anything that changes the price has no known price: never too little.
 */
export function costOf(provider: string, requestedModel: string, completion: unknown): CallCost {
  const usage = usageIn(completion);
  const counts = tokensIn(usage);
  const tokens = { promptTokens: counts.prompt, completionTokens: counts.completion };
  if (provider === 'local') return { ...tokens, costUsd: 0, costSource: 'table' };
  const answered = field(completion, 'model');
  const models = [typeof answered === 'string' ? answered : requestedModel, requestedModel];
  const listed = hasOtherPrice(completion, usage) ? null : listedCost(provider, models, counts);
  const isFree = models.some((model) => model.endsWith(':free')) || listed === 0;
  const reported = reportedCost(usage, listed, isFree);
  if (reported !== null) return { ...tokens, costUsd: reported, costSource: 'reported' };
  return { ...tokens, costUsd: listed, costSource: listed === null ? 'unknown' : 'table' };
}

/** The unit of xAI. */
const ticksInDollar = 1e10;

/**
 * The cost that the provider reports: on OpenRouter with an own key of the vendor its fee and the
 * vendor's price together; null: none, or one that is not to be believed.
 */
function reportedCost(usage: unknown, listed: number | null, isFree: boolean): number | null {
  const given = field(usage, 'cost');
  const ticks = amount(field(usage, 'cost_in_usd_ticks'));
  const others = amount(field(usage, 'estimated_cost')) ?? (ticks === null ? null : ticks / ticksInDollar);
  const fee = amount(given) ?? amount(field(given, 'total_cost')) ?? others;
  if (fee === null) return null;
  const upstream = amount(field(field(usage, 'cost_details'), 'upstream_inference_cost'));
  const own = field(usage, 'is_byok');
  if (own === true || (own !== false && fee === 0 && upstream)) {
    const vendor = upstream || (isFree ? 0 : listed);
    return vendor === null ? null : fee + vendor;
  }
  return fee > 0 || isFree ? fee : null;
}

/** Tiers at the table's price. */
const standardTiers: unknown[] = [undefined, null, 'auto', 'default', 'standard', 'on_demand'];

/** Whether something beside tokens, or another tier, makes the price one that the table lacks. */
function hasOtherPrice(completion: unknown, usage: unknown): boolean {
  const tiers = [field(completion, 'service_tier'), field(usage, 'service_tier')];
  const searches = [
    field(field(usage, 'server_tool_use'), 'web_search_requests'),
    field(usage, 'num_search_queries'),
    field(usage, 'num_sources_used'),
  ];
  return !tiers.every((tier) => standardTiers.includes(tier)) || searches.some((used) => (amount(used) ?? 0) > 0);
}

function listedCost(provider: string, models: readonly string[], counts: TokenCounts): number | null {
  if (counts.prompt === null || counts.completion === null) return null;
  for (const model of models) {
    const costUsd = tablePrice(provider, model, { ...counts, prompt: counts.prompt, completion: counts.completion });
    if (costUsd !== null) return costUsd;
  }
  return null;
}

/** Price of tokens in dollars by the provider's table; null: unknown. `local` is free. */
export function priceOf(provider: string, model: string, promptTokens: number, answerTokens: number): number | null {
  const usage = { prompt_tokens: promptTokens, completion_tokens: answerTokens };
  return provider === 'local' ? 0 : listedCost(provider, [model], tokensIn(usage));
}

/** Parts with a price of their own: name of the count, its unit, and its name in the table. */
const parts = [
  ['cacheWrite', 'cache_write_tokens', 'cache_write_mtok'],
  ['cacheWriteHour', 'cache_write_1h_tokens', 'cache_write_1h_mtok'],
  ['audioIn', 'input_audio_tokens', 'input_audio_mtok'],
  ['audioOut', 'output_audio_tokens', 'output_audio_mtok'],
  ['imageOut', 'output_image_tokens', 'output_image_mtok'],
] as const;

function tablePrice(
  provider: string,
  model: string,
  counts: TokenCounts & { prompt: number; completion: number },
): number | null {
  const used = parts.filter(([name]) => counts[name] > 0);
  const usage = {
    input_tokens: counts.prompt,
    output_tokens: counts.completion,
    ...(counts.cacheRead > 0 && { cache_read_tokens: counts.cacheRead }),
    ...Object.fromEntries(used.map(([name, unit]) => [unit, counts[name]])),
  };
  try {
    const price = calcPrice(usage, model, { providerId: provider });
    // The table prices a part that it does not list as text, which is too little.
    if (!price || used.some(([, , listed]) => price.model_price[listed] === undefined)) return null;
    return Number.isFinite(price.total_price) ? price.total_price : null;
  } catch {
    // The table throws for usage without a listed price: the cost is unknown.
    return null;
  }
}

/** Dollars; gateways write them as text, too. */
function amount(given: unknown): number | null {
  const isText = typeof given === 'string' && /^\d{1,15}(\.\d{1,20})?$/.test(given);
  const value = isText ? Number(given) : given;
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}
