/**
 * A pure interpreter of a graph: it lists the pending model calls and takes their answers.
 *
 * Invariants:
 * - A run is an immutable value; each answer returns a new run.
 * - Evaluation starts from the output, so a step that no chosen branch needs never runs.
 * - The same answers give the same outcome in any order, except that the first of several failures
 * counts.
 * - Call keys are deterministic: a caller that loses its run can give recorded answers again.
 */
import { splitThoughts } from '../../answers/thoughts.js';
import { readJsonText, valueProblem } from '../json-schema.js';
import { maxStepCalls, type AnswerForm, type Graph, type PromptMessage } from '../graph.js';
import { advance, callKey, type Draft } from './advance.js';
import { renderMessages } from './messages.js';
import { planGraph } from '../plan.js';
import type { Outcome, Run, StepState } from './state.js';
import { parseVote } from './vote.js';
import { isObject } from '../../../util/json.js';
import { describeValue, maxValueSize, sizeProblem, type Json } from '../values.js';
import { cutAfter } from '../../../util/text.js';

export interface Call {
  /** The step's id, numbered from its second call (`solve#2`). */
  key: string;
  step: string;
  /** Rendered on each access; read it when the call is made. */
  messages: readonly PromptMessage[];
  /** null: the job's first policy model. */
  model: string | null;
  timeoutS: number;
  /** Maximum calls until an answer is usable. */
  tries: number;
}

/** Starts a run; an invalid input gives a failed run. Throws if the graph is invalid. */
export function openRun(graph: Graph, input: Json): Run {
  const plan = planGraph(graph);
  const idle: StepState = { at: 'idle' };
  const draft: Draft = { plan, input, states: plan.steps.map(() => idle), outcome: { status: 'running' }, chars: 0 };
  const reason = inputProblem(graph, input);
  if (reason !== null) return { ...draft, outcome: { status: 'failed', step: null, reason } };
  advance(draft, null);
  return draft;
}

function inputProblem({ inputs }: Graph, input: Json): string | null {
  const sizeError = sizeProblem(input);
  if (sizeError !== null) return `the input ${sizeError}`;
  if (!isObject(input)) return `the input must be an object, but is ${describeValue(input)}`;
  const missing = inputs.filter((name) => !Object.hasOwn(input, name));
  return missing.length === 0 ? null : `the input lacks ${missing.map((name) => JSON.stringify(name)).join(', ')}`;
}

/** The unanswered calls that can be made now, in the order of the steps. */
export function pendingCalls(run: Run): Call[] {
  if (run.outcome.status !== 'running') return [];
  const pending: Call[] = [];
  for (const [index, state] of run.states.entries()) {
    if (state.at !== 'calling') continue;
    for (const [at, isOpen] of state.open.entries())
      if (isOpen) pending.push(buildCall(run, index, at, state.candidates));
  }
  return pending;
}

function buildCall(run: Run, index: number, at: number, candidates: readonly Json[]): Call {
  const { step, prompt } = run.plan.steps[index]!;
  const { model, timeoutS, tries } = prompt!;
  return {
    key: callKey(step.id, at),
    step: step.id,
    model,
    timeoutS,
    tries,
    get messages() {
      return renderMessages(run, index, at, candidates);
    },
  };
}

export function outcomeOf(run: Run): Outcome {
  return run.outcome;
}

/** The known step values by step id, for traces. */
export function stepValues({ plan, states }: Run): Record<string, Json> {
  return Object.fromEntries(
    states.flatMap((state, index) => (state.at === 'done' ? [[plan.steps[index]!.step.id, state.value]] : [])),
  );
}

export type AnswerResult = { run: Run } | { problem: string };

/**
 * Adds a call's answer, without its thoughts; the call may be repeated after a problem. Ignores an
 * answer to an answered call or a finished run. Throws for a key that was never pending.
 */
export function answerCall(run: Run, key: string, text: string): AnswerResult {
  const { index, at } = locateCall(run, key);
  const state = run.states[index]!;
  if (run.outcome.status !== 'running' || state.at !== 'calling' || !state.open[at]) return { run };
  const { step } = run.plan.steps[index]!;
  const { answer } = splitThoughts(text);
  const read =
    step.type === 'llm' || step.type === 'map' ? readAnswer(step.output, answer) : readVote(state.candidates, answer);
  if (!read.ok) return { problem: `the answer ${read.problem}` };
  const draft: Draft = { ...run, states: run.states.slice() };
  draft.states[index] = {
    ...state,
    open: state.open.with(at, false),
    answers: state.answers.with(at, read.value),
    left: state.left - 1,
  };
  if (state.left === 1) advance(draft, index);
  return { run: draft };
}

/** Fails the run at a call. Ignores an answered call or a finished run. */
export function failCall(run: Run, key: string, reason: string): Run {
  const { index, at } = locateCall(run, key);
  const state = run.states[index]!;
  if (run.outcome.status !== 'running' || state.at !== 'calling' || !state.open[at]) return run;
  return { ...run, outcome: { status: 'failed', step: run.plan.steps[index]!.step.id, reason } };
}

function locateCall({ plan, states }: Run, key: string): { index: number; at: number } {
  const [id, number = '1'] = key.split('#');
  const index = plan.indexes.get(id!);
  const state = index === undefined ? undefined : states[index];
  const at = Number(number) - 1;
  const requested =
    state?.at === 'calling' ? state.open.length : state?.at === 'done' ? maxStepCalls(plan.steps[index!]!.step) : 0;
  const isKnown = Number.isInteger(at) && at >= 0 && at < requested;
  if (index === undefined || !isKnown || key !== callKey(id!, at))
    throw new Error(`Call ${JSON.stringify(cutAfter(key, 100))} is not pending in this run.`);
  return { index, at };
}

type ReadResult = { ok: true; value: Json } | { ok: false; problem: string };

function readAnswer(form: AnswerForm, text: string): ReadResult {
  if ('field' in form) {
    if (text.length > maxValueSize / 2) return { ok: false, problem: `is longer than ${maxValueSize / 2} characters` };
    return { ok: true, value: { [form.field]: text } };
  }
  const read = readJsonText(text, form.schema);
  if (!read.ok) return read;
  const problem = valueProblem(form.schema, read.value);
  return problem === null ? read : { ok: false, problem: `does not match the schema: ${problem}` };
}

function readVote(candidates: readonly Json[], text: string): ReadResult {
  const vote = parseVote(text, candidates.length);
  return vote.ok ? { ok: true, value: candidates[vote.index]! } : vote;
}
