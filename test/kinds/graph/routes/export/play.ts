/** Reference runs of the interpreter. */
import type { Graph } from '../../../../../src/core/graphs/graph.js';
import { usedSteps } from '../../../../../src/core/graphs/refs.js';
import {
  answerCall,
  failCall,
  openRun,
  outcomeOf,
  pendingCalls,
  type Call,
} from '../../../../../src/core/graphs/run/run.js';
import type { Json } from '../../../../../src/core/graphs/values.js';

/** The answers to each call by its key, the last one repeated; null: no answer. */
export type Answers = Readonly<Record<string, readonly (string | null)[]>>;
/** The answer to a call; `tried`: the number of the try, from 1 on. */
export type Answerer = (call: Call, tried: number) => string | null;

export function byKey(answers: Answers, otherwise = 'ok'): Answerer {
  return ({ key }, tried) => {
    const given = answers[key] ?? [otherwise];
    return given[Math.min(tried, given.length) - 1]!;
  };
}

/** Outcome on a JSON input, calls and requested keys; the call `first` is answered first. */
export function play(graph: Graph, input: string, answer: Answerer, first?: string) {
  let run = openRun(graph, JSON.parse(input) as Json);
  const calls: Record<string, Omit<Call, 'key'> & { tried: number }> = {};
  const keys = new Set<string>();
  for (let wanted = pendingCalls(run); wanted.length > 0; wanted = pendingCalls(run)) {
    for (const { key } of wanted) keys.add(key);
    const next = wanted.find(({ key }) => key === first) ?? wanted[0]!;
    const { key, ...call } = next;
    let last = '';
    for (let tried = 1; tried <= call.tries; tried++) {
      calls[key] = { ...call, tried };
      const text = answer(next, tried);
      const answered = text === null ? null : answerCall(run, key, text);
      if (answered === null) run = failCall(run, key, 'the line is dead');
      else if ('run' in answered) run = answered.run;
      else last = answered.problem;
      if (answered === null || 'run' in answered) break;
      const reason = `no usable answer in ${tried} ${tried === 1 ? 'try' : 'tries'}: ${last}`;
      if (tried === call.tries) run = failCall(run, key, reason);
    }
  }
  return { outcome: outcomeOf(run), calls, keys };
}

/** Possible outcomes of a step requested alone: any of several failing calls may be reported. */
export function outcomesAt(graph: Graph, step: string, input: string, answer: Answerer) {
  const used = usedSteps({ steps: graph.steps, output: step });
  const part = { ...graph, steps: graph.steps.filter(({ id }) => used.has(id)), output: step };
  const { outcome, keys } = play(part, input, answer);
  return [outcome, ...[...keys].map((first) => play(part, input, answer, first).outcome)];
}
