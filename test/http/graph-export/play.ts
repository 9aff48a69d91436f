/** Runs by the interpreter, which those by run.py are compared with. */
import type { Graph } from '../../../src/core/graph/graph.js';
import { usedSteps } from '../../../src/core/graph/refs.js';
import { answerCall, failCall, openRun, outcomeOf, wantedCalls, type Call } from '../../../src/core/graph/run.js';
import type { Json } from '../../../src/core/graph/values.js';

/** The texts answered to each call by its key, the last one again and again; null: no answer. */
export type Answers = Readonly<Record<string, readonly (string | null)[]>>;
/** What is answered to a call; `tried`: the how-manieth time, from 1 on. */
export type Answerer = (call: Call, tried: number) => string | null;

export function byKey(answers: Answers, otherwise = 'ok'): Answerer {
  return ({ key }, tried) => {
    const given = answers[key] ?? [otherwise];
    return given[Math.min(tried, given.length) - 1]!;
  };
}

/** The outcome on an input, which is JSON, and the calls made; they are answered in the order in which they are wanted. */
export function play(graph: Graph, input: string, answer: Answerer) {
  let run = openRun(graph, JSON.parse(input) as Json);
  const calls: Record<string, Omit<Call, 'key'> & { tried: number }> = {};
  for (let [wanted] = wantedCalls(run); wanted !== undefined; [wanted] = wantedCalls(run)) {
    const { key, ...call } = wanted;
    let last = '';
    for (let tried = 1; tried <= call.tries; tried++) {
      calls[key] = { ...call, tried };
      const text = answer(wanted, tried);
      const answered = text === null ? null : answerCall(run, key, text);
      if (answered === null) run = failCall(run, key, 'the line is dead');
      else if ('run' in answered) run = answered.run;
      else last = answered.problem;
      if (answered === null || 'run' in answered) break;
      const reason = `no usable answer in ${tried} ${tried === 1 ? 'try' : 'tries'}: ${last}`;
      if (tried === call.tries) run = failCall(run, key, reason);
    }
  }
  return { outcome: outcomeOf(run), calls };
}

/** What comes of a step when it alone is asked for: of several that fail any may be told, so that each is looked at by itself. */
export function failureAt(graph: Graph, step: string, input: string, answer: Answerer) {
  const used = usedSteps({ steps: graph.steps, output: step });
  const part = { ...graph, steps: graph.steps.filter(({ id }) => used.has(id)), output: step };
  return play(part, input, answer).outcome;
}
