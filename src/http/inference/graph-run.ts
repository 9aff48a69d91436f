import { sumOfCosts, type CallCost } from '../../clients/models/cost.js';
import { completeChat, type CostReservation } from '../../clients/models/complete-chat.js';
import type { Providers } from '../../clients/models/providers.js';
import type { PolicySpec } from '../../core/jobs/spec.js';
import { driveGraph, unusableAnswer, type ModelReply } from '../../core/graphs/run/drive.js';
import { finalCall } from '../../core/graphs/run/final-call.js';
import type { Graph } from '../../core/graphs/graph.js';
import { outcomeOf, type Call, type Run } from '../../core/graphs/run/run.js';
import type { Json } from '../../core/graphs/values.js';
import { ApiError } from '../server/errors.js';
import { GraphFailure, runFailed, stepNotAnswered } from './graph-failure.js';
import { inputRefused, type GraphRequest } from './graph-request.js';

/** A graph that answers chat completion requests. */
export interface ServedGraph {
  graph: Graph;
  /** By their models; the first asks for steps that name none, or none of these. */
  policies: readonly PolicySpec[];
  /** What completions say in `model`. */
  model: string;
}

/** What a run of a graph came to, and what all its calls took, tries that failed among them. */
export interface Output {
  value: Json;
  cost: CallCost;
  /** Why the model ended where the output is one answer's text; `stop` else. */
  finishReason: string;
}

/** Gets the text of the run's output piece by piece, where that is one answer's. */
export type OnText = (piece: string) => void;

/**
 * Runs a graph for a request. Every step asks the policy of its model, the call whose text is the output streaming where `onText`
 * is there. Rejects with an ApiError (a GraphFailure once a model was asked) or with the signal's reason.
 */
export async function runServed(
  providers: Providers,
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
      const message = 'The answer is not usable, and its text has been passed on already.';
      return { ok: false, code: unusableAnswer, message, infrastructure: false };
    }
    calls += 1;
    const policy = policies.find(({ model }) => model === call.model) ?? policies[0]!;
    const isFinal = finalCall(run) === call.key;
    const said = await completeChat(providers, {
      ...{ asker: 'step', policy, messages: [...call.messages], signal, meter },
      tryTimeoutMs: call.timeoutS * 1_000,
      ...(isFinal && onText && { onText: pass }),
    });
    if (!said.ok && said.infrastructure) throw stepNotAnswered(call.step, policy.provider, said);
    if (said.ok && isFinal) finishReason = said.finishReason ?? finishReason;
    return said;
  };
  try {
    const { run, fault } = await driveGraph(graph, request.input, ask);
    const outcome = outcomeOf(run);
    if (outcome.status === 'done') return { value: outcome.value, cost: sumOfCosts(costs), finishReason };
    const { step, reason } = outcome as { step: string | null; reason: string };
    // With nothing asked, nothing but the input has decided.
    throw calls === 0 ? inputRefused(graph, request, step, reason) : runFailed(step, reason, fault);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ApiError && calls > 0 ? new GraphFailure(error, sumOfCosts(costs)) : error;
  }
}
