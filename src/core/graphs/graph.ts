/**
 * A graph: a directed graph without cycles of typed steps, from a task's input (a JSON object) to one output. Inside it is plain
 * data in camelCase; `json.ts` has its JSON form, `validate.ts` what is required of it.
 */
import type { Message } from '../jobs/spec.js';
import type { JsonSchema } from './json-schema.js';
import type { Json } from './values.js';

/** `input`, `input.question`, `solve`, `solve.answer.x`: whose value, and the way by dots into its objects. */
export type Ref = string;

export interface Graph {
  /** Fields that every task's input must have. */
  inputs: readonly string[];
  steps: readonly Step[];
  output: Ref;
}

export type Step = LlmStep | MapStep | VoteStep | SelectStep | TransformStep;
export type PromptMessage = Pick<Message, 'role' | 'content'>;
export type Inputs = Readonly<Record<string, Ref>>;

/** What every model call is told. */
export interface Prompt {
  inputs: Inputs;
  messages: readonly PromptMessage[];
  /** Absent or null: the job's first policy model. */
  model?: string | null;
  /** Seconds for one call. */
  timeoutS?: number;
  /** How often the call is made at most until its answer is usable. */
  tries?: number;
}

/** `field`: the value is an object with the model's text as this field. `schema`: it is the answer as JSON of this form. */
export type AnswerForm = { field: string } | { schema: JsonSchema };

/** One model call; with `samples` above 1 that many, and the value is the list of their answers. */
export interface LlmStep extends Prompt {
  id: string;
  type: 'llm';
  output: AnswerForm;
  samples?: number;
}

/** One model call for each item of a list; the value is the list of their answers, in the items' order. */
interface MapStep extends Prompt {
  id: string;
  type: 'map';
  output: AnswerForm;
  over: Ref;
  /** The item's name, in the step's refs and in its messages. */
  as: string;
  /** A longer list fails the step. */
  maxItems?: number;
}

/** One of several values: those of a list (`over`) or of several refs (`of`). */
export interface VoteStep {
  id: string;
  type: 'vote';
  over?: Ref;
  of?: readonly Ref[];
  by: 'majority' | { judge: Prompt };
}

/** The first case whose condition holds, else `otherwise`; what is not chosen is not run. */
export interface SelectStep {
  id: string;
  type: 'select';
  cases: readonly SelectCase[];
  otherwise: Ref;
}

export interface SelectCase {
  when: Condition;
  then: Ref;
}

export interface Condition {
  of: Ref;
  is: 'equals' | 'contains' | 'empty' | 'less' | 'greater';
  /** What is compared with; absent for `empty`. */
  value?: Json;
}

/** A step without a model; what each op does is said in `transform.ts`. */
export type TransformStep = { id: string; type: 'transform'; inputs: Inputs } & Transform;
export type Transform =
  | { op: 'template'; text: string }
  | { op: 'split' | 'join'; by: string }
  | { op: 'item'; index: number }
  | { op: 'between'; start: string; end: string }
  | { op: 'pluck'; path: string }
  | { op: PlainOp };
type PlainOp =
  | 'object'
  | 'list'
  | 'concat'
  | 'json_parse'
  | 'json_text'
  | 'lines'
  | 'first'
  | 'last'
  | 'count'
  | 'lower'
  | 'upper'
  | 'trim'
  | 'number'
  | 'unique'
  | 'sum'
  | 'min'
  | 'max';

/** What may stand in a graph at most. Characters, seconds and numbers as named. */
export const limits = {
  steps: 50,
  inputs: 50,
  stepInputs: 20,
  messages: 20,
  messageChars: 100_000,
  /** Of all texts of a graph. */
  graphChars: 500_000,
  /** Of the messages of one call, with the values in them. */
  callChars: 400_000,
  /** Of the messages of all calls of a run, each call's once, however often it is made. */
  runChars: 4_000_000,
  refChars: 500,
  samples: 20,
  mapItems: 100,
  voteOf: 20,
  cases: 20,
  fieldChars: 10_000,
  timeoutS: 3_600,
  tries: 10,
  calls: 500,
  /** Of a run, as `maxAttempts` counts them. */
  attempts: 1_500,
} as const;

/** What is taken where a step does not say. */
export const defaults = { timeoutS: 120, tries: 3, mapItems: 20 } as const;

/** The placeholder of a judge's messages that stands for the numbered candidates. */
export const candidatesName = 'candidates';

/** What ids of steps and names of a step's inputs are made of. */
export const namePattern = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** What a part of a ref, and with it a field of the task's input, may be. */
export const fieldPattern = /^[^.\s{}\p{Cc}]{1,100}$/u;

/** The model calls that a step makes at most in a run; a call that is asked again counts once. */
export function maxStepCalls(step: Step): number {
  if (step.type === 'llm') return step.samples ?? 1;
  if (step.type === 'map') return step.maxItems ?? defaults.mapItems;
  return promptOf(step) === null ? 0 : 1;
}

/** The model calls that a run of a graph makes at most. */
export function maxCalls({ steps }: Pick<Graph, 'steps'>): number {
  return steps.reduce((sum, step) => sum + maxStepCalls(step), 0);
}

/** The model calls that a run of a graph makes at most where no answer is usable until its last try. */
export function maxAttempts({ steps }: Pick<Graph, 'steps'>): number {
  return steps.reduce((sum, step) => sum + maxStepCalls(step) * (promptOf(step)?.tries ?? defaults.tries), 0);
}

/** The prompt of a step that asks a model, a vote's judge among them; else null. */
export function promptOf(step: Step): Prompt | null {
  if (step.type === 'llm' || step.type === 'map') return step;
  return step.type === 'vote' && step.by !== 'majority' ? step.by.judge : null;
}

/** The step with another prompt; the same step where it has none. */
export function withPrompt(step: Step, prompt: Partial<Prompt>): Step {
  if (step.type === 'llm' || step.type === 'map') return { ...step, ...prompt };
  return step.type === 'vote' && step.by !== 'majority'
    ? { ...step, by: { judge: { ...step.by.judge, ...prompt } } }
    : step;
}

/** The name that a step's own list items have; null for a step without. */
export function itemOf(step: Step): string | null {
  return step.type === 'map' ? step.as : null;
}
