import type { ResolvedRef } from '../plan.js';
import { valueAt, type Lookup } from '../refs.js';
import type { Run } from './state.js';
import type { Json } from '../values.js';

/** What refs of a run resolve to. */
export type RunValues = Pick<Run, 'plan' | 'input' | 'states'>;

/** Fails one step, or with `failsRun` the whole run; caught in `advance` only. */
export class Failure extends Error {
  readonly failsRun: boolean;

  constructor(reason: string, failsRun: boolean) {
    super(reason);
    this.failsRun = failsRun;
  }
}

export function fail(reason: string): never {
  throw new Failure(reason, false);
}

export function resolveValue(values: RunValues, ref: ResolvedRef, item?: Json): Json {
  return unwrap(lookUp(values, ref, item));
}

/** The value; fails the step if there is none. */
export function unwrap(found: Lookup): Json {
  return found.ok ? found.value : fail(found.reason);
}

/** Looks up a ref, if its path exists; the step it refers to must have a value. */
export function lookUp({ input, states }: RunValues, { from, path, ref }: ResolvedRef, item: Json = null): Lookup {
  if (from === 'input') return valueAt(input, path, ref);
  if (from === 'item') return valueAt(item, path, ref);
  const state = states[from]!;
  if (state.at !== 'done') throw new Error(`Ref ${ref} was resolved before its step has a value.`);
  return valueAt(state.value, path, ref);
}
