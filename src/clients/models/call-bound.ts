import type { PolicySpec } from '../../core/jobs/spec.js';
import { priceOf } from './cost.js';
import { asObject } from '../net/untrusted.js';

type Json = Record<string, unknown>;

/** A call whose cost has an upper bound: the request with its answer's length bounded, and the most that it can cost, in dollars. */
export interface BoundedCall {
  body: Json;
  costUsd: number;
}

/** Why a call's cost has no bound: which field of the request, and what to do. */
export interface Unbounded {
  field: string;
  message: string;
}

/** Tokens of an answer whose request names no limit. */
export const answerTokens = { rollout: 4_096, proposer: 8_192 } as const;
/** Tokens of any answer; a request that allows more is lowered to it. */
const maxAnswerTokens = 16_384;
/** What providers put before tools and schemas on their own. */
const hiddenPromptTokens = 1_000;
const maxChoices = 128;

const limitNames = ['max_tokens', 'max_completion_tokens'];
/** Fields that make a call cost more than its tokens at the table's price. */
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

/** Why a policy cannot be under a budget of money, or null when the price of its model is known. */
export function unknownPrice({ provider, model }: Pick<PolicySpec, 'provider' | 'model'>): string | null {
  if (priceOf(provider, model, 1, 1) !== null) return null;
  return `the price of the model "${model}" of the provider "${provider}" is not known`;
}

/**
 * The most that a chat completion can cost. A token is at least one byte of the request, whatever the tokenizer; the answer is as
 * long as the request allows, at most `maxAnswerTokens`, and `unlimited` tokens where the request names no limit, which it then does.
 */
export function boundCall(provider: string, request: Json, unlimited: number): BoundedCall | Unbounded {
  const present = unpriced.find((name) => request[name] !== undefined && request[name] !== null);
  if (present) return unbounded(present, 'is not accepted under max_cost_usd: its price is not in the table');
  if (!pricedTiers.includes(request['service_tier'])) {
    return unbounded('service_tier', 'is not accepted under max_cost_usd, but for auto, default and flex');
  }
  const choices = request['n'] ?? 1;
  if (typeof choices !== 'number' || !Number.isInteger(choices) || choices < 1 || choices > maxChoices) {
    return unbounded('n', `must be a whole number from 1 to ${maxChoices} under max_cost_usd`);
  }
  const odd = notText(request['messages']);
  if (odd) return unbounded('messages', `hold a part of type "${odd}", whose tokens cannot be told under max_cost_usd`);
  const named = limitNames.filter((name) => request[name] !== undefined && request[name] !== null);
  for (const name of named) {
    const value = request[name];
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) {
      return unbounded(name, 'must be a whole number from 1 on under max_cost_usd');
    }
  }
  const allowed = named.map((name) => request[name] as number);
  const tokens = Math.min(maxAnswerTokens, ...(allowed.length > 0 ? allowed : [unlimited]));
  const names = named.length > 0 ? named : [limitName(provider, String(request['model']))];
  const body = { ...request, ...Object.fromEntries(names.map((name) => [name, tokens])) };
  const hidden = ['tools', 'functions', 'response_format'].some((name) => request[name] != null);
  const promptTokens = Buffer.byteLength(JSON.stringify(body)) + (hidden ? hiddenPromptTokens : 0);
  const costUsd = priceOf(provider, String(request['model']), promptTokens, tokens * choices);
  if (costUsd !== null) return { body, costUsd };
  const model = JSON.stringify(request['model']);
  return unbounded('model', `${model} has no known price, which max_cost_usd needs; leave it to the policy's`);
}

function unbounded(field: string, message: string): Unbounded {
  return { field, message: `${field} ${message}.` };
}

/** The type of a message's part that is not text; null: all are. */
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

/** OpenAI's models that think refuse `max_tokens`; others know nothing else. */
function limitName(provider: string, model: string): string {
  return provider === 'openai' && /^(o\d|gpt-([5-9]|\d\d))/.test(model) ? 'max_completion_tokens' : 'max_tokens';
}
