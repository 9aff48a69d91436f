/**
 * The `local` proposer of structure: rewire, output, decompose, critique or verify edits, by rules
 * over failed runs (docs/adr/0004). The edit that explains most runs wins, ties: the first.
 */
import type { EditRequest, ShownRun } from './edit-request.js';
import { refHead, type ShownGraph, type ShownMessage, type ShownStep } from './graph-text.js';
import { expectedAnswer } from './lessons.js';
import { propose } from './propose.js';
import { indexOfName, sameWords, spaced } from './statements.js';
import { jsonFields, readTrail } from './trails.js';

/** Edits in the answer's form, as in the request. */
export type ShownEdit = { edit: string } & Record<string, unknown>;

type Diagnosis =
  | { kind: 'blind'; field: string }
  | { kind: 'spoiled'; step: string }
  | { kind: 'deep' }
  | { kind: 'taught'; step: string }
  | { kind: 'lacking' }
  | { kind: 'unknown' };
const order = ['blind', 'spoiled', 'deep', 'taught', 'lacking', 'unknown'] as const;

/** Limit of edits per answer. */
const maxEdits = 3;

/** At least one edit for a graph with a model step; else none. */
export function restructure({ graph, runs }: EditRequest): ShownEdit[] {
  const chain = stepChain(graph);
  const last = chain.at(-1);
  if (last === undefined) return [];
  const diagnoses = runs.map((run) => diagnose(graph, chain, run));
  const most = [...order].sort((left, right) => count(diagnoses, right) - count(diagnoses, left))[0]!;
  const found = diagnoses.find(({ kind }) => kind === most) ?? { kind: 'unknown' };
  switch (found.kind) {
    case 'blind':
      return showInput(last, found.field);
    case 'spoiled':
      return takeFrom(graph, found.step, count(diagnoses, 'spoiled') === runs.length);
    case 'deep':
      return decompose(chain[0]!, runs);
    case 'taught':
      // A lesson about lookups applies to every lookup; otherwise only the faulty step learns.
      return (runs.some(readTrail) ? chain.slice(0, maxEdits) : [stepOf(graph, found.step)!]).map((step) => {
        return { edit: 'prompt', step: step.id, messages: withLessons(step, runs) };
      });
    case 'lacking':
      return critique(last, runs);
    case 'unknown':
      return [{ edit: 'verify', step: last.id }];
  }
}

function count(diagnoses: readonly Diagnosis[], kind: Diagnosis['kind']): number {
  return diagnoses.filter((diagnosis) => diagnosis.kind === kind).length;
}

function stepOf({ steps }: ShownGraph, ref: string): ShownStep | undefined {
  return steps.find(({ id }) => id === refHead(ref));
}

/** The chain of llm steps that leads to the output, the last at the end. */
function stepChain(graph: ShownGraph): ShownStep[] {
  const chain: ShownStep[] = [];
  const waiting = [graph.output];
  const seen = new Set<string>();
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    const step = stepOf(graph, ref);
    if (!step || seen.has(step.id)) continue;
    seen.add(step.id);
    if (step.type === 'llm') chain.unshift(step);
    waiting.push(...Object.values(step.inputs).reverse());
  }
  return chain;
}

function diagnose(graph: ShownGraph, chain: readonly ShownStep[], run: ShownRun): Diagnosis {
  const expected = expectedAnswer(run.feedback);
  if (expected === null) return { kind: run.feedback.trim() === '' ? 'unknown' : 'lacking' };
  const shown = new Set(graph.steps.flatMap(({ inputs }) => Object.values(inputs).map((ref) => ref.split('.')[1])));
  const unseen = jsonFields(run.input)?.find(
    ([name, value]) => !shown.has(name) && indexOfName(expected, spaced(value)) >= 0,
  );
  if (unseen) return { kind: 'blind', field: unseen[0] };
  const checked = checkedBy(graph).find((id) => sameWords(run.steps.get(id) ?? '', expected));
  if (checked !== undefined) return { kind: 'spoiled', step: checked };
  const trail = readTrail(run);
  if (trail && trail.statements.length > chain.length) return { kind: 'deep' };
  // A faulty step misled all later steps of the chain.
  const values = trail?.statements.map(({ value }) => value) ?? [expected];
  const fault = chain.find(({ id }) => !values.some((value) => sameWords(value, run.steps.get(id) ?? '')));
  return { kind: 'taught', step: (fault ?? chain.at(-1)!).id };
}

