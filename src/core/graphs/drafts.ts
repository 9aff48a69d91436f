/** The answer that another step works on: its inputs, model and form. */
import { canonicalJson } from '../../util/json.js';
import { namePattern, type AnswerForm, type Graph, type Inputs, type Ref, type Step } from './graph.js';

export interface DraftAnswer {
  inputs: Inputs;
  form: AnswerForm;
  model: string | null | undefined;
}

export type DraftResult = { ok: true; draft: DraftAnswer } | { ok: false; message: string };

/** Finds a step's answer: an llm step's own, or the common form of a vote's or select's choices. */
export function findDraft(graph: Graph, id: string, seen: readonly string[] = []): DraftResult {
  const step = graph.steps.find((candidate) => candidate.id === id);
  const notFound = (message: string): DraftResult => ({ ok: false, message });
  if (step === undefined || seen.includes(id)) return notFound(`there is no step "${id}"`);
  if (step.type === 'llm') {
    const isOne = (step.samples ?? 1) === 1 || seen.length > 0;
    if (!isOne) return notFound(`"${id}" gives several samples; name the vote over them`);
    return { ok: true, draft: { inputs: step.inputs, form: step.output, model: step.model } };
  }
  const chosen = choiceRefs(step);
  if (chosen === null)
    return notFound(`"${id}" is a ${step.type}; name an llm step, or a vote or select over llm steps`);
  const drafts: DraftAnswer[] = [];
  for (const ref of chosen) {
    const found = findDraft(graph, ref, [...seen, id]);
    if (!found.ok) return notFound(`"${id}" chooses ${ref}, which is not the whole answer of an llm step`);
    drafts.push(found.draft);
  }
  const [first] = drafts;
  return first !== undefined && drafts.every(({ form }) => isSameForm(form, first.form))
    ? { ok: true, draft: first }
    : notFound(`"${id}" chooses among answers of different forms`);
}

/** The refs a vote or select chooses from; null for other steps. */
export function choiceRefs(step: Step): readonly Ref[] | null {
  if (step.type === 'vote') return step.of ?? [step.over!];
  return step.type === 'select' ? [...new Set([...step.cases.map(({ then }) => then), step.otherwise])] : null;
}

/** Whether two answer forms are interchangeable. */
export function isSameForm(candidate: AnswerForm, other: AnswerForm): boolean {
  return canonicalJson(candidate) === canonicalJson(other);
}

/** The ref to an answer's text field, or to the whole answer. */
export function answerRef(id: string, form: AnswerForm): Ref {
  return 'field' in form ? `${id}.${form.field}` : id;
}

/** The preferred name, or a numbered one if it is taken; never longer than a name may be. */
export function freeName(preferred: string, taken: ReadonlySet<string>): string {
  const start = preferred.slice(0, 60);
  const isFree = (name: string) => namePattern.test(name) && !taken.has(name);
  let name = preferred;
  for (let number = 2; !isFree(name); number++) name = `${start}_${number}`;
  return name;
}

/** Adds inputs; renames an existing input of the same name. */
export function withInputs(inputs: Inputs, further: Inputs): Inputs {
  const taken = new Set([...Object.keys(inputs), ...Object.keys(further)]);
  const renamed = Object.entries(inputs).map(([name, ref]) => {
    if (!Object.hasOwn(further, name)) return [name, ref] as const;
    const other = freeName(name, taken);
    taken.add(other);
    return [other, ref] as const;
  });
  return { ...Object.fromEntries(renamed), ...further };
}
