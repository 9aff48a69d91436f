import { itemName, limits, type Ref, type Step } from './graph.js';
import type { Problem } from './json-schema.js';
import { parseRef, stepRefs } from './refs.js';
import { listProblem, pathProblem } from './shapes.js';
import { cutAfter } from '../../util/text.js';

/** What refs may name. */
export interface Names {
  /** The inputs of the graph. */
  inputs: readonly string[];
  byId: ReadonlyMap<string, Step>;
}

/** Problems of a step's refs; paths are relative to the step. */
export function stepRefProblems(step: Step, names: Names): Problem[] {
  const { byId } = names;
  const item = itemName(step);
  const problems = stepRefs(step).flatMap(({ path, ref, inItem }) =>
    refProblems({ ref, path, item: inItem ? item : null }, names),
  );
  return item !== null && byId.has(item)
    ? [...problems, { path: 'as', message: `"${item}" is also the id of a step` }]
    : problems;
}

/** Problems of one ref at a path; the one at `over` names a list. `item`: the item it may name. */
export function refProblems(
  { ref, path, item }: { ref: Ref; path: string; item: string | null },
  { inputs, byId }: Names,
): Problem[] {
  const problem = (message: string) => [{ path, message }];
  const parsed = ref.length > limits.refChars ? null : parseRef(ref);
  const shown = JSON.stringify(cutAfter(ref, 100));
  if (parsed === null)
    return problem(
      `${shown} is not a ref: use a step id or "input", optionally followed by field names, such as input.question or solve.answer`,
    );
  const { head, path: way } = parsed;
  if (head === item) return [];
  if (head === 'input') {
    if (way.length === 0 || inputs.includes(way[0]!)) return [];
    return problem(`${shown} is not an input of the graph; its inputs are ${inputs.join(', ') || 'none'}`);
  }
  const step = byId.get(head);
  if (step === undefined)
    return problem(
      `${shown} refers to no step; the steps are ${[...byId.keys()].map((id) => cutAfter(id, 64)).join(', ')}`,
    );
  const wrong = pathProblem(step, way) ?? (path === 'over' && way.length === 0 ? listProblem(step) : null);
  return wrong === null ? [] : problem(`${shown} ${wrong}`);
}
