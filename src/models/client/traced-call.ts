import { answerIn } from '../../core/answers/completion.js';
import { field } from '../../clients/net/untrusted.js';
import { unknownCost, type CallCost } from './cost.js';
import type { ChatRequest, ChatResult } from './chat.js';

/** A model call with its retries, as a trace shows it. */
export interface TracedCall {
  provider: string;
  purpose: string;
  /** The chat completion request: model, messages and parameters. */
  request: Record<string, unknown>;
  /** By `Date.now()`. */
  startedAt: number;
  /** The HTTP status or code of a failure; null: it was answered. */
  error: string | null;
  answer: TracedAnswer | null;
  cost: CallCost;
}

/** The parts of a chat completion that a trace shows; null: unknown. */
export interface TracedAnswer {
  id: string | null;
  model: string | null;
  finishReason: string | null;
  text: string;
}

/** Receives each model call once it has ended. */
export type TraceCall = (call: TracedCall) => void;

/** Traces a chat that the service asks for itself. */
export async function tracedChat(
  trace: TraceCall,
  { policy, messages, asker: purpose = 'proposer' }: ChatRequest,
  ask: () => Promise<ChatResult>,
): Promise<ChatResult> {
  const request = { ...policy.params, model: policy.model, messages };
  const call = { provider: policy.provider, purpose, request, startedAt: Date.now() };
  const failed = (error: string) => trace({ ...call, error, answer: null, cost: unknownCost });
  try {
    const result = await ask();
    if (result.ok) {
      const { text, finishReason, responseModel: model } = result;
      trace({ ...call, error: null, answer: { id: null, model, finishReason, text }, cost: result });
    } else failed(result.refused ? String(result.refused.status) : result.code);
    return result;
  } catch (error) {
    failed(error instanceof Error ? error.name : 'Error');
    throw error;
  }
}

/** Reads a chat completion; null: it is none. */
export function tracedAnswer(completion: unknown): TracedAnswer | null {
  const answer = answerIn(completion);
  if (!answer) return null;
  const { finishReason, text } = answer;
  return { id: textOrNull(field(completion, 'id')), model: textOrNull(field(completion, 'model')), finishReason, text };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
