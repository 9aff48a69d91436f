/** What the form of a new run holds, and the request of it. */
import type { Answer } from '../../../../src/client/index.js';
import { bracedNames, isPlainName } from '../../../../src/core/prompts/template.js';
import { algorithms, defaultBudget } from '../../../../src/cli/task/search.js';
import { emptyScorer, isJson, scorerOf, scorerProblems, type ScorerDraft } from '../../ui/scorer/draft.js';

/** The data set that a run takes its rows from. */
export type Dataset = Answer<'getDataset'>;

export type RunKind = 'session' | 'evaluation';

export interface PromptMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface Draft {
  kind: RunKind;
  datasetId: string;
  input: string;
  expected: string;
  messages: PromptMessage[];
  scorer: ScorerDraft;
  provider: string;
  model: string;
  /** Empty: the policy proposes. */
  proposerProvider: string;
  proposerModel: string;
  algorithm: keyof typeof algorithms;
  rollouts: string;
  dollars: string;
  minutes: string;
  name: string;
  /** With commas between. */
  tags: string;
  /** The edited request; null: it follows from the other fields. */
  json: string | null;
}

export const emptyDraft: Draft = {
  kind: 'session',
  datasetId: '',
  input: '',
  expected: '',
  messages: [{ role: 'system', content: '' }],
  scorer: emptyScorer,
  provider: 'local',
  model: 'local',
  proposerProvider: '',
  proposerModel: '',
  algorithm: 'gepa',
  rollouts: String(defaultBudget),
  dollars: '',
  minutes: '',
  name: '',
  tags: '',
  json: null,
};

/** The object of the request whose fields the form shows, as a JSON pointer. */
export const holderOf = (kind: RunKind): string => (kind === 'session' ? '/policy_optimization' : '');

export const promptPointer = { session: '/initial_prompt', evaluation: '/candidate' } as const;

/** The request's body, from a draft without problems. */
export function requestOf(draft: Draft): Record<string, unknown> {
  if (draft.json !== null) return JSON.parse(draft.json) as Record<string, unknown>;
  const { kind, provider, model, proposerProvider, proposerModel, algorithm, input, expected } = draft;
  const tags = listOf(draft.tags);
  const labels = { ...(draft.name.trim() && { name: draft.name.trim() }), ...(tags.length > 0 && { tags }) };
  const prompt = { messages: draft.messages.filter(({ content }) => content.trim() !== '') };
  const task = {
    dataset: { dataset_id: draft.datasetId, ...(input && { input }), ...(expected && { expected }) },
    scorer: scorerOf(draft.scorer),
    policy: { provider, model: model.trim() },
  };
  const minutes = numberOf(draft.minutes);
  const dollars = numberOf(draft.dollars);
  if (kind === 'evaluation')
    return {
      ...task,
      candidate: prompt,
      ...(dollars !== null && { budget: { max_cost_usd: dollars } }),
      ...(minutes !== null && { timeout: minutes * 60 }),
      ...labels,
    };
  const limits = { max_rollouts: numberOf(draft.rollouts), max_cost_usd: dollars, max_minutes: minutes };
  const budget = Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null));
  return {
    policy_optimization: {
      algorithm,
      ...task,
      ...(proposerProvider && { proposer: { provider: proposerProvider, model: proposerModel.trim() } }),
      initial_prompt: prompt,
      [algorithm]: algorithms[algorithm],
      budget,
    },
    ...labels,
  };
}

/** Placeholders of the prompt that name no column. `{{input}}` stands for the chosen column. */
export function unknownPlaceholders({ messages, input }: Draft, columns: readonly string[]): string[] {
  const names = messages.flatMap(({ content }) => bracedNames(content).filter(isPlainName));
  const isKnown = (name: string) => columns.includes(name) || (name === 'input' && columns.includes(input));
  return [...new Set(names)].filter((name) => !isKnown(name));
}

/** What the form lacks before the service can judge it, in its order. */
export function missingParts(draft: Draft): string[] {
  if (draft.json !== null) return isJson(draft.json) ? [] : ['a request that is valid JSON'];
  const limits =
    draft.kind === 'session' ? (['rollouts', 'dollars', 'minutes'] as const) : (['dollars', 'minutes'] as const);
  return [
    draft.datasetId === '' && 'data',
    draft.messages.every(({ content }) => content.trim() === '') && 'a prompt',
    Object.keys(scorerProblems(draft.scorer)).length > 0 && 'the fields of the scorer',
    draft.model.trim() === '' && 'a policy model',
    draft.kind === 'session' &&
      draft.proposerProvider !== '' &&
      draft.proposerModel.trim() === '' &&
      'a proposer model',
    limits.some((limit) => !isNumber(draft[limit])) && 'a budget in numbers',
  ].filter((part) => part !== false);
}

/** The columns that are probably input and right answer. */
export function guessColumns(columns: readonly string[]): { input: string; expected: string } {
  const named = (...names: string[]) => columns.find((column) => names.includes(column.toLowerCase()));
  const expected =
    named('expected', 'label', 'answer', 'output', 'target', 'gold') ?? (columns.length > 1 ? columns.at(-1)! : '');
  const input =
    named('input', 'text', 'question', 'prompt', 'message', 'query') ??
    columns.find((column) => column !== expected) ??
    '';
  return { input, expected };
}

/** The media type of pasted rows, by how they begin. */
export function typeOfRows(text: string): 'application/json' | 'application/jsonl' | 'text/csv' {
  const start = text.trimStart()[0];
  if (start === '[') return 'application/json';
  return start === '{' ? 'application/jsonl' : 'text/csv';
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

/** Whether a field holds a number, or nothing. */
export const isNumber = (text: string): boolean => !Number.isNaN(numberOf(text));

/** null: empty. NaN: no number. */
function numberOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}
