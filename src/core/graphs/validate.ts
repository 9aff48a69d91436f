/** Validation of a graph. Reports all problems at once, each with its path. */
import { fieldPattern, limits, maxAttempts, maxCalls, namePattern, type Graph, type Step } from './graph.js';
import type { Problem } from './json-schema.js';
import { refProblems, stepRefProblems } from './ref-problems.js';
import { refHeads, usedSteps } from './refs.js';
import { nameRule, stepProblems } from './step-problems.js';
import { sizeProblem, type Json } from './values.js';
import { cutAfter } from '../../util/text.js';

export type { Problem };

/** All problems of a graph that matches its zod schema; empty for a valid graph. */
export function graphProblems(graph: Graph): Problem[] {
  const sizeError = sizeProblem(graph as unknown as Json, limits.graphChars);
  if (sizeError !== null) return [{ path: '', message: `the graph ${sizeError}` }];
  const { inputs, steps, output } = graph;
  if (steps.length < 1 || steps.length > limits.steps)
    return [{ path: 'steps', message: `must hold 1 to ${limits.steps} steps, but holds ${steps.length}` }];
  const problems: Problem[] = [...inputProblems(inputs), ...idProblems(steps)];
  const names = { inputs, byId: new Map(steps.map((step) => [step.id, step])) };
  for (const [at, step] of steps.entries()) {
    const found = [...stepProblems(step), ...stepRefProblems(step, names)];
    problems.push(...found.map(({ path, message }) => ({ path: `steps[${at}].${path}`, message })));
  }
  problems.push(
    ...refProblems({ ref: output, path: 'output', item: null }, names),
    ...cycleProblems(steps),
    ...unusedProblems(graph),
  );
  const refuse = (message: string) => [...problems, { path: 'steps', message }];
  const [calls, attempts] = [maxCalls(graph), maxAttempts(graph)];
  if (calls > limits.calls) return refuse(`may make ${calls} model calls per run; at most ${limits.calls} are allowed`);
  if (attempts > limits.attempts)
    return refuse(`may make ${attempts} model calls per run with all tries; at most ${limits.attempts} are allowed`);
  return problems;
}

function inputProblems(inputs: readonly string[]): Problem[] {
  const problems: Problem[] = [];
  const report = (path: string, message: string) => problems.push({ path, message });
  if (inputs.length > limits.inputs)
    report('inputs', `must hold at most ${limits.inputs} names, but holds ${inputs.length}`);
  for (const [at, name] of inputs.entries()) {
    const path = `inputs[${at}]`;
    if (!fieldPattern.test(name)) report(path, 'must be 1 to 100 characters without dots, braces or white space');
    if (inputs.indexOf(name) !== at) report(path, `repeats the name "${name}"`);
  }
  return problems;
}

function idProblems(steps: readonly Step[]): Problem[] {
  const problems: Problem[] = [];
  const first = new Map<string, number>();
  for (const [at, { id }] of steps.entries()) {
    const path = `steps[${at}].id`;
    if (!namePattern.test(id)) problems.push({ path, message: nameRule });
    if (id === 'input') problems.push({ path, message: 'must not be "input", which names the task input' });
    const before = first.get(id);
    if (before === undefined) first.set(id, at);
    else problems.push({ path, message: `"${cutAfter(id, 64)}" is already the id of steps[${before}]` });
  }
  return problems;
}

/** One problem for each cycle found by a depth-first search from the first step. */
function cycleProblems(steps: readonly Step[]): Problem[] {
  const at = new Map(steps.map(({ id }, index) => [id, index]));
  const heads = steps.map(refHeads);
  const state = new Map<number, 'open' | 'done'>();
  const visiting: number[] = [];
  const problems: Problem[] = [];
  const visit = (index: number): void => {
    state.set(index, 'open');
    visiting.push(index);
    for (const head of heads[index]!) {
      const next = at.get(head);
      if (next === undefined || state.get(next) === 'done') continue;
      if (state.get(next) === undefined) visit(next);
      else {
        const cycle = [...visiting.slice(visiting.indexOf(next)), next].map((index) => steps[index]!.id);
        const message = `is in a cycle (each step takes the next): ${cycle.join(' -> ')}`;
        problems.push({ path: `steps[${next}]`, message });
      }
    }
    visiting.pop();
    state.set(index, 'done');
  };
  for (const index of steps.keys()) if (state.get(index) === undefined) visit(index);
  return problems;
}

function unusedProblems(graph: Graph): Problem[] {
  const used = usedSteps(graph);
  return graph.steps.flatMap(({ id }, at) => {
    const message = `"${cutAfter(id, 64)}" is unused: the output does not depend on it`;
    return used.has(id) ? [] : [{ path: `steps[${at}]`, message }];
  });
}
