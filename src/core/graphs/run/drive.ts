import type { Graph } from '../graph.js';
import { answerCall, failCall, openRun, outcomeOf, wantedCalls, type Call, type Run } from './run.js';
import type { Json } from '../values.js';

/** Calls of one run that are under way at most. */
const maxCalls = 8;

/** The code of a step of whose answers none can be used. */
export const unusableAnswer = 'step_answer_unusable';

/** What a model says to a call, or why it says nothing. `infrastructure`: the failure is not the doing of who asks. */
export type ModelReply =
  { ok: true; text: string } | { ok: false; code: string; message: string; infrastructure: boolean };

/** Why a run has failed, beside what it says itself; null: it has not, or its input or a step that asks nobody is at fault. */
export interface RunFault {
  code: string;
  infrastructure: boolean;
}

/** One call that the run cannot go on from. `step`: the place in the graph of the step that has failed. */
interface Failure {
  step: number;
  fault: RunFault | null;
  conclude(run: Run): Run;
}

/**
 * Runs a graph: every call that can be made is made at once, within bounds, as often as its step says until its answer is usable. Where
 * steps fail the others go on, and the first of them in the graph is told: what a run comes to, and what it teaches, does not hang
 * on which answer came first. Only what the infrastructure fails ends a run at once. `ask` gets the run as it is when it is called.
 * Rejects as `ask` does, once nothing is under way any more: what is paid for is recorded then.
 */
export async function driveGraph(
  graph: Graph,
  input: Json,
  ask: (call: Call, tries: number, run: Run) => Promise<ModelReply>,
): Promise<{ run: Run; fault: RunFault | null }> {
  let run = openRun(graph, input);
  const failures = new Map<string, Failure>();
  const thrown: unknown[] = [];
  const underWay = new Map<string, Promise<void>>();
  let isOver = false;

  const fail = ({ key, step }: Call, reason: string, fault: RunFault) => {
    failures.set(key, { step: placeOf(graph, step), fault, conclude: (at) => failCall(at, key, reason) });
    isOver ||= fault.infrastructure;
  };
  const make = async (call: Call): Promise<void> => {
    let problem = '';
    for (let tries = 0; tries < call.tries && !isOver; tries += 1) {
      const said = await ask(call, tries, run);
      if (!said.ok) {
        const { code, infrastructure } = said;
        return fail(call, said.message, { code, infrastructure });
      }
      const answered = answerCall(run, call.key, said.text);
      if ('run' in answered) return take(call, said.text, answered.run);
      ({ problem } = answered);
    }
    const times = call.tries === 1 ? 'The answer is not' : `None of ${call.tries} answers is`;
    fail(call, `${times} usable: ${problem}`, { code: unusableAnswer, infrastructure: false });
  };
  const take = ({ key }: Call, text: string, after: Run) => {
    const outcome = outcomeOf(after);
    if (outcome.status !== 'failed') {
      run = after;
      return;
    }
    const conclude = (at: Run): Run => {
      const answered = answerCall(at, key, text);
      return 'run' in answered ? answered.run : after;
    };
    failures.set(key, { step: placeOf(graph, outcome.step), fault: null, conclude });
  };

  for (;;) {
    const wanted = wantedCalls(run).filter(({ key }) => !underWay.has(key) && !failures.has(key));
    for (const call of isOver ? [] : wanted.slice(0, maxCalls - underWay.size)) {
      const made = make(call)
        .catch((error: unknown) => {
          isOver = true;
          thrown.push(error);
        })
        .then(() => void underWay.delete(call.key));
      underWay.set(call.key, made);
    }
    if (underWay.size === 0) break;
    await Promise.race(underWay.values());
  }
  if (thrown.length > 0) throw thrown[0];
  const [first] = [...failures.values()].sort((left, right) => rankOf(left) - rankOf(right));
  return first ? { run: first.conclude(run), fault: first.fault } : { run, fault: null };
}

/** What the infrastructure failed says nothing of the graph, so it comes first. */
function rankOf({ step, fault }: Failure): number {
  return fault?.infrastructure ? -1 : step;
}

/** The place of a step in the graph; of no step: behind all. */
function placeOf({ steps }: Graph, step: string | null): number {
  const at = steps.findIndex(({ id }) => id === step);
  return at < 0 ? steps.length : at;
}
