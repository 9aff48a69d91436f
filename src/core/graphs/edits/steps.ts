/** The implementation of each edit; edits.ts documents them. */
import { defaultVerify } from './texts.js';
import {
  replaceStep,
  insertAfter,
  takenNames,
  missingPlaceholder,
  newLlmStep,
  redirectUsers,
  userMessage,
  withoutSamples,
  invalid,
  type EditResult,
  type Edit,
  type EditRules,
} from './editing.js';
import { answerRef, choiceRefs, findDraft, freeName, isSameForm, withInputs } from '../drafts.js';
import {
  itemName,
  limits,
  stepPrompt,
  withPrompt,
  type Graph,
  type Inputs,
  type Prompt,
  type Ref,
  type Step,
} from '../graph.js';
import { refHead, refHeads, mapRefs, stepRefs, withHead } from '../refs.js';
import { cutAfter } from '../../../util/text.js';

/** A problem if the job does not have the model, else undefined. */
export function modelProblem(model: string | null | undefined, { models }: EditRules, at: string) {
  if (model === null || model === undefined || models.includes(model)) return undefined;
  return invalid(at, `"${cutAfter(model, 100)}" is not a model of this job; its models are ${models.join(', ')}`);
}

/** A problem if a prompt sets `tries` or `timeout_s`: only the paying user may set them. */
function settingsProblem(prompt: Prompt | null, at: string) {
  const set = prompt?.tries !== undefined ? 'tries' : prompt?.timeoutS !== undefined ? 'timeout_s' : null;
  return set === null ? undefined : invalid(`${at}.${set}`, 'cannot be set by an edit; leave it out');
}

function promptProblem(prompt: Prompt | null, rules: EditRules, at: string) {
  return modelProblem(prompt?.model, rules, `${at}.model`) ?? settingsProblem(prompt, at);
}

export function verify(graph: Graph, step: Step, { prompt, messages: given }: Edit & { edit: 'verify' }): EditResult {
  if (prompt !== undefined && given !== undefined) return invalid('messages', 'must not be given together with prompt');
  const found = findDraft(graph, step.id);
  if (!found.ok) return invalid('step', found.message);
  const { form } = found.draft;
  const inputs = withInputs(found.draft.inputs, { draft: answerRef(step.id, form) });
  const messages = given ?? userMessage(prompt ?? defaultVerify(Object.keys(inputs), form));
  const problem = missingPlaceholder(messages, 'draft', given === undefined ? 'prompt' : 'messages');
  const id = freeName(`${step.id}_verify`, takenNames(graph));
  return problem ?? insertAfter(graph, step.id, [newLlmStep(id, { ...found.draft, inputs }, messages, form)]);
}

export function critique(graph: Graph, step: Step, edit: Edit & { edit: 'critique' }): EditResult {
  const found = findDraft(graph, step.id);
  if (!found.ok) return invalid('step', found.message);
  const { form } = found.draft;
  const ids = takenNames(graph);
  const criticId = freeName(`${step.id}_critique`, ids);
  const reviserId = freeName(`${step.id}_revise`, new Set([...ids, criticId]));
  const draft = { draft: answerRef(step.id, form) };
  const seen = { ...found.draft, inputs: withInputs(found.draft.inputs, draft) };
  const seenBoth = { ...seen, inputs: withInputs(found.draft.inputs, { ...draft, critique: `${criticId}.critique` }) };
  const [critiquing, revising] = [userMessage(edit.critique), userMessage(edit.revise)];
  const problem =
    missingPlaceholder(critiquing, 'draft', 'critique') ?? missingPlaceholder(revising, 'critique', 'revise');
  const critic = newLlmStep(criticId, seen, critiquing, { field: 'critique' });
  return problem ?? insertAfter(graph, step.id, [critic, newLlmStep(reviserId, seenBoth, revising, form)]);
}

export function decompose(graph: Graph, step: Step, { prompt, messages }: Edit & { edit: 'decompose' }): EditResult {
  if (step.type !== 'llm' && step.type !== 'map')
    return invalid('step', `"${step.id}" is a ${step.type}; name an llm or map step`);
  const id = freeName(`${step.id}_plan`, takenNames(graph));
  const name = freeName('plan', new Set([...Object.keys(step.inputs), itemName(step) ?? '']));
  const problem = missingPlaceholder(messages, name, 'messages');
  if (problem) return problem;
  const item = itemName(step);
  const known = Object.entries(step.inputs).filter(([, ref]) => refHead(ref) !== item);
  const plan = newLlmStep(id, { inputs: Object.fromEntries(known), model: step.model }, userMessage(prompt), {
    field: 'plan',
  });
  const inputs: Inputs = { ...step.inputs, [name]: `${id}.plan` };
  const steps = graph.steps.flatMap((other) => (other === step ? [plan, { ...step, inputs, messages }] : [other]));
  return { graph: { ...graph, steps }, touched: [id, step.id] };
}

