/** A scorer is one record: its file defines it, `table.ts` lists it, everybody else looks it up. */
import type { z } from 'zod';
import type { Rubric } from '../contracts/rubric.js';
import type { PolicySpec } from '../core/jobs/policy.js';
import type { Criterion, Verification } from '../core/verify/verification.js';
import type { ScorerForm } from './form.js';

/** An object whose `type` is one literal. */
export type RequestSchema = z.ZodType<{ type: string }> & {
  shape: Readonly<Record<string, z.ZodType>> & { type: { value: string } };
};

interface Definition<Schema extends RequestSchema, Settings extends object> {
  /** The scorer in requests; its `type` names it. */
  schema: Schema;
  /** What a job stores beside the type, with all defaults. */
  settings(request: z.output<Schema>, defaultProvider: string): Settings;
  /** In a few words: the reward, and what happens to the expected value. */
  reward: string;
  expected: string;
  form: ScorerForm;
}

/** Scores by comparing with an expected value. */
export interface ComparingScorer<
  Schema extends RequestSchema = RequestSchema,
  Settings extends object = object,
> extends Definition<Schema, Settings> {
  /** Absent: required. */
  expectedUse?(settings: Settings): ExpectedUse;
  /** Why it cannot compare with an expected value, as a predicate, or null. */
  problem(settings: Settings, expected: unknown): string | null;
  /** Requires an expected value without a problem; undefined: none, where it is optional. */
  score(settings: Settings, expected: unknown, output: unknown): Verification;
  /** A list is a right answer itself, besides its items; or an object is one, whatever its form. */
  rightAnswer?: 'list' | 'object';
}

type ExpectedUse = 'required' | 'optional' | 'unused';

/** Scores by a call that a runner in `activities/datasets/score.ts` makes. */
export interface CallingScorer<
  Schema extends RequestSchema = RequestSchema,
  Settings extends object = object,
> extends Definition<Schema, Settings> {
  call(settings: Settings): ScoringCall;
  /** What only the service can check of a field; message null: nothing is wrong. */
  check(settings: Settings, checks: ServiceChecks): { field: string; message: string | null };
}

/** A judge of graph outputs, which no row has. */
export interface JudgedVerifier {
  type: string;
  /** By the rubric of the task, else by its gold output. */
  readsRubric: boolean;
  /** Gold outputs of other tasks that the judge sees. */
  examples: number;
  criteria(rubric: Rubric | null): readonly Criterion[];
}

/** `timeoutS` null: that of the rollout. */
export type ScoringCall =
  | { runner: 'judge'; judge: PolicySpec; criteria: readonly Criterion[] }
  | { runner: 'sandbox'; code: string }
  | { runner: 'url'; url: string; timeoutS: number | null };

/** Each answers why a value is refused, as a predicate, or null. */
export interface ServiceChecks {
  url(url: string): string | null;
  javascript(code: string): string | null;
  /** Of a provider that the policy does not have. */
  provider(name: string): string | null;
}

export type Scorer<Schema extends RequestSchema = RequestSchema, Settings extends object = object> =
  ComparingScorer<Schema, Settings> | CallingScorer<Schema, Settings>;

/** What a job stores of a scorer. */
export type SpecOf<S> =
  S extends Definition<infer Schema, infer Settings> ? { type: z.output<Schema>['type'] } & Settings : never;

/** A form names fields of the request only. */
interface FormOf<Schema extends RequestSchema> {
  form: ScorerForm<Exclude<keyof Schema['shape'] & string, 'type'>>;
}

/** Infers the types of a record. */
export const comparing = <Schema extends RequestSchema, Settings extends object>(
  scorer: ComparingScorer<Schema, Settings> & FormOf<Schema>,
): ComparingScorer<Schema, Settings> => scorer;

/** The same for one that calls. */
export const calling = <Schema extends RequestSchema, Settings extends object>(
  scorer: CallingScorer<Schema, Settings> & FormOf<Schema>,
): CallingScorer<Schema, Settings> => scorer;

export const typeOf = ({ schema }: { schema: RequestSchema }): string => schema.shape.type.value;
