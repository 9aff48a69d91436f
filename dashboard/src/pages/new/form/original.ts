/** The run, candidate or version that the form of a new run begins with, by the address. */
import { batch, effect, signal } from '@preact/signals';
import { client } from '../../../data/client.js';
import { kindOfRun } from '../../../data/kinds.js';
import { readRequest, type Clone } from '../../../data/request.js';
import { numberOf } from '../../../data/search.js';
import { kindOf } from '../../../../../src/core/jobs/kinds.js';
import { patchBetween } from '../../../../../src/util/merge-patch.js';
import { shortId } from '../../../util/format.js';
import { remember } from '../../../util/remember.js';
import { go, link, route, setQuery } from '../../../util/router.js';
import { emptyDraft, type Draft, type PromptMessage } from './draft.js';
import { draftOf, fitsForm, holderOf, requestFrom, type Body, type Source } from './from-request.js';
import { requestOf } from './request.js';
import { draft } from './store.js';

/** `again`: a run with the same request. `evaluate`: an evaluation of a prompt. */
type Purpose = 'again' | 'evaluate';

interface Choice {
  purpose: Purpose;
  /** A run, or a version of a deployment. */
  id: string;
  candidateId: string | null;
}

export interface Original extends Choice {
  title: string;
  /** Null: the form has only its prompt and its model. */
  source: Source | null;
  /** Pointers of fields that the service does not return. */
  omitted: string[];
  /** What the run has used; null: it is no run with this request. */
  last: { costUsd: number | null; rollouts: number } | null;
  warnings: string[];
}

const stored = 'ratchet.new-run.original';

/** Null: a form that begins empty. A reload keeps it, or reads it again. */
export const original = signal<Original | null>(
  JSON.parse(sessionStorage.getItem(stored) ?? 'null') as Original | null,
);
effect(() => remember(stored, original.value));

/** Values of omitted fields by their pointers; never stored. */
export const secrets = signal<Record<string, string>>({});

/** The link to the form of a run with the request of another, or of a branch from its candidate. */
export const againLink = (id: string, candidateId: string | null = null): string =>
  link(['new'], { from: id, candidate: candidateId });

/** The link to the form of an evaluation of a prompt. */
export const evaluateLink = (id: string, candidateId: string | null = null): string =>
  link(['new'], { evaluate: id, candidate: candidateId });

/** What the address asks for; null: an empty form. */
export function choiceOfAddress(): Choice | null {
  const { query } = route.value;
  const candidateId = query.get('candidate');
  const [again, evaluated] = [query.get('from'), query.get('evaluate')];
  if (again) return { purpose: 'again', id: again, candidateId };
  return evaluated ? { purpose: 'evaluate', id: evaluated, candidateId } : null;
}

export const isSame = (left: Choice | null, right: Choice | null): boolean =>
  left?.purpose === right?.purpose && left?.id === right?.id && left?.candidateId === right?.candidateId;

/** What the last replacement of the whole form took away; null: nothing. */
export const replaced = signal<{ form: Draft; from: Original | null } | null>(null);

/** How often the whole form was replaced: what belongs to the one before goes with it. */
export const replacements = signal(0);

/** Fills the form with what the address asks for. */
export async function begin(choice: Choice, signal: AbortSignal): Promise<void> {
  const next = await loaded(choice, signal);
  if (!signal.aborted) show(next.draft, next.original);
}

/** Opens the form of an evaluation of a run's prompt, or of its candidate, with other messages. */
export async function evaluateEdited(id: string, candidateId: string | null, messages: PromptMessage[]): Promise<void> {
  await begin({ purpose: 'evaluate', id, candidateId }, new AbortController().signal);
  draft.value = { ...draft.value, messages };
  go(evaluateLink(id, candidateId));
}

/** Puts another draft in place of all fields, made from `from`; `undo` brings them back. */
export const replace = (next: Draft, from: Original | null = null): void => show(next, from);

/** Forgets what the form began with, but not what it holds. */
export function detach(): void {
  replace({ ...draft.value, json: JSON.stringify(requestOfForm(draft.value), null, 2) });
}

/** Empties the form. */
export const clear = (): void => replace(emptyDraft);

export function undo(): void {
  if (replaced.value) show(replaced.value.form, replaced.value.from);
  replaced.value = null;
}

function show(form: Draft, from: Original | null): void {
  const isEmpty = original.value === null && JSON.stringify(draft.value) === JSON.stringify(emptyDraft);
  batch(() => {
    replaced.value = isEmpty ? null : { form: draft.value, from: original.value };
    if (route.value.parts[0] === 'new') setQuery(queryOf(from));
    original.value = from;
    secrets.value = {};
    draft.value = form;
    replacements.value += 1;
  });
}

