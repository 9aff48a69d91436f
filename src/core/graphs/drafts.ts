/** What a step that works on another's answer has to know of it: what it was made from, and of which form it is. */
import { namePattern, type AnswerForm, type Graph, type Inputs, type Ref, type Step } from './graph.js';
import { canonical, type Json } from './values.js';

/** The inputs and the model of the step that gives an answer, and the answer's form. */
export interface DraftAnswer {
  inputs: Inputs;
  form: AnswerForm;
  model: string | null | undefined;
}

export type DraftFound = { ok: true; draft: DraftAnswer } | { ok: false; message: string };

/** The answer that a step gives: of an llm step its own, of a vote or select that of the steps it chooses from, if they are alike. */
export function draftOf(graph: Graph, id: string, seen: readonly string[] = []): DraftFound {
  const step = graph.steps.find((one) => one.id === id);
  const none = (message: string): DraftFound => ({ ok: false, message });
  if (step === undefined || seen.includes(id)) return none(`there is no step "${id}"`);
  if (step.type === 'llm') {
    const isOne = (step.samples ?? 1) === 1 || seen.length > 0;
    if (!isOne) return none(`"${id}" gives several samples: name the vote over them`);
    return { ok: true, draft: { inputs: step.inputs, form: step.output, model: step.model } };
  }
  const chosen = choicesOf(step);
  if (chosen === null) return none(`"${id}" is a ${step.type}: name an llm step, or a vote or select among such`);
  const drafts: DraftAnswer[] = [];
  for (const ref of chosen) {
    const found = draftOf(graph, ref, [...seen, id]);
    if (!found.ok) return none(`"${id}" chooses among others than whole answers of llm steps: ${ref}`);
    drafts.push(found.draft);
  }
  const [first] = drafts;
  return first !== undefined && drafts.every(({ form }) => sameForm(form, first.form))
    ? { ok: true, draft: first }
    : none(`"${id}" chooses among answers of different forms`);
}

/** The refs that a vote or select has its value from; null for other steps. */
export function choicesOf(step: Step): readonly Ref[] | null {
  if (step.type === 'vote') return step.of ?? [step.over!];
  return step.type === 'select' ? [...new Set([...step.cases.map(({ then }) => then), step.otherwise])] : null;
}

/** Whether answers of one form can stand where those of the other do. */
export function sameForm(one: AnswerForm, other: AnswerForm): boolean {
  return canonical(one as unknown as Json) === canonical(other as unknown as Json);
}

/** The ref to the answer as a text where it is one, else to the whole. */
export function answerRef(id: string, form: AnswerForm): Ref {
  return 'field' in form ? `${id}.${form.field}` : id;
}

/** A name that is not taken: the one wanted, else with a number; never longer than names may be. */
export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  const start = wanted.slice(0, 60);
  const isFree = (name: string) => namePattern.test(name) && !taken.has(name);
  let name = wanted;
  for (let number = 2; !isFree(name); number++) name = `${start}_${number}`;
  return name;
}

/** Inputs with further ones; an input that has the name of one of these gets another. */
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