/** The steps whose answers the output's step checks or chooses from. */
function checkedBy(graph: ShownGraph): string[] {
  const step = stepOf(graph, graph.output);
  const refs = Object.entries(step?.inputs ?? {}).filter(([name]) => name === 'draft' || name.startsWith('of '));
  return refs.map(([, ref]) => refHead(ref));
}

function takeFrom(graph: ShownGraph, step: string, always: boolean): ShownEdit[] {
  const stepRef = (id: string) => [id, stepOf(graph, id)?.field ?? []].flat().join('.');
  if (always) return [{ edit: 'output', to: stepRef(step) }];
  const inputs = Object.fromEntries(graph.inputs.map((name) => [name, `input.${name}`]));
  const asked = [...graph.inputs.map((name) => `${name}: {{${name}}}`), '{{candidates}}'].join('\n\n');
  const messages = [{ role: 'user', content: `${asked}\n\nAnswer with the number of the best candidate alone.` }];
  const id = freeName('chosen', new Set(graph.steps.map((step) => step.id)));
  const vote = { id, type: 'vote', of: [stepRef(step), graph.output], by: { judge: { inputs, messages } } };
  return [
    { edit: 'add', step: vote },
    { edit: 'output', to: id },
  ];
}

function showInput(step: ShownStep, field: string): ShownEdit[] {
  const name = freeName(field.replace(/\W/g, '_').replace(/^(?![A-Za-z])/, 'x'), new Set(Object.keys(step.inputs)));
  return [
    { edit: 'rewire', step: step.id, input: name, to: `input.${field}` },
    { edit: 'prompt', step: step.id, messages: inFront(step.messages, `${name}: {{${name}}}`) },
  ];
}

/** Puts the plan first: a step looks up the first subject in its message. */
function decompose(step: ShownStep, runs: ShownRun[]): ShownEdit[] {
  const name = freeName('plan', new Set(Object.keys(step.inputs)));
  const given = step.messages.filter(({ role }) => role !== 'system').map(({ content }) => content);
  const prompt = `Find out first what it is about that is asked for. Give what is found alone.\n\n${given.join('\n\n')}`;
  return [
    {
      edit: 'decompose',
      step: step.id,
      prompt: propose({ instruction: prompt, examples: runs }),
      messages: inFront(withLessons(step, runs), `about: {{${name}}}`),
    },
  ];
}

function critique({ id, messages }: ShownStep, runs: ShownRun[]): ShownEdit[] {
  const given = messages.map(({ content }) => content).join('\n\n');
  const notes = propose({ instruction: 'Say what the draft lacks.', examples: runs });
  return [
    {
      edit: 'critique',
      step: id,
      critique: `${notes}\n\ndraft: {{draft}}`,
      revise: `${given}\n\ncritique: {{critique}}\n\ndraft: {{draft}}`,
    },
  ];
}

/** The step's messages with the lessons in the first instructing one. */
function withLessons({ messages }: ShownStep, examples: ShownRun[]): ShownMessage[] {
  const at = Math.max(
    0,
    messages.findIndex(({ role }) => role === 'system'),
  );
  return messages.map((message, index) =>
    index === at ? { ...message, content: propose({ instruction: message.content, examples }) } : message,
  );
}

function inFront(messages: readonly ShownMessage[], text: string): ShownMessage[] {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  if (at < 0) return [...messages, { role: 'user', content: text }];
  return messages.map((message, index) =>
    index === at ? { ...message, content: `${text}\n\n${message.content}` } : message,
  );
}

/** A name for an added step, with a number if taken. */
function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}_${number}`;
  return name;
}
