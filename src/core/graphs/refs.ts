/** Refs: whose value a step takes, where in a step they stand, and which step waits for which. */
import { fieldPattern, itemOf, promptOf, withPrompt, type Graph, type Inputs, type Ref, type Step } from './graph.js';
import { described, isObject, type Json } from './values.js';

export interface ParsedRef {
  /** `input`, the id of a step, or the name of a map's item. */
  head: string;
  path: string[];
}

/** Head and path of a ref; null where it is none. */
export function parseRef(ref: Ref): ParsedRef | null {
  const [head, ...path] = ref.split('.');
  return [head!, ...path].every((part) => fieldPattern.test(part)) ? { head: head!, path } : null;
}

/** The head of a ref, whatever else is wrong with it. */
export function headOf(ref: Ref): string {
  const end = ref.indexOf('.');
  return end < 0 ? ref : ref.slice(0, end);
}

/** The ref with another head: `solve.answer` to `check.answer`, or, for the head `check.last`, to `check.last.answer`. */
export function withHead(ref: Ref, head: Ref): Ref {
  return head + ref.slice(headOf(ref).length);
}

export type Found = { ok: true; value: Json } | { ok: false; reason: string };

/** What is at a path of a value, or why there is nothing; `ref` is what the reason calls it. */
export function valueAt(value: Json, path: readonly string[], ref: Ref): Found {
  let current = value;
  for (const name of path) {
    if (!isObject(current) || !Object.hasOwn(current, name))
      return { ok: false, reason: `${ref}: there is no "${name}" in ${described(current)}` };
    current = current[name]!;
  }
  return { ok: true, value: current };
}

export interface RefUse {
  /** Where in the step: `inputs.question`, `over`, `of[0]`, `by.judge.inputs.x`, `cases[0].when.of`, `otherwise`. */
  path: string;
  ref: Ref;
  /** Whether it may be of the item of a map. */
  inItem: boolean;
}

/** All refs of a step. */
export function refsOf(step: Step): RefUse[] {
  const refs: RefUse[] = [];
  mapRefs(step, (ref, path, inItem) => {
    refs.push({ path, ref, inItem });
    return ref;
  });
  return refs;
}

/** The step with other refs. */
export function mapRefs(step: Step, change: (ref: Ref, path: string, inItem: boolean) => Ref): Step {
  const changeInputs = (inputs: Inputs, path: string): Inputs =>
    Object.fromEntries(
      Object.entries(inputs).map(([name, ref]) => [name, change(ref, `${path}.${name}`, itemOf(step) !== null)]),
    );
  switch (step.type) {
    case 'llm':
    case 'transform':
      return { ...step, inputs: changeInputs(step.inputs, 'inputs') };
    case 'map':
      return { ...step, over: change(step.over, 'over', false), inputs: changeInputs(step.inputs, 'inputs') };
    case 'vote': {
      const judge = promptOf(step);
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

/** The heads that a step's refs have, each once; the name of a map's item, which no step has, among them. */
export function headsOf(step: Step): string[] {
  return [...new Set(refsOf(step).map(({ ref }) => headOf(ref)))];
}

/** The ids of the steps that lead to the output. */
export function usedSteps({ steps, output }: Pick<Graph, 'steps' | 'output'>): Set<string> {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const used = new Set<string>();
  const open = [headOf(output)];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const step = byId.get(id);
    if (step === undefined || used.has(id)) continue;
    used.add(id);
    open.push(...headsOf(step));
  }
  return used;
}
