/**
 * An acyclic graph of typed steps, from a task's input (a JSON object) to one output. `json.ts` has
 * the JSON form, `validate.ts` the rules.
 */
import type { PlainOp } from '../../kinds/graph/contract/graph.js';
import type { Message } from '../prompts/message.js';
import type { JsonSchema } from './json-schema.js';
import type { Json } from './values.js';

/** A value's source with a path into its objects: `input`, `input.question`, `solve.answer.x`. */
export type Ref = string;

export interface Graph {
  /** Fields required in every task's input. */
  inputs: readonly string[];
  steps: readonly Step[];
  output: Ref;
}

export type Step = LlmStep | MapStep | VoteStep | SelectStep | TransformStep;
export type PromptMessage = Pick<Message, 'role' | 'content'>;
export type Inputs = Readonly<Record<string, Ref>>;

export interface Prompt {
  inputs: Inputs;
  messages: readonly PromptMessage[];
  /** Absent or null: the job's first policy model. */
  model?: string | null;
  /** Seconds per call. */
  timeoutS?: number;
  /** Maximum calls until an answer is usable. */
  tries?: number;
}

/** `field`: an object with the model's text in this field; `schema`: the answer parsed as JSON. */
export type AnswerForm = { field: string } | { schema: JsonSchema };

/** One model call; with `samples` above 1, that many calls and a list of answers. */
export interface LlmStep extends Prompt {
  id: string;
  type: 'llm';
  output: AnswerForm;
  samples?: number;
}

/** One model call per list item; the value is the list of answers in the items' order. */
interface MapStep extends Prompt {
  id: string;
  type: 'map';
  output: AnswerForm;
  over: Ref;
  /** The item's name in the step's refs and messages. */
  as: string;
  /** A longer list fails the step. */
  maxItems?: number;
}

/** Chooses one of several values: items of a list (`over`) or refs (`of`). */
export interface VoteStep {
  id: string;
  type: 'vote';
  over?: Ref;
  of?: readonly Ref[];
  by: 'majority' | { judge: Prompt };
}

/** Takes the first case whose condition holds, else `otherwise`. Unchosen branches do not run. */
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
  /** The operand; absent for `empty`. */
  value?: Json;
}

/** A step without a model; ops.ts documents the ops. */
export type TransformStep = { id: string; type: 'transform'; inputs: Inputs } & Transform;
export type Transform =
  | { op: 'template'; text: string }
  | { op: 'split' | 'join'; by: string }
  | { op: 'item'; index: number }
  | { op: 'between'; start: string; end: string }
  | { op: 'pluck'; path: string }
  | { op: PlainOp };

/** Upper limits of a graph, in characters, seconds or counts as named. */
export const limits = {
  steps: 50,
  inputs: 50,
  stepInputs: 20,
  messages: 20,
  messageChars: 100_000,
  /** All texts of a graph. */
  graphChars: 500_000,
  /** The rendered messages of one call. */
  callChars: 400_000,
  /** The rendered messages of all calls of a run; a repeated call counts once. */
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
  /** Model calls of a run, as `maxAttempts` counts them. */
  attempts: 1_500,
} as const;

export const defaults = { timeoutS: 120, tries: 3, mapItems: 20 } as const;

/** The placeholder for the numbered candidates in a judge's messages. */
export const candidatesName = 'candidates';

export const namePattern = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** Valid parts of a ref, hence also field names of a task's input. */
export const fieldPattern = /^[^.\s{}\p{Cc}]{1,100}$/u;

/** Maximum model calls of a step in a run; a repeated call counts once. */
export function maxStepCalls(step: Step): number {
  if (step.type === 'llm') return step.samples ?? 1;
  if (step.type === 'map') return step.maxItems ?? defaults.mapItems;
  return stepPrompt(step) === null ? 0 : 1;
}

export function maxCalls({ steps }: Pick<Graph, 'steps'>): number {
  return steps.reduce((sum, step) => sum + maxStepCalls(step), 0);
}

/** Maximum model calls of a run with every call made `tries` times. */
export function maxAttempts({ steps }: Pick<Graph, 'steps'>): number {
  return steps.reduce((sum, step) => sum + maxStepCalls(step) * (stepPrompt(step)?.tries ?? defaults.tries), 0);
}

/** The prompt of a step or of a vote's judge; null for a step without a model. */
export function stepPrompt(step: Step): Prompt | null {
  if (step.type === 'llm' || step.type === 'map') return step;
  return step.type === 'vote' && step.by !== 'majority' ? step.by.judge : null;
}

/** Changes a step's prompt; returns the same step if it has none. */
export function withPrompt(step: Step, prompt: Partial<Prompt>): Step {
  if (step.type === 'llm' || step.type === 'map') return { ...step, ...prompt };
  return step.type === 'vote' && step.by !== 'majority'
    ? { ...step, by: { judge: { ...step.by.judge, ...prompt } } }
    : step;
}

/** The name of a map's item; null for other steps. */
export function itemName(step: Step): string | null {
  return step.type === 'map' ? step.as : null;
}
