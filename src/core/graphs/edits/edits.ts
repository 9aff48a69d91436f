/**
 * Structural edits of a graph, applied in order. If the result does not pass `graphProblems`, all
 * edits are rejected.
 *
 * | edit      | effect                                                                            |
 * | --------- | --------------------------------------------------------------------------------- |
 * | verify    | adds `<step>_verify`: it gets the inputs and `{{draft}}`, and answers anew        |
 * | critique  | adds `<step>_critique` of `{{draft}}`, then `<step>_revise` with `{{critique}}`   |
 * | decompose | adds `<step>_plan` before the step; its new messages contain `{{plan}}`           |
 * | vote      | makes the step answer `samples` times, and adds `<step>_vote`                     |
 * | add       | adds a step unchanged                                                             |
 * | remove    | removes a step; its users take its own source, if it has exactly one              |
 * | rewire    | changes a ref (an input, `over`, `cases[0].then`); null drops an input            |
 * | model     | changes the step's model                                                          |
 * | prompt    | replaces the step's messages                                                      |
 * | output    | changes the graph's output                                                        |
 *
 * Users of a verified, criticized or voted step take the value of the new step. Steps that become
 * unused are removed; added steps must be used. Edits cannot set `tries` or `timeout_s`. A name
 * that is taken gets a number (`solve_verify_2`).
 */
import { addStep, critique, decompose, modelProblem, remove, rewire, verify, vote } from './steps.js';
import { replaceStep, invalid, type Edit, type EditResult, type EditRules } from './editing.js';
import { defaults, maxAttempts, stepPrompt, withPrompt } from '../graph.js';
import type { Graph } from '../graph.js';
import { refHead, usedSteps } from '../refs.js';
import { graphProblems, type Problem } from '../validate.js';
import { cutAfter } from '../../../util/text.js';

/**
 * The limit on model calls of an edited graph's run, tries included: room for a map of the usual
 * size and steps around it.
 */
export function attemptsLimit(first: Graph): number {
  return Math.max(4 * maxAttempts(first), 24 * defaults.tries);
}

export type EditsResult = { ok: true; graph: Graph } | { ok: false; problems: Problem[] };

/** Applies edits; stops at the first that fails. A problem's path is like `edits[2].step`. */
export function applyEdits(graph: Graph, edits: readonly Edit[], rules: EditRules): EditsResult {
  const touched = new Map<string, number>();
  let edited = graph;
  for (const [at, edit] of edits.entries()) {
    const applied = applyEdit(edited, edit, rules);
    if ('message' in applied) {
      const path = applied.at === '' ? `edits[${at}]` : `edits[${at}].${applied.at}`;
      return { ok: false, problems: [{ path, message: applied.message }] };
    }
    edited = applied.graph;
    for (const id of applied.touched) touched.set(id, at);
  }
  if (edits.length > 0) edited = withoutUnused(edited, new Set(graph.steps.map(({ id }) => id)));
  const problems = graphProblems(edited).map((problem) => attributeProblem(problem, edited, touched, edits));
  const attempts = maxAttempts(edited);
  if (attempts > rules.maxAttempts)
    problems.push({
      path: 'edits',
      message: `may make ${attempts} model calls per run with all tries; at most ${rules.maxAttempts} are allowed`,
    });
  return problems.length === 0 ? { ok: true, graph: edited } : { ok: false, problems };
}

function attributeProblem(
  { path, message }: Problem,
  { steps }: Graph,
  touched: Map<string, number>,
  edits: readonly Edit[],
): Problem {
  const found = /^steps\[(\d+)\]\.?(.*)$/s.exec(path);
  const id = found === null ? undefined : steps[Number(found[1])]?.id;
  const byOutput = path === 'output' ? edits.findLastIndex(({ edit }) => edit === 'output') : -1;
  const at = id === undefined ? byOutput : (touched.get(id) ?? -1);
  const index = id === undefined ? path : `step "${cutAfter(id, 64)}"${found![2] === '' ? '' : `, ${found![2]}`}`;
  return { path: at < 0 ? 'edits' : `edits[${at}]`, message: `${index}: ${message}` };
}

/** Removes the original steps that neither the output nor an added step depends on. */
function withoutUnused(graph: Graph, before: ReadonlySet<string>): Graph {
  const ids = graph.steps.map(({ id }) => id);
  // An output that refers to no step is the fault to report, not the unused steps.
  if (!ids.includes(refHead(graph.output))) return graph;
  const roots = [graph.output, ...ids.filter((id) => !before.has(id))];
  const used = new Set(roots.flatMap((output) => [...usedSteps({ steps: graph.steps, output })]));
  return { ...graph, steps: graph.steps.filter(({ id }) => used.has(id)) };
}

function applyEdit(graph: Graph, edit: Edit, rules: EditRules): EditResult {
  if (edit.edit === 'output') return { graph: { ...graph, output: edit.to }, touched: [] };
  if (edit.edit === 'add') return addStep(graph, edit.step, rules);
  const step = graph.steps.find(({ id }) => id === edit.step);
  if (step === undefined) return invalid('step', unknownStepMessage(graph, edit.step));
  switch (edit.edit) {
    case 'verify':
      return verify(graph, step, edit);
    case 'critique':
      return critique(graph, step, edit);
    case 'decompose':
      return decompose(graph, step, edit);
    case 'vote':
      return vote(graph, step, edit, rules);
    case 'remove':
      return remove(graph, step);
    case 'rewire':
      return rewire(graph, step, edit.input, edit.to);
    case 'model': {
      const problem =
        stepPrompt(step) === null
          ? invalid('step', `"${step.id}" asks no model`)
          : modelProblem(edit.model, rules, 'model');
      return problem ?? replaceStep(graph, withPrompt(step, { model: edit.model }));
    }
    case 'prompt':
      if (stepPrompt(step) === null) return invalid('step', `"${step.id}" asks no model`);
      return replaceStep(graph, withPrompt(step, { messages: edit.messages }));
  }
}

function unknownStepMessage({ steps }: Graph, id: string): string {
  return `there is no step "${cutAfter(id, 64)}"; the steps are ${steps.map((step) => step.id).join(', ')}`;
}
