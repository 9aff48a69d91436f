import { sumOfCosts, type CallCost } from '../client/cost.js';
import { completeChat } from '../client/complete-chat.js';
import type { CostReservation } from '../client/chat.js';
import type { ModelClient } from '../client/providers.js';
import { passAnswer } from '../../core/answers/streamed.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import { driveGraph, unusableAnswer, type ModelReply } from '../../core/graphs/run/drive.js';
import { finalCall } from '../../core/graphs/run/final-call.js';
import type { Graph } from '../../core/graphs/graph.js';
import { outcomeOf, type Call } from '../../core/graphs/run/run.js';
import type { Run } from '../../core/graphs/run/state.js';
import type { Json } from '../../core/graphs/values.js';
import { ApiError } from '../../platform/http/server/errors.js';
import { GraphFailure, runFailed, stepNotAnswered } from './graph-failure.js';
import { inputRefused, type GraphRequest } from './graph-request.js';

/** A graph prepared to answer chat completion requests. */
export interface ServedGraph {
  graph: Graph;
  /** Policies by model; the first serves steps without a model or with an unknown one. */
  policies: readonly PolicySpec[];
  /** `model` of the completions. */
  model: string;
}

/** The result of a graph run, and the usage of all its calls, failed tries included. */
export interface Output {
  value: Json;
  cost: CallCost;
  /** Finish reason of the final call if the output is its text, else `stop`. */
  finishReason: string;
}

/**
 * Receives the pieces of the output, without thoughts, if the output is one call's text; none of a
 * text whose answer is not known to have begun before its end.
 */
export type OnText = (piece: string) => void;

/**
 * Runs a graph for a request; the final call streams if `onText` is given. Rejects with an ApiError
 * (a GraphFailure after the first model call) or the signal's reason.
 */
export async function runServed(
  providers: ModelClient,
  { graph, policies }: ServedGraph,
  request: GraphRequest,
  onText: OnText | null,
  signal: AbortSignal,
): Promise<Output> {
  const costs: CallCost[] = [];
  const meter: CostReservation = {
    open: (asked) => Promise.resolve({ body: asked }),
    close: (cost) => Promise.resolve(void costs.push(cost)),
  };
  let calls = 0;
  let hasBegun = false;
  let finishReason = 'stop';
  const pass = (piece: string) => {
    hasBegun = true;
    onText!(piece);
  };
  const ask = async (call: Call, _tries: number, run: Run): Promise<ModelReply> => {
    if (hasBegun) {
      const message = 'The answer is unusable, and its text has already been streamed.';
      return { ok: false, code: unusableAnswer, message, infrastructure: false };
    }
    calls += 1;
    const policy = policies.find(({ model }) => model === call.model) ?? policies[0]!;
    const lessons = providers.lessonsOf(policy.provider, policy.model);
    const isFinal = finalCall(run) === call.key;
    const reply = await completeChat(providers, {
      asker: 'step',
      policy,
      messages: [...call.messages],
      signal,
      meter,
      tryTimeoutMs: call.timeoutS * 1_000,
      ...(isFinal && onText && { onText: passAnswer(pass, lessons.mayLackOpeningTag) }),
    });
    if (!reply.ok && reply.infrastructure) throw stepNotAnswered(call.step, policy.provider, reply);
    if (reply.ok) lessons.keepText(reply.text);
    if (reply.ok && isFinal) finishReason = reply.finishReason ?? finishReason;
    return reply;
  };
  try {
    const { run, fault } = await driveGraph(graph, request.input, ask);
    const outcome = outcomeOf(run);
    if (outcome.status === 'done') return { value: outcome.value, cost: sumOfCosts(costs), finishReason };
    const { step, reason } = outcome as { step: string | null; reason: string };
    // Without a model call only the input can be at fault.
    throw calls === 0 ? inputRefused(graph, request, step, reason) : runFailed(step, reason, fault);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ApiError && calls > 0 ? new GraphFailure(error, sumOfCosts(costs)) : error;
  }
}
