import type { Graph } from '../src/core/graph/graph.js';
import { answerCall, failCall, openRun, outcomeOf, wantedCalls, type Call, type Run } from '../src/core/graph/run.js';
import type { Json } from '../src/core/graph/values.js';
import type { Said } from './ask-model.js';

/** Calls of one run that are under way at most. */
const mostCalls = 8;

/** Why a run has failed, beside what it says itself; null: it has not, or its input is at fault. */
export interface RunFault {
  code: string;
  infrastructure: boolean;
}

/**
 * Runs a graph: every call that can be made is made at once, within bounds, as often as its step says until its answer is usable. Rejects
 * as `ask` does, once nothing is under way any more: what is paid for is recorded then.
 */
export async function driveGraph(
  graph: Graph,
  input: Json,
  ask: (call: Call, tries: number) => Promise<Said>,
): Promise<{ run: Run; fault: RunFault | null }> {
  let run = openRun(graph, input);
  let fault: RunFault | null = null;
  const thrown: unknown[] = [];
  const underWay = new Map<string, Promise<void>>();

  const fail = (call: Call, reason: string, why: RunFault) => {
    if (outcomeOf(run).status === 'running') fault = why;
    run = failCall(run, call.key, reason);
  };
  const make = async (call: Call): Promise<void> => {
    let problem = '';
    for (let tries = 0; tries < call.tries && outcomeOf(run).status === 'running'; tries += 1) {
      const said = await ask(call, tries);
      if (!said.ok) return fail(call, said.message, { code: said.code, infrastructure: said.passing });
      const answered = answerCall(run, call.key, said.text);
      if ('run' in answered) {
        ({ run } = answered);
        return;
      }
      ({ problem } = answered);
    }
    const times = call.tries === 1 ? 'The answer is' : `None of ${call.tries} answers is`;
    fail(call, `${times} usable: ${problem}`, { code: 'step_answer_unusable', infrastructure: false });
  };

  for (;;) {
    const wanted = thrown.length > 0 ? [] : wantedCalls(run).filter(({ key }) => !underWay.has(key));
    for (const call of wanted.slice(0, mostCalls - underWay.size)) {
      const made = make(call)
        .catch((error: unknown) => thrown.push(error))
        .then(() => void underWay.delete(call.key));
      underWay.set(call.key, made);
    }
    if (underWay.size === 0) break;
    await Promise.race(underWay.values());
  }
  if (thrown.length > 0) throw thrown[0];
  return { run, fault };
}
