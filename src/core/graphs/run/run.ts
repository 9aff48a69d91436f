/**
 * A graph run on one task's input, as a pure interpreter: it says which model calls can be made now, and takes their answers.
 *
 * Invariants: a run is a value, and every answer gives a new one; evaluation goes back from the output, so a step that nothing
 * chosen needs is never run; steps that do not wait for each other are wanted at once; the same answers give the same outcome in
 * any order (of several failures the first that comes is told). Whoever makes the calls may lose its run and open another: keys
 * are the same, and answers that it has kept can be given again.
 */
import { readJson, valueProblem } from '../json-schema.js';
import { maxStepCalls, type AnswerForm, type Graph } from '../graph.js';
import { advance, keyOfCall, type Draft } from './advance.js';
import { messagesOf } from './messages.js';
import { planOf, type Plan, type Way } from '../plan.js';
import { parseVerdict } from './vote.js';
import { cutText } from '../../prompts/quote.js';
import { described, isObject, maxValueSize, sizeProblem, type Json } from '../values.js';

/** One model call, to be made with these messages. */
export interface Call {
  /** The step's id; from its second call on with a number, `solve#2`. Names the call in this run, whatever has been answered. */
  key: string;
  step: string;
  /** Put together whenever they are read: to be read when the call is made. */
  messages: readonly { role: 'system' | 'user' | 'assistant'; content: string }[];
  /** null: the job's first policy model. */
  model: string | null;
  timeoutS: number;
  /** How often it is made at most until its answer is usable. */
  tries: number;
}

/** What is known of a step in a run. */
export type StepState =
  | { at: 'idle' }
  /** Until so many of what it needs are there; a select, until the step at this place is: of a condition, or where its value is (`chosen`). */
  | { at: 'waiting'; missing: number }
  | { at: 'choosing'; needs: number; chosen: Way | null }
  | {
      at: 'asking';
      /** Of each call, whether it has no answer yet. */
      open: readonly boolean[];
      answers: readonly Json[];
      left: number;
      candidates: readonly Json[];
    }
  | { at: 'done'; value: Json };

/** `step`: null where the task's input, the graph's output or the run as a whole is at fault. */
export type Outcome =
  { status: 'running' } | { status: 'done'; value: Json } | { status: 'failed'; step: string | null; reason: string };

/** Opaque: to be asked by the functions here. */
export interface Run {
  readonly plan: Plan;
  readonly input: Json;
  readonly states: readonly StepState[];
  readonly outcome: Outcome;
  /** Of the messages of all calls that were wanted. */
  readonly chars: number;
}

/** A run of a graph on a task's input; what is wrong with the input is a failed run. Throws where the graph has problems. */
export function openRun(graph: Graph, input: Json): Run {
  const plan = planOf(graph);
  const idle: StepState = { at: 'idle' };
  const draft: Draft = { plan, input, states: plan.steps.map(() => idle), outcome: { status: 'running' }, chars: 0 };
  const reason = inputProblem(graph, input);
  if (reason !== null) return { ...draft, outcome: { status: 'failed', step: null, reason } };
  advance(draft, null);
  return draft;
}

function inputProblem({ inputs }: Graph, input: Json): string | null {
  const tooLarge = sizeProblem(input);
  if (tooLarge !== null) return `the input ${tooLarge}`;
  if (!isObject(input)) return `the input must be an object, and is ${described(input)}`;
  const missing = inputs.filter((name) => !Object.hasOwn(input, name));
  return missing.length === 0 ? null : `the input lacks ${missing.map((name) => JSON.stringify(name)).join(', ')}`;
}

/** All calls that can be made now and have no answer, in the order of the graph's steps; none once the run has an outcome. */
export function wantedCalls(run: Run): Call[] {
  if (run.outcome.status !== 'running') return [];
  const wanted: Call[] = [];
  for (const [index, state] of run.states.entries()) {
    if (state.at !== 'asking') continue;
    for (const [at, isOpen] of state.open.entries()) if (isOpen) wanted.push(callOf(run, index, at, state.candidates));
  }
  return wanted;
}

function callOf(run: Run, index: number, at: number, candidates: readonly Json[]): Call {
  const { step, prompt } = run.plan.steps[index]!;
  const { model, timeoutS, tries } = prompt!;
  return {
    ...{ key: keyOfCall(step.id, at), step: step.id, model, timeoutS, tries },
    get messages() {
      return messagesOf(run, index, at, candidates);
    },
  };
}

/** What a run has come to. */
export function outcomeOf(run: Run): Outcome {
  return run.outcome;
}

/** The value of each step that has one, by its id: for traces. */
export function valuesOf({ plan, states }: Run): Record<string, Json> {
  return Object.fromEntries(
    states.flatMap((state, index) => (state.at === 'done' ? [[plan.steps[index]!.step.id, state.value]] : [])),
  );
}

export type Answered = { run: Run } | { problem: string };

/**
 * The run with a call's answer, or why the answer is not usable: then the call may be made again. An answer to a call that has one,
 * or to a run that has an outcome, changes nothing. Throws for a key that is not, and was not, wanted.
 */
export function answerCall(run: Run, key: string, text: string): Answered {
  const { index, at } = locate(run, key);
  const state = run.states[index]!;
  if (run.outcome.status !== 'running' || state.at !== 'asking' || !state.open[at]) return { run };
  const { step } = run.plan.steps[index]!;
  const read =
    step.type === 'llm' || step.type === 'map' ? readAnswer(step.output, text) : readChoice(state.candidates, text);
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

/** The run that has failed since a call cannot be made; a run that has an outcome, or an answer to the call, stays as it is. */
export function failCall(run: Run, key: string, reason: string): Run {
  const { index, at } = locate(run, key);
  const state = run.states[index]!;
  if (run.outcome.status !== 'running' || state.at !== 'asking' || !state.open[at]) return run;
  return { ...run, outcome: { status: 'failed', step: run.plan.steps[index]!.step.id, reason } };
}

/** The step and the number, from 0 on, of a call. */
function locate({ plan, states }: Run, key: string): { index: number; at: number } {
  const [id, number = '1'] = key.split('#');
  const index = plan.indexes.get(id!);
  const state = index === undefined ? undefined : states[index];
  const at = Number(number) - 1;
  const asked =
    state?.at === 'asking' ? state.open.length : state?.at === 'done' ? maxStepCalls(plan.steps[index!]!.step) : 0;
  const isKnown = Number.isInteger(at) && at >= 0 && at < asked;
  if (index === undefined || !isKnown || key !== keyOfCall(id!, at))
    throw new Error(`no call ${JSON.stringify(cutText(key, 100))} is wanted in this run`);
  return { index, at };
}

type Read = { ok: true; value: Json } | { ok: false; problem: string };

function readAnswer(form: AnswerForm, text: string): Read {
  if ('field' in form) {
    if (text.length > maxValueSize / 2) return { ok: false, problem: `is longer than ${maxValueSize / 2} characters` };
    return { ok: true, value: { [form.field]: text } };
  }
  const read = readJson(text);
  if (!read.ok) return read;
  const problem = valueProblem(form.schema, read.value);
  return problem === null ? read : { ok: false, problem: `is not of the form wanted: ${problem}` };
}

function readChoice(candidates: readonly Json[], text: string): Read {
  const verdict = parseVerdict(text, candidates.length);
  return verdict.ok ? { ok: true, value: candidates[verdict.index]! } : verdict;
}
