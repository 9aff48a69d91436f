/** A model call by OpenTelemetry's conventions for generative AI. */
import type { Attributes } from '@opentelemetry/api';
import type { TracedCall } from '../models/client/traced-call.js';
import { asObject } from '../util/json.js';
import { textOfContent } from '../core/answers/completion.js';

/** Names of the conventions that differ from ours. */
const conventional: Record<string, string> = { google: 'gcp.gemini', mistral: 'mistral_ai' };

/** Attributes of requests, by their fields. */
const requestAttributes: Record<string, string> = {
  temperature: 'gen_ai.request.temperature',
  top_p: 'gen_ai.request.top_p',
  max_tokens: 'gen_ai.request.max_tokens',
  max_completion_tokens: 'gen_ai.request.max_tokens',
  seed: 'gen_ai.request.seed',
};

export interface CallAttributeOptions {
  /** Whether to show prompts and answers. */
  captureContent: boolean;
  /** Hides secrets in a text. */
  hide(text: string): string;
  /** Host and port of a provider; null: none. */
  addressOf(provider: string): { host: string; port: number } | null;
}

export function modelCallName({ request }: TracedCall): string {
  return `chat ${String(request['model'])}`;
}

export function modelCallAttributes(call: TracedCall, options: CallAttributeOptions): Attributes {
  const { provider, purpose, request, error, answer, cost } = call;
  const address = options.addressOf(provider);
  const { promptTokens, completionTokens, costUsd } = cost;
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': conventional[provider] ?? provider,
    'gen_ai.request.model': String(request['model']),
    ...parameters(request),
    ...(answer?.model && { 'gen_ai.response.model': answer.model }),
    ...(answer?.id && { 'gen_ai.response.id': answer.id }),
    ...(answer?.finishReason && { 'gen_ai.response.finish_reasons': [answer.finishReason] }),
    ...(promptTokens !== null && { 'gen_ai.usage.input_tokens': promptTokens }),
    ...(completionTokens !== null && { 'gen_ai.usage.output_tokens': completionTokens }),
    ...(address && { 'server.address': address.host, 'server.port': address.port }),
    ...(error !== null && { 'error.type': error }),
    'ratchet.purpose': purpose,
    ...(costUsd !== null && { 'ratchet.cost_usd': costUsd }),
    ...(options.captureContent && content(call, options.hide)),
  };
}

function parameters(request: Record<string, unknown>): Attributes {
  const known = Object.entries(requestAttributes).flatMap(([field, name]) => {
    const value = request[field];
    return typeof value === 'number' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(known);
}

function content({ request, answer }: TracedCall, hide: (text: string) => string): Attributes {
  const given = Array.isArray(request['messages']) ? request['messages'] : [];
  const input = given.map((message: unknown) => {
    const { role, content } = asObject(message) ?? {};
    return { role, parts: [textPart(textOfContent(content))] };
  });
  const finish_reason = answer?.finishReason ?? undefined;
  const output = answer && [{ role: 'assistant', parts: [textPart(answer.text)], finish_reason }];
  return {
    'gen_ai.input.messages': hide(JSON.stringify(input)),
    ...(output && { 'gen_ai.output.messages': hide(JSON.stringify(output)) }),
  };
}

function textPart(text: string): { type: 'text'; content: string } {
  return { type: 'text', content: text };
}