const queryOf = (from: Original | null) => ({
  from: from?.purpose === 'again' ? from.id : null,
  evaluate: from?.purpose === 'evaluate' ? from.id : null,
  candidate: from?.candidateId ?? null,
});

/** The body of a create that the form stands for. */
export const requestOfForm = (form: Draft, rows: string | null = null): Body =>
  original.value?.source ? requestFrom(original.value.source, form) : requestOf(form, rows);

/** Whether the form still makes a run of the kind that it began with. */
export const isOfKind = ({ source }: Original, form: Draft): boolean =>
  source === null || !fitsForm(source) || source.kind === form.kind;

/** The clone that makes this body; null: a create does. */
export function cloneOf(form: Draft, body: Body): Clone | null {
  const from = original.value;
  if (!from?.source || from.purpose !== 'again' || !isOfKind(from, form)) return null;
  const entered = Object.entries(secrets.value).filter(([, value]) => value !== '');
  const whole = entered.reduce((sent, [pointer, value]) => withValue(sent, pointer.split('/').slice(1), value), body);
  return { jobId: from.id, candidateId: from.candidateId, patch: patchBetween(from.source.request, whole) };
}

function withValue(body: Body, [name, ...rest]: string[], value: string): Body {
  const inner = (body[name!] ?? {}) as Body;
  return { ...body, [name!]: rest.length === 0 ? value : withValue(inner, rest, value) };
}

async function loaded(choice: Choice, signal: AbortSignal): Promise<{ original: Original; draft: Draft }> {
  if (kindOf(choice.id) === 'deployment') return ofDeployment(choice, signal);
  const { id, candidateId, purpose } = choice;
  const [read, job] = await Promise.all([
    readRequest(id, candidateId, signal),
    client.value.handle(id).get({ signal }) as Promise<SeenRun>,
  ]);
  if (read.request === null) throw new Error('No request made this run: it is a part of a deployment or a migration.');
  const kind = kindOfRun(id);
  const name = job.name ?? shortId(id);
  const prompt = read.prompt as PromptMessage[] | null;
  const common = { ...choice, title: candidateId ? `candidate ${numberOf(candidateId)} of ${name}` : name };
  if (purpose === 'evaluate' && kind === 'session') return ofPrompt(common, read.request, prompt ?? []);
  const source: Source = { kind, request: read.request, prompt };
  const rollouts = 'rollouts_completed' in job.progress ? job.progress.rollouts_completed : job.progress.completed;
  const last = { costUsd: job.usage.total_cost_usd, rollouts };
  return {
    original: { ...common, source, omitted: read.omitted, last, warnings: [] },
    draft: draftOf(source),
  };
}

interface SeenRun {
  name: string | null;
  usage: { total_cost_usd: number | null };
  progress: { rollouts_completed: number } | { completed: number };
}

type Common = Choice & Pick<Original, 'title'>;

/** An evaluation of a session's first prompt, or of its candidate. */
function ofPrompt(common: Common, request: Body, prompt: PromptMessage[]): { original: Original; draft: Draft } {
  const { dataset, scorer, policy } = holderOf('session', request);
  const { id: session, candidateId } = common;
  const candidate = candidateId ? { session_id: session, candidate_id: candidateId } : { messages: prompt };
  const source: Source = { kind: 'evaluation', request: { dataset, scorer, policy, candidate }, prompt };
  const isWhole = fitsForm(source);
  const { provider, model } = policy as { provider: string; model: string };
  return {
    original: { ...common, source: isWhole ? source : null, omitted: [], last: null, warnings: [] },
    draft: isWhole ? draftOf(source) : { ...emptyDraft, kind: 'evaluation', provider, model, messages: prompt },
  };
}

async function ofDeployment(choice: Choice, signal: AbortSignal): Promise<{ original: Original; draft: Draft }> {
  const deployment = await client.value.deployments.handle(choice.id).get({ signal });
  const { name, version, snapshot_id: snapshotId } = deployment;
  if (snapshotId === null) throw new Error(`Version ${version} of ${name} has no prompt yet.`);
  const snapshot = await client.value.deployments.snapshot(snapshotId, { signal });
  if (snapshot.kind !== 'messages') throw new Error(`Version ${version} of ${name} serves a graph, not a prompt.`);
  const { provider, model } = snapshot.policy;
  const { demos } = snapshot;
  const kind = choice.purpose === 'evaluate' ? 'evaluation' : 'session';
  return {
    original: {
      ...choice,
      title: `version ${version} of ${name}`,
      source: null,
      omitted: [],
      last: null,
      warnings: demos.length === 0 ? [] : [`Its ${demos.length} demonstrations are left out.`],
    },
    draft: { ...emptyDraft, kind, provider, model, messages: snapshot.messages as PromptMessage[] },
  };
}
