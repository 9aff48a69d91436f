/** Refs: parsing them, finding them in steps, and the dependencies they make. */
import {
  fieldPattern,
  itemName,
  stepPrompt,
  withPrompt,
  type Graph,
  type Inputs,
  type Ref,
  type Step,
} from './graph.js';
import { isObject } from '../../util/json.js';
import { describeValue, type Json } from './values.js';

export interface ParsedRef {
  /** `input`, a step id, or the name of a map's item. */
  head: string;
  path: string[];
}

/** Null: the ref is invalid. */
export function parseRef(ref: Ref): ParsedRef | null {
  const [head, ...path] = ref.split('.');
  return [head!, ...path].every((part) => fieldPattern.test(part)) ? { head: head!, path } : null;
}

/** The head of any ref, valid or not. */
export function refHead(ref: Ref): string {
  const end = ref.indexOf('.');
  return end < 0 ? ref : ref.slice(0, end);
}

/** `solve.answer` becomes `check.answer`, or `check.last.answer` for the head `check.last`. */
export function withHead(ref: Ref, head: Ref): Ref {
  return head + ref.slice(refHead(ref).length);
}

export type Lookup = { ok: true; value: Json } | { ok: false; reason: string };

/** Looks up a path in a value; `ref` names it in the failure's reason. */
export function valueAt(value: Json, path: readonly string[], ref: Ref): Lookup {
  let current = value;
  for (const name of path) {
    if (!isObject(current) || !Object.hasOwn(current, name))
      return { ok: false, reason: `${ref}: there is no "${name}" in ${describeValue(current)}` };
    current = current[name]!;
  }
  return { ok: true, value: current };
}

export interface RefUse {
  /** Location in the step: `inputs.question`, `of[0]`, `by.judge.inputs.x`, `cases[0].when.of`. */
  path: string;
  ref: Ref;
  /** Whether the ref may refer to a map's item. */
  inItem: boolean;
}

export function stepRefs(step: Step): RefUse[] {
  const refs: RefUse[] = [];
  mapRefs(step, (ref, path, inItem) => {
    refs.push({ path, ref, inItem });
    return ref;
  });
  return refs;
}

export function mapRefs(step: Step, change: (ref: Ref, path: string, inItem: boolean) => Ref): Step {
  const changeInputs = (inputs: Inputs, path: string): Inputs =>
    Object.fromEntries(
      Object.entries(inputs).map(([name, ref]) => [name, change(ref, `${path}.${name}`, itemName(step) !== null)]),
    );
  switch (step.type) {
    case 'llm':
    case 'transform':
      return { ...step, inputs: changeInputs(step.inputs, 'inputs') };
    case 'map':
      return { ...step, over: change(step.over, 'over', false), inputs: changeInputs(step.inputs, 'inputs') };
    case 'vote': {
      const judge = stepPrompt(step);
      const changed = {
        ...step,
        ...(step.over === undefined ? {} : { over: change(step.over, 'over', false) }),
        ...(step.of === undefined ? {} : { of: step.of.map((ref, at) => change(ref, `of[${at}]`, false)) }),
      };
      return judge === null ? changed : withPrompt(changed, { inputs: changeInputs(judge.inputs, 'by.judge.inputs') });
    }
    case 'select':
      return {
        ...step,
        cases: step.cases.map(({ when, then }, at) => ({
          when: { ...when, of: change(when.of, `cases[${at}].when.of`, false) },
          then: change(then, `cases[${at}].then`, false),
        })),
        otherwise: change(step.otherwise, 'otherwise', false),
      };
  }
}

/** The distinct heads of a step's refs, including the name of a map's item. */
export function refHeads(step: Step): string[] {
  return [...new Set(stepRefs(step).map(({ ref }) => refHead(ref)))];
}

export function usedSteps({ steps, output }: Pick<Graph, 'steps' | 'output'>): Set<string> {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const used = new Set<string>();
  const open = [refHead(output)];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const step = byId.get(id);
    if (step === undefined || used.has(id)) continue;
    used.add(id);
    open.push(...refHeads(step));
  }
  return used;
}
