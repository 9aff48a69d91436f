import type { Graph } from '../graph.js';
import { answerCall, failCall, openRun, outcomeOf, pendingCalls, type Call } from './run.js';
import type { Run } from './state.js';
import type { Json } from '../values.js';

/** Maximum concurrent calls of one run. */
const maxCalls = 8;

/** Error code of a step without a usable answer. */
export const unusableAnswer = 'step_answer_unusable';

/** `infrastructure`: neither the graph nor the request caused the failure. */
export type ModelReply =
  { ok: true; text: string } | { ok: false; code: string; message: string; infrastructure: boolean };

/** Why a run failed; null if its input or a step without a model failed. */
export interface RunFault {
  code: string;
  infrastructure: boolean;
}

/** A call that ends the run. `step` is the failed step's index. */
interface CallFailure {
  step: number;
  fault: RunFault | null;
  applyTo(run: Run): Run;
}

/**
 * Runs a graph: all pending calls concurrently, up to `maxCalls`, each at most `tries` times until
 * its answer is usable.
 *
 * After a failed step the others continue, and the first failed step in the graph's order is
 * reported, so the outcome does not depend on the order of answers. Only an infrastructure failure
 * stops the run early. Rejects once no call is in flight, so that all paid calls are recorded.
 */
export async function driveGraph(
  graph: Graph,
  input: Json,
  callModel: (call: Call, tries: number, run: Run) => Promise<ModelReply>,
): Promise<{ run: Run; fault: RunFault | null }> {
  let run = openRun(graph, input);
  const failures = new Map<string, CallFailure>();
  const errors: unknown[] = [];
  const inFlight = new Map<string, Promise<void>>();
  let isStopped = false;

  const fail = ({ key, step }: Call, reason: string, fault: RunFault) => {
    failures.set(key, { step: stepIndex(graph, step), fault, applyTo: (current) => failCall(current, key, reason) });
    isStopped ||= fault.infrastructure;
  };
  const execute = async (call: Call): Promise<void> => {
    let problem = '';
    for (let tries = 0; tries < call.tries && !isStopped; tries += 1) {
      const reply = await callModel(call, tries, run);
      if (!reply.ok) {
        const { code, infrastructure } = reply;
        return fail(call, reply.message, { code, infrastructure });
      }
      const result = answerCall(run, call.key, reply.text);
      if ('run' in result) return acceptAnswer(call, reply.text, result.run);
      ({ problem } = result);
    }
    const times = call.tries === 1 ? 'The answer is not' : `None of ${call.tries} answers is`;
    fail(call, `${times} usable: ${problem}`, { code: unusableAnswer, infrastructure: false });
  };
  const acceptAnswer = ({ key }: Call, text: string, after: Run) => {
    const outcome = outcomeOf(after);
    if (outcome.status !== 'failed') {
      run = after;
      return;
    }
    const applyTo = (current: Run): Run => {
      const result = answerCall(current, key, text);
      return 'run' in result ? result.run : after;
    };
    failures.set(key, { step: stepIndex(graph, outcome.step), fault: null, applyTo });
  };

  for (;;) {
    const pending = pendingCalls(run).filter(({ key }) => !inFlight.has(key) && !failures.has(key));
    for (const call of isStopped ? [] : pending.slice(0, maxCalls - inFlight.size)) {
      const made = execute(call)
        .catch((error: unknown) => {
          isStopped = true;
          errors.push(error);
        })
        .then(() => void inFlight.delete(call.key));
      inFlight.set(call.key, made);
    }
    if (inFlight.size === 0) break;
    await Promise.race(inFlight.values());
  }
  if (errors.length > 0) throw errors[0];
  const [first] = [...failures.values()].sort((left, right) => failureRank(left) - failureRank(right));
  return first ? { run: first.applyTo(run), fault: first.fault } : { run, fault: null };
}

/** Infrastructure failures come first: they say nothing about the graph. */
function failureRank({ step, fault }: CallFailure): number {
  return fault?.infrastructure ? -1 : step;
}

/** A step's index in the graph; behind all steps for null. */
function stepIndex({ steps }: Graph, step: string | null): number {
  const current = steps.findIndex(({ id }) => id === step);
  return current < 0 ? steps.length : current;
}