export function vote(graph: Graph, step: Step, { samples, by }: Edit & { edit: 'vote' }, rules: EditRules): EditResult {
  if (step.type !== 'llm') return invalid('step', `"${step.id}" is a ${step.type}; only an llm step has samples`);
  if ((step.samples ?? 1) > 1) return invalid('step', `"${step.id}" already has ${step.samples} samples`);
  if (!Number.isInteger(samples) || samples < 2 || samples > limits.samples)
    return invalid('samples', `must be a whole number from 2 to ${limits.samples}`);
  const problem = by === 'majority' ? undefined : promptProblem(by.judge, rules, 'by.judge');
  if (problem) return problem;
  const id = freeName(`${step.id}_vote`, takenNames(graph));
  const followed = insertAfter(graph, step.id, [{ id, type: 'vote', over: step.id, by }]);
  if ('message' in followed) return followed;
  const sampled = followed.graph.steps.map((other) => (other.id === step.id ? { ...other, samples } : other));
  return { graph: { ...followed.graph, steps: sampled }, touched: [id, step.id] };
}

export function addStep(graph: Graph, step: Step, rules: EditRules): EditResult {
  if (graph.steps.some(({ id }) => id === step.id))
    return invalid('step.id', `"${cutAfter(step.id, 64)}" is already the id of a step`);
  const problem = promptProblem(stepPrompt(step), rules, step.type === 'vote' ? 'step.by.judge' : 'step');
  return problem ?? { graph: { ...graph, steps: [...graph.steps, step] }, touched: [step.id] };
}

export function remove(graph: Graph, step: Step): EditResult {
  const users = graph.steps.filter((other) => refHeads(other).includes(step.id)).map(({ id }) => id);
  const isUsed = users.length > 0 || refHead(graph.output) === step.id;
  const instead = findReplacement(graph, step);
  if (isUsed && instead === null)
    return invalid(
      'step',
      `"${step.id}" has no single source that its users could take instead; rewire ${[...users, ...(refHead(graph.output) === step.id ? ['the output'] : [])].join(', ')} first`,
    );
  const moved = instead === null ? graph : redirectUsers(graph, step.id, (ref) => withHead(ref, instead));
  const steps = moved.steps
    .filter(({ id }) => id !== step.id)
    .map((other) => (step.type === 'vote' && other.id === instead ? withoutSamples(other) : other));
  return { graph: { ...moved, steps }, touched: users };
}

/** An answer of the same form, the step voted on, or the only transformed value. */
function findReplacement(graph: Graph, step: Step): Ref | null {
  switch (step.type) {
    case 'llm': {
      const alike = refHeads(step).filter((id) => {
        const found = findDraft(graph, id);
        return found.ok && isSameForm(found.draft.form, step.output);
      });
      return alike.length === 1 && (step.samples ?? 1) === 1 ? alike[0]! : null;
    }
    case 'vote': {
      const sampled = graph.steps.find(({ id }) => id === step.over);
      const isAlone = graph.steps.every((other) => other === step || !refHeads(other).includes(step.over ?? ''));
      return sampled?.type === 'llm' && isAlone && refHead(graph.output) !== sampled.id ? sampled.id : null;
    }
    case 'select': {
      const choices = choiceRefs(step)!;
      return choices.length === 1 ? choices[0]! : null;
    }
    case 'transform': {
      const taken = stepRefs(step);
      return taken.length === 1 ? taken[0]!.ref : null;
    }
    case 'map':
      return null;
  }
}

export function rewire(graph: Graph, step: Step, input: string, to: Ref | null): EditResult {
  const paths = [input, `inputs.${input}`, `by.judge.inputs.${input}`];
  const known = stepRefs(step).find(({ path }) => paths.includes(path));
  if (known !== undefined && to !== null)
    return replaceStep(
      graph,
      mapRefs(step, (ref, path) => (path === known.path ? to : ref)),
    );
  const inputs = step.type === 'transform' ? step.inputs : stepPrompt(step)?.inputs;
  const name = input.replace(/^(by\.judge\.)?inputs\./, '');
  if (inputs === undefined || (to === null && !Object.hasOwn(inputs, name))) {
    const all = stepRefs(step).map(({ path }) => path);
    return invalid(
      'input',
      `"${step.id}" has no "${cutAfter(input, 64)}" to ${to === null ? 'drop' : 'rewire'}; it has ${all.join(', ')}`,
    );
  }
  const others = Object.fromEntries(Object.entries(inputs).filter(([other]) => other !== name));
  const next: Inputs = to === null ? others : { ...others, [name]: to };
  return replaceStep(graph, step.type === 'transform' ? { ...step, inputs: next } : withPrompt(step, { inputs: next }));
}
