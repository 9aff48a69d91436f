/** What each edit does; the table is in `edits.ts`. */
import { defaultVerify } from './texts.js';
import { changed, follow, idsOf, lacks, llm, moveUsers, user, withoutSamples, wrong, type Applied } from './editing.js';
import { answerRef, choicesOf, draftOf, freeName, sameForm, withInputs } from '../drafts.js';
import type { Edit, EditRules } from './edits.js';
import {
  itemOf,
  limits,
  promptOf,
  withPrompt,
  type Graph,
  type Inputs,
  type Prompt,
  type Ref,
  type Step,
} from '../graph.js';
import { headOf, headsOf, mapRefs, refsOf, withHead } from '../refs.js';
import { cutText } from '../../prompts/quote.js';

/** Why a model may not be asked for; undefined where it may. */
export function modelProblem(model: string | null | undefined, { models }: EditRules, at: string) {
  if (model === null || model === undefined || models.includes(model)) return undefined;
  return wrong(at, `"${cutText(model, 100)}" is no model of this job; its models are ${models.join(', ')}`);
}

/** Why a prompt may not be part of an edit: how often and how long a model is asked is for whoever pays; undefined where it may. */
function settingsProblem(prompt: Prompt | null, at: string) {
  const set = prompt?.tries !== undefined ? 'tries' : prompt?.timeoutS !== undefined ? 'timeout_s' : null;
  return set === null ? undefined : wrong(`${at}.${set}`, 'is not for an edit to set: leave it out');
}

/** What is wrong with a prompt that an edit brings in; undefined where nothing is. */
function promptProblem(prompt: Prompt | null, rules: EditRules, at: string) {
  return modelProblem(prompt?.model, rules, `${at}.model`) ?? settingsProblem(prompt, at);
}

export function verify(graph: Graph, step: Step, { prompt, messages: given }: Edit & { edit: 'verify' }): Applied {
  if (prompt !== undefined && given !== undefined) return wrong('messages', 'give either prompt or messages');
  const found = draftOf(graph, step.id);
  if (!found.ok) return wrong('step', found.message);
  const { form } = found.draft;
  const inputs = withInputs(found.draft.inputs, { draft: answerRef(step.id, form) });
  const messages = given ?? user(prompt ?? defaultVerify(Object.keys(inputs), form));
  const problem = lacks(messages, 'draft', given === undefined ? 'prompt' : 'messages');
  const id = freeName(`${step.id}_verify`, idsOf(graph));
  return problem ?? follow(graph, step.id, [llm(id, { ...found.draft, inputs }, messages, form)]);
}

export function critique(graph: Graph, step: Step, edit: Edit & { edit: 'critique' }): Applied {
  const found = draftOf(graph, step.id);
  if (!found.ok) return wrong('step', found.message);
  const { form } = found.draft;
  const ids = idsOf(graph);
  const criticId = freeName(`${step.id}_critique`, ids);
  const reviserId = freeName(`${step.id}_revise`, new Set([...ids, criticId]));
  const draft = { draft: answerRef(step.id, form) };
  const seen = { ...found.draft, inputs: withInputs(found.draft.inputs, draft) };
  const seenBoth = { ...seen, inputs: withInputs(found.draft.inputs, { ...draft, critique: `${criticId}.critique` }) };
  const [asked, revising] = [user(edit.critique), user(edit.revise)];
  const problem = lacks(asked, 'draft', 'critique') ?? lacks(revising, 'critique', 'revise');
  const critic = llm(criticId, seen, asked, { field: 'critique' });
  return problem ?? follow(graph, step.id, [critic, llm(reviserId, seenBoth, revising, form)]);
}

export function decompose(graph: Graph, step: Step, { prompt, messages }: Edit & { edit: 'decompose' }): Applied {
  if (step.type !== 'llm' && step.type !== 'map')
    return wrong('step', `"${step.id}" is a ${step.type}: name an llm or map step`);
  const id = freeName(`${step.id}_plan`, idsOf(graph));
  const name = freeName('plan', new Set([...Object.keys(step.inputs), itemOf(step) ?? '']));
  const problem = lacks(messages, name, 'messages');
  if (problem) return problem;
  const item = itemOf(step);
  const known = Object.entries(step.inputs).filter(([, ref]) => headOf(ref) !== item);
  const plan = llm(id, { inputs: Object.fromEntries(known), model: step.model }, user(prompt), { field: 'plan' });
  const inputs: Inputs = { ...step.inputs, [name]: `${id}.plan` };
  const steps = graph.steps.flatMap((one) => (one === step ? [plan, { ...step, inputs, messages }] : [one]));
  return { graph: { ...graph, steps }, touched: [id, step.id] };
}

