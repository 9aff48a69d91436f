import type { PolicySpec } from '../../core/jobs/policy.js';
import { priceOf } from './cost.js';
import { asObject } from '../../util/json.js';

type Json = Record<string, unknown>;

/** A call with a bounded cost: the request with a limited answer, and its maximum dollars. */
export interface BoundedCall {
  body: Json;
  /** The body's JSON. */
  json: string;
  costUsd: number;
}

/** A request field that leaves the cost unbounded, and how to fix it. */
export interface UnboundedField {
  field: string;
  message: string;
}

/** Answer tokens for a request without a limit of its own. */
export const answerTokens = { rollout: 4_096, proposer: 8_192 } as const;
/** Upper limit of answer tokens; higher limits in a request are lowered to it. */
const maxAnswerTokens = 16_384;
/** Tokens that providers add for tools and schemas. */
const hiddenPromptTokens = 1_000;
const maxChoices = 128;

/** The limit of answer tokens that most providers know; `quirks` renames it for the others. */
export const limitName = 'max_tokens';
const limitNames = [limitName, 'max_completion_tokens'];
/** Fields that cost more than tokens at the table's price. */
const unpriced = [
  'audio',
  'cachedContent',
  'cached_content',
  'extra_body',
  'models',
  'plugins',
  'prediction',
  'web_search_options',
];
const pricedTiers: unknown[] = [undefined, null, 'auto', 'default', 'flex'];

/** Why `max_cost_usd` cannot cover a policy; null: its price is known. */
export function unknownPrice({ provider, model }: Pick<PolicySpec, 'provider' | 'model'>): string | null {
  if (priceOf(provider, model, 1, 1) !== null) return null;
  return `the price of the model "${model}" of the provider "${provider}" is not known`;
}

/**
 * The maximum cost of a chat completion; a token has at least one byte. A request without a limit
 * gets one of `unlimited` tokens; every limit is capped at `maxAnswerTokens`.
 */
export function boundCall(provider: string, request: Json, unlimited: number): BoundedCall | UnboundedField {
  const present = unpriced.find((name) => request[name] !== undefined && request[name] !== null);
  if (present) return unbounded(present, 'is not accepted under max_cost_usd: its price is unknown');
  if (!pricedTiers.includes(request['service_tier'])) {
    return unbounded('service_tier', 'must be auto, default or flex under max_cost_usd');
  }
  const choices = request['n'] ?? 1;
  if (typeof choices !== 'number' || !Number.isInteger(choices) || choices < 1 || choices > maxChoices) {
    return unbounded('n', `must be a whole number from 1 to ${maxChoices} under max_cost_usd`);
  }
  const odd = notText(request['messages']);
  if (odd)
    return unbounded('messages', `hold a part of type "${odd}"; its tokens cannot be bounded under max_cost_usd`);
  const named = limitNames.filter((name) => request[name] !== undefined && request[name] !== null);
  for (const name of named) {
    const value = request[name];
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) {
      return unbounded(name, 'must be a whole number of at least 1 under max_cost_usd');
    }
  }
  const allowed = named.map((name) => request[name] as number);
  const tokens = Math.min(maxAnswerTokens, ...(allowed.length > 0 ? allowed : [unlimited]));
  const names = named.length > 0 ? named : [limitName];
  const body = { ...request, ...Object.fromEntries(names.map((name) => [name, tokens])) };
  const hidden = ['tools', 'functions', 'response_format'].some((name) => request[name] != null);
  const json = JSON.stringify(body);
  const promptTokens = Buffer.byteLength(json) + (hidden ? hiddenPromptTokens : 0);
  const costUsd = priceOf(provider, String(request['model']), promptTokens, tokens * choices);
  if (costUsd !== null) return { body, json, costUsd };
  const model = JSON.stringify(request['model']);
  return unbounded(
    'model',
    `${model} has no known price, which max_cost_usd requires; omit it to use the policy's model`,
  );
}

function unbounded(field: string, message: string): UnboundedField {
  return { field, message: `${field} ${message}.` };
}

/** The type of the first message part that is not text, or null. */
function notText(messages: unknown): string | null {
  for (const message of Array.isArray(messages) ? messages : []) {
    const content = asObject(message)?.['content'];
    for (const part of Array.isArray(content) ? content : []) {
      const type = asObject(part)?.['type'];
      if (type !== 'text' && type !== 'refusal') return String(type);
    }
  }
  return null;
}
