/** What refs lead to in a run, and how a run fails. */
import type { Plan, Way } from '../plan.js';
import { valueAt, type Found } from '../refs.js';
import type { StepState } from './run.js';
import type { Json } from '../values.js';

/** What of a run its values are read from. */
export interface Values {
  readonly plan: Plan;
  readonly input: Json;
  readonly states: readonly StepState[];
}

/** Ends the work on one step, or (`ofRun`) on a run as a whole; caught in `advance` alone. */
export class Failure extends Error {
  readonly ofRun: boolean;

  constructor(reason: string, ofRun: boolean) {
    super(reason);
    this.ofRun = ofRun;
  }
}

/** Ends the work on a step. */
export function fail(reason: string): never {
  throw new Failure(reason, false);
}

/** What a ref leads to; fails the step where that is nothing. */
export function resolve(values: Values, way: Way, item?: Json): Json {
  return read(find(values, way, item));
}

/** What was found; fails the step where that is nothing. */
export function read(found: Found): Json {
  return found.ok ? found.value : fail(found.reason);
}

/** What a ref leads to, if anything; the step that it is of has its value. */
export function find({ input, states }: Values, { from, path, ref }: Way, item: Json = null): Found {
  if (from === 'input') return valueAt(input, path, ref);
  if (from === 'item') return valueAt(item, path, ref);
  const state = states[from]!;
  if (state.at !== 'done') throw new Error(`${ref} is read before its step has a value`);
  return valueAt(state.value, path, ref);
}
