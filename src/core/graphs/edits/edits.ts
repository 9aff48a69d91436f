/**
 * The edits by which the structure of a graph evolves. They are applied one after the other; what stands in the end passes
 * `graphProblems`, or nothing is changed.
 *
 * | edit      | what it does                                                                                                    |
 * | --------- | --------------------------------------------------------------------------------------------------------------- |
 * | verify    | adds `<step>_verify`: sees what the step saw and its answer, `{{draft}}`, and gives the corrected answer        |
 * | critique  | adds `<step>_critique`, which is shown `{{draft}}`, and `<step>_revise`, which is shown its `{{critique}}` too  |
 * | decompose | adds `<step>_plan` before the step, whose new messages have its answer as `{{plan}}`                            |
 * | vote      | has the step answer `samples` times, and adds `<step>_vote`                                                     |
 * | add       | adds a step as it is                                                                                            |
 * | remove    | takes a step out; who took its value takes what it was made from, where that is one thing                       |
 * | rewire    | lets an input of a step, or a place such as `over` or `cases[0].then`, take another ref; null drops an input    |
 * | model     | has another model asked                                                                                         |
 * | prompt    | gives a step other messages                                                                                     |
 * | output    | lets the graph give another value                                                                               |
 *
 * Who took the value of a verified, criticized or voted step takes that of the new one. Steps of the graph that nothing uses any
 * more go; steps that the edits add must be used. What a run costs at most is bounded, and edits set neither `tries` nor `timeout_s`. A name that is taken gets a number, `solve_verify_2`.
 */
import { addStep, critique, decompose, modelProblem, remove, rewire, verify, vote } from './steps.js';
import { changed, wrong, type Applied } from './editing.js';
import { defaults, maxAttempts, promptOf, withPrompt } from '../graph.js';
import type { Graph, PromptMessage, Ref, Step, VoteStep } from '../graph.js';
import { headOf, usedSteps } from '../refs.js';
import { graphProblems, type Problem } from '../validate.js';
import { cutText } from '../../prompts/quote.js';

/** One edit; in its JSON form steps and judges are named as there. */
export type Edit =
  | { edit: 'verify'; step: string; prompt?: string; messages?: readonly PromptMessage[] }
  | { edit: 'critique'; step: string; critique: string; revise: string }
  | { edit: 'decompose'; step: string; prompt: string; messages: readonly PromptMessage[] }
  | { edit: 'vote'; step: string; samples: number; by: VoteStep['by'] }
  | { edit: 'add'; step: Step }
  | { edit: 'remove'; step: string }
  | { edit: 'rewire'; step: string; input: string; to: Ref | null }
  | { edit: 'model'; step: string; model: string | null }
  | { edit: 'prompt'; step: string; messages: readonly PromptMessage[] }
  | { edit: 'output'; to: Ref };

export interface EditRules {
  /** Those that a step may ask for. */
  models: readonly string[];
  /** What `maxAttempts` of the edited graph may be at most. */
  maxAttempts: number;
}

/**
 * What edits may make of the first graph of a search: four times the model calls of a run, tries counted in, or 24 calls with the tries
 * that a step has where it says none. That is room for a map of the usual size, and for steps around it.
 */
export function attemptsLimit(first: Graph): number {
  return Math.max(4 * maxAttempts(first), 24 * defaults.tries);
}

export type Edited = { ok: true; graph: Graph } | { ok: false; problems: Problem[] };

/** The graph after these edits, or why not: `edits[2].step` is what a path is like. It stops at the first that cannot be applied. */
export function applyEdits(graph: Graph, edits: readonly Edit[], rules: EditRules): Edited {
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
  const problems = graphProblems(edited).map((problem) => placed(problem, edited, touched, edits));
  const attempts = maxAttempts(edited);
  if (attempts > rules.maxAttempts)
    problems.push({
      path: 'edits',
      message: `a run of the graph may make ${attempts} model calls with all tries; at most ${rules.maxAttempts} are allowed`,
    });
  return problems.length === 0 ? { ok: true, graph: edited } : { ok: false, problems };
}

/** A problem of the edited graph as one of the edit that brought it in. */
function placed(
  { path, message }: Problem,
  { steps }: Graph,
  touched: Map<string, number>,
  edits: readonly Edit[],
): Problem {
  const found = /^steps\[(\d+)\]\.?(.*)$/s.exec(path);
  const id = found === null ? undefined : steps[Number(found[1])]?.id;
  const byOutput = path === 'output' ? edits.findLastIndex(({ edit }) => edit === 'output') : -1;
  const at = id === undefined ? byOutput : (touched.get(id) ?? -1);
  const index = id === undefined ? path : `step "${cutText(id, 64)}"${found![2] === '' ? '' : `, ${found![2]}`}`;
  return { path: at < 0 ? 'edits' : `edits[${at}]`, message: `${index}: ${message}` };
}

/** The graph without those steps of before that lead neither to the output nor to a step that was added. */
function withoutUnused(graph: Graph, before: ReadonlySet<string>): Graph {
  const ids = graph.steps.map(({ id }) => id);
  // An output that leads nowhere is the fault, and not that nothing leads to it.
  if (!ids.includes(headOf(graph.output))) return graph;
  const roots = [graph.output, ...ids.filter((id) => !before.has(id))];
  const used = new Set(roots.flatMap((output) => [...usedSteps({ steps: graph.steps, output })]));
  return { ...graph, steps: graph.steps.filter(({ id }) => used.has(id)) };
}

function applyEdit(graph: Graph, edit: Edit, rules: EditRules): Applied {
  if (edit.edit === 'output') return { graph: { ...graph, output: edit.to }, touched: [] };
  if (edit.edit === 'add') return addStep(graph, edit.step, rules);
  const step = graph.steps.find(({ id }) => id === edit.step);
  if (step === undefined) return wrong('step', noStep(graph, edit.step));
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
        promptOf(step) === null
          ? wrong('step', `"${step.id}" asks no model`)
          : modelProblem(edit.model, rules, 'model');
      return problem ?? changed(graph, withPrompt(step, { model: edit.model }));
    }
    case 'prompt':
      if (promptOf(step) === null) return wrong('step', `"${step.id}" asks no model`);
      return changed(graph, withPrompt(step, { messages: edit.messages }));
  }
}

function noStep({ steps }: Graph, id: string): string {
  return `there is no step "${cutText(id, 64)}"; the steps are ${steps.map((step) => step.id).join(', ')}`;
}
