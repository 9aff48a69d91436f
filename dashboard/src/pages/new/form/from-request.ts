/** The form of a run that exists: what it shows of a request, and the request of a changed form. */
import { patchBetween, mergePatch } from '../../../../../src/util/merge-patch.js';
import { asObject } from '../../../../../src/util/json.js';
import { scorerForms } from '../../../../../src/scorers/forms.js';
import type { RunKind } from '../../../data/kinds.js';
import type { ScorerDraft } from '../../../ui/scorer/draft.js';
import { emptyDraft, missingParts, type Draft, type PromptMessage } from './draft.js';
import { requestOf } from './request.js';

export type Body = Record<string, unknown>;

/** A request that a form begins with. */
export interface Source {
  kind: RunKind;
  request: Body;
  /** The messages that the prompt of the request stands for. */
  prompt: readonly PromptMessage[] | null;
}

/** Whether the form shows its data, prompt and scorer; else it is edited as JSON. */
export function fitsForm(source: Source): boolean {
  const { kind, request, prompt } = source;
  if (kind === 'graph' || prompt === null || prompt.some(({ content }) => content.trim() === '')) return false;
  const { dataset, scorer } = holderOf(kind, request);
  if (typeof asObject(dataset)?.['dataset_id'] !== 'string') return false;
  return isShown(scorer) && missingParts(formOf(source)).length === 0;
}

/** Whether the fields of a scorer say all of its values that they are for. */
function isShown(scorer: unknown): boolean {
  const form = scorerForms[textOf(typeOf(scorer))];
  const texts = form?.fields.filter(({ kind }) => kind !== 'value' && kind !== 'check') ?? [];
  return (
    form !== undefined &&
    texts.every(({ name, kind }) => {
      const value = asObject(scorer)?.[name];
      if (kind === 'list' && Array.isArray(value)) return !value.some((item) => String(item).includes(','));
      return value === undefined || textOf(value) !== '';
    })
  );
}

/** What the form shows of a request that fits it; of another one, the request as JSON. */
export function draftOf(source: Source): Draft {
  if (!fitsForm(source)) return { ...emptyDraft, kind: source.kind, json: JSON.stringify(source.request, null, 2) };
  return formOf(source);
}

function formOf({ kind, request, prompt }: Source): Draft {
  const held = holderOf(kind, request);
  const [dataset, policy, proposer] = ['dataset', 'policy', 'proposer'].map((name) => asObject(held[name]) ?? {});
  const budget = asObject(held['budget']) ?? {};
  const own = asObject(held['initial_prompt'] ?? held['candidate'])?.['messages'] as PromptMessage[] | undefined;
  const { timeout, algorithm } = held;
  const minutes = kind === 'session' ? budget['max_minutes'] : typeof timeout === 'number' ? timeout / 60 : undefined;
  return {
    ...emptyDraft,
    kind: kind as Draft['kind'],
    datasetId: textOf(dataset!['dataset_id']),
    input: textOf(dataset!['input']),
    expected: textOf(dataset!['expected']),
    messages: [...(own ?? prompt!)],
    scorer: scorerDraftOf(held['scorer']),
    guessedScorer: null,
    provider: textOf(policy!['provider']),
    model: textOf(policy!['model']),
    proposerProvider: textOf(proposer!['provider']),
    proposerModel: textOf(proposer!['model']),
    ...(kind === 'session' && { algorithm: algorithm as Draft['algorithm'] }),
    rollouts: textOf(budget['max_rollouts']),
    dollars: textOf(budget['max_cost_usd']),
    minutes: textOf(minutes),
    name: textOf(request['name']),
    tags: ((request['tags'] ?? []) as string[]).join(', '),
  };
}

/**
 * The request of a changed form: the request that it began with, but for the fields whose values
 * differ from those that the form began with. Fields that the form does not show stay.
 */
export function requestFrom(source: Source, draft: Draft): Body {
  if (draft.json !== null || !fitsForm(source) || draft.kind !== source.kind) return requestOf(draft);
  const { kind, request } = source;
  const [old, now] = [requestOf(draftOf(source)), requestOf(draft)].map((body) => withTypedScorer(kind, body));
  const patch = patchBetween(old!, now!);
  const changes = holderOf(kind, patch);
  // Settings of one scorer mean nothing to another, and a reference to a candidate is not its text.
  const isReplaced = { scorer: 'type' in (asObject(changes['scorer']) ?? {}), candidate: 'candidate' in changes };
  const base = 'scorer' in changes ? withTypedScorer(kind, request) : request;
  const merged = mergePatch(base, patch) as Body;
  return (['scorer', 'candidate'] as const)
    .filter((name) => isReplaced[name])
    .reduce((body, name) => withField(kind, body, name, holderOf(kind, now!)[name]), merged);
}

function withField(kind: RunKind, body: Body, name: string, value: unknown): Body {
  const held = { ...holderOf(kind, body), [name]: value };
  return kind === 'session' ? { ...body, policy_optimization: held } : held;
}

/** With a scorer as an object, so that its settings can be compared one by one. */
function withTypedScorer(kind: RunKind, body: Body): Body {
  const { scorer } = holderOf(kind, body);
  return typeof scorer === 'string' ? withField(kind, body, 'scorer', { type: scorer }) : body;
}

export interface FieldChange {
  /** A JSON pointer. */
  pointer: string;
  /** Undefined: absent. */
  before: unknown;
  after: unknown;
}

/** The fields that differ, lists of equal length element by element. */
export function changesBetween(before: unknown, after: unknown, pointer = ''): FieldChange[] {
  const [old, now] = [partsOf(before), partsOf(after)];
  if (old && now && Array.isArray(before) === Array.isArray(after)) {
    if (!Array.isArray(before) || Object.keys(old).length === Object.keys(now).length)
      return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name) =>
        changesBetween(old[name], now[name], `${pointer}/${name}`),
      );
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ pointer, before, after }];
}

/** The fields of the request that the form does not show. */
export function hiddenFields(source: Source): FieldChange[] {
  if (!fitsForm(source)) return [];
  const { kind, request } = source;
  const shown = requestOf(draftOf(source));
  return changesBetween(withTypedScorer(kind, shown), withTypedScorer(kind, request)).filter(
    ({ pointer, before }) =>
      (before === undefined && !(kind === 'evaluation' && pointer.startsWith('/candidate/'))) ||
      /^\/policy_optimization\/(gepa|mipro)\//.test(pointer),
  );
}

export const holderOf = (kind: RunKind, body: Body): Body =>
  kind === 'session' ? (asObject(body['policy_optimization']) ?? {}) : body;

const partsOf = (value: unknown): Body | null =>
  Array.isArray(value) ? (Object.fromEntries(value.entries()) as Body) : asObject(value);

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

const typeOf = (scorer: unknown): unknown => asObject(scorer)?.['type'] ?? scorer;

function scorerDraftOf(scorer: unknown): ScorerDraft {
  const { type, ...settings }: Body = asObject(scorer) ?? { type: scorer };
  const name = textOf(type);
  const values = (scorerForms[name]?.fields ?? []).flatMap((field): [string, string | boolean][] => {
    const value = settings[field.name];
    if (field.kind === 'check') return [[field.name, value === field.on]];
    if (value === undefined) return [];
    if (field.kind === 'list') return [[field.name, (value as string[]).join(', ')]];
    return [[field.name, field.kind === 'value' ? JSON.stringify(value) : textOf(value)]];
  });
  return { type: name, values: Object.fromEntries(values) };
}
