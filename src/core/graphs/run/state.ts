/** The state of a graph's run. */
import type { Plan, ResolvedRef } from '../plan.js';
import type { Json } from '../values.js';

export type StepState =
  | { at: 'idle' }
  /** `missing`: dependencies without a value. A select waits for a condition or a branch. */
  | { at: 'waiting'; missing: number }
  | { at: 'choosing'; waitsFor: number; chosen: ResolvedRef | null }
  | {
      at: 'calling';
      /** For each call, whether its answer is missing. */
      open: readonly boolean[];
      answers: readonly Json[];
      left: number;
      candidates: readonly Json[];
    }
  | { at: 'done'; value: Json };

/** `step`: null if the input, the output or the whole run failed. */
export type Outcome =
  { status: 'running' } | { status: 'done'; value: Json } | { status: 'failed'; step: string | null; reason: string };

/** Opaque; use the functions of `run.ts`. */
export interface Run {
  readonly plan: Plan;
  readonly input: Json;
  readonly states: readonly StepState[];
  readonly outcome: Outcome;
  /** Characters of the messages of all requested calls. */
  readonly chars: number;
}