export function vote(graph: Graph, step: Step, { samples, by }: Edit & { edit: 'vote' }, rules: EditRules): Applied {
  if (step.type !== 'llm') return wrong('step', `"${step.id}" is a ${step.type}: only an llm step has samples`);
  if ((step.samples ?? 1) > 1) return wrong('step', `"${step.id}" has ${step.samples} samples already`);
  if (!Number.isInteger(samples) || samples < 2 || samples > limits.samples)
    return wrong('samples', `must be a whole number from 2 to ${limits.samples}`);
  const problem = by === 'majority' ? undefined : promptProblem(by.judge, rules, 'by.judge');
  if (problem) return problem;
  const id = freeName(`${step.id}_vote`, idsOf(graph));
  const followed = follow(graph, step.id, [{ id, type: 'vote', over: step.id, by }]);
  if ('message' in followed) return followed;
  const sampled = followed.graph.steps.map((one) => (one.id === step.id ? { ...one, samples } : one));
  return { graph: { ...followed.graph, steps: sampled }, touched: [id, step.id] };
}

export function addStep(graph: Graph, step: Step, rules: EditRules): Applied {
  if (graph.steps.some(({ id }) => id === step.id))
    return wrong('step.id', `there is a step "${cutText(step.id, 64)}" already`);
  const problem = promptProblem(promptOf(step), rules, step.type === 'vote' ? 'step.by.judge' : 'step');
  return problem ?? { graph: { ...graph, steps: [...graph.steps, step] }, touched: [step.id] };
}

export function remove(graph: Graph, step: Step): Applied {
  const users = graph.steps.filter((one) => headsOf(one).includes(step.id)).map(({ id }) => id);
  const isUsed = users.length > 0 || headOf(graph.output) === step.id;
  const instead = replacementOf(graph, step);
  if (isUsed && instead === null)
    return wrong(
      'step',
      `what takes the value of "${step.id}" has no one thing to take instead: rewire ${[...users, ...(headOf(graph.output) === step.id ? ['the output'] : [])].join(', ')} first`,
    );
  const moved = instead === null ? graph : moveUsers(graph, step.id, (ref) => withHead(ref, instead));
  const steps = moved.steps
    .filter(({ id }) => id !== step.id)
    .map((one) => (step.type === 'vote' && one.id === instead ? withoutSamples(one) : one));
  return { graph: { ...moved, steps }, touched: users };
}

/** What a step's users take when it is gone: an answer of the same form, what is voted on, the one thing that is transformed. */
function replacementOf(graph: Graph, step: Step): Ref | null {
  switch (step.type) {
    case 'llm': {
      const alike = headsOf(step).filter((id) => {
        const found = draftOf(graph, id);
        return found.ok && sameForm(found.draft.form, step.output);
      });
      return alike.length === 1 && (step.samples ?? 1) === 1 ? alike[0]! : null;
    }
    case 'vote': {
      const sampled = graph.steps.find(({ id }) => id === step.over);
      const isAlone = graph.steps.every((one) => one === step || !headsOf(one).includes(step.over ?? ''));
      return sampled?.type === 'llm' && isAlone && headOf(graph.output) !== sampled.id ? sampled.id : null;
    }
    case 'select': {
      const choices = choicesOf(step)!;
      return choices.length === 1 ? choices[0]! : null;
    }
    case 'transform': {
      const taken = refsOf(step);
      return taken.length === 1 ? taken[0]!.ref : null;
    }
    case 'map':
      return null;
  }
}

export function rewire(graph: Graph, step: Step, input: string, to: Ref | null): Applied {
  const paths = [input, `inputs.${input}`, `by.judge.inputs.${input}`];
  const known = refsOf(step).find(({ path }) => paths.includes(path));
  if (known !== undefined && to !== null)
    return changed(
      graph,
      mapRefs(step, (ref, path) => (path === known.path ? to : ref)),
    );
  const inputs = step.type === 'transform' ? step.inputs : promptOf(step)?.inputs;
  const name = input.replace(/^(by\.judge\.)?inputs\./, '');
  if (inputs === undefined || (to === null && !Object.hasOwn(inputs, name))) {
    const all = refsOf(step).map(({ path }) => path);
    return wrong(
      'input',
      `"${step.id}" has no "${cutText(input, 64)}" to ${to === null ? 'drop' : 'rewire'}; it has ${all.join(', ')}`,
    );
  }
  const others = Object.fromEntries(Object.entries(inputs).filter(([one]) => one !== name));
  const next: Inputs = to === null ? others : { ...others, [name]: to };
  return changed(graph, step.type === 'transform' ? { ...step, inputs: next } : withPrompt(step, { inputs: next }));
}
