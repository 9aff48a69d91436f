/** What the form of a new run holds. */
import type { Answer } from '../../../../../src/client/index.js';
import { bracedNames, isPlainName } from '../../../../../src/core/prompts/template.js';
import { defaultBudget, type algorithms } from '../../../../../src/cli/task/search.js';
import { emptyScorer, isJson, scorerProblems, type ScorerDraft } from '../../../ui/scorer/draft.js';

/** The data set that a run takes its rows from. */
export type Dataset = Answer<'getDataset'>;

export type RunKind = 'session' | 'evaluation' | 'graph';

/** What the prompt runs on: the rows of a data set, or a container of the user. */
export type Source = 'rows' | 'container';

export interface PromptMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface Draft {
  kind: RunKind;
  source: Source;
  datasetId: string;
  input: string;
  expected: string;
  messages: PromptMessage[];
  /** The messages that the form has drafted, as JSON; null: none. */
  drafted: string | null;
  containerUrl: string;
  envName: string;
  /** Instances of the container, such as 0-49. */
  seeds: string;
  scorer: ScorerDraft;
  /** The type of scorer that the form has chosen; null: a person or a run has. */
  guessedScorer: string | null;
  provider: string;
  model: string;
  /** Empty: the model that answers writes prompts, too. */
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
  source: 'rows',
  datasetId: '',
  input: '',
  expected: '',
  messages: [{ role: 'system', content: '' }],
  drafted: null,
  containerUrl: '',
  envName: '',
  seeds: '0-19',
  scorer: emptyScorer,
  guessedScorer: emptyScorer.type,
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

export const promptPointer = {
  session: '/initial_prompt',
  evaluation: '/candidate',
  graph: '/dataset/initial_prompt',
} as const;

/** Whether the prompt runs on the rows of a data set. Graph jobs do always. */
export const isOnRows = ({ kind, source }: Pick<Draft, 'kind' | 'source'>): boolean =>
  kind === 'graph' || source === 'rows';

/** The rows or the container of a draft; an empty text: none. */
export const sourceOfDraft = (draft: Draft): string => (isOnRows(draft) ? draft.datasetId : draft.containerUrl.trim());

export const isBlank = (messages: readonly PromptMessage[]): boolean =>
  messages.every(({ content }) => content.trim() === '');

/** Whether the form may replace the prompt: nobody has written it. */
export const isUnwritten = ({ messages, drafted }: Pick<Draft, 'messages' | 'drafted'>): boolean =>
  isBlank(messages) || JSON.stringify(messages) === drafted;

/** Whether a text shows the model the column of right answers. */
export const tellsAnswer = (content: string, { input, expected }: Pick<Draft, 'input' | 'expected'>): boolean =>
  expected !== '' && expected !== input && bracedNames(content).includes(expected);

/** Placeholders of the prompt that name no column. `{{input}}` stands for the chosen column. */
export function unknownPlaceholders({ messages, input }: Draft, columns: readonly string[]): string[] {
  const names = messages.flatMap(({ content }) => bracedNames(content).filter(isPlainName));
  const isKnown = (name: string) => columns.includes(name) || (name === 'input' && columns.includes(input));
  return [...new Set(names)].filter((name) => !isKnown(name));
}

/** What a try of a few rows lacks. */
export function missingToTry(draft: Draft): string[] {
  if (draft.json !== null) return ['the form: the request below is edited'];
  const parts = [
    ...missingSource(draft),
    !isOnRows(draft) && draft.envName.trim() === '' && 'the name of the environment',
    draft.model.trim() === '' && 'a model that answers',
    draft.messages.some(({ content }) => tellsAnswer(content, draft)) && 'a prompt without the right answers',
  ];
  return [...new Set(parts.filter((part) => part !== false))];
}

/** What the form lacks before the service can judge it, in its order. */
export function missingParts(draft: Draft): string[] {
  if (draft.json !== null) return isJson(draft.json) ? [] : ['a request that is valid JSON'];
  const isSearch = draft.kind !== 'evaluation';
  const limits = isSearch ? (['rollouts', 'dollars', 'minutes'] as const) : (['dollars', 'minutes'] as const);
  return [
    ...missingSource(draft),
    draft.model.trim() === '' && 'a model that answers',
    isSearch && draft.proposerProvider !== '' && draft.proposerModel.trim() === '' && 'a model that writes prompts',
    limits.some((limit) => !isNumber(draft[limit])) && 'a budget in numbers',
  ].filter((part) => part !== false);
}

/** What a run on rows, or on a container, lacks. */
function missingSource(draft: Draft): (string | false)[] {
  if (!isOnRows(draft))
    return [
      draft.containerUrl.trim() === '' && 'the address of the container',
      draft.kind === 'evaluation' && draft.envName.trim() === '' && 'the name of the environment',
      draft.seeds.trim() === '' && 'the instances of the container',
    ];
  return [
    draft.datasetId === '' && 'data',
    isBlank(draft.messages) && 'a prompt',
    Object.keys(scorerProblems(draft.scorer)).length > 0 && 'the fields of the scorer',
  ];
}

/** The media type of pasted rows, by how they begin. */
export function typeOfRows(text: string): 'application/json' | 'application/jsonl' | 'text/csv' {
  const start = text.trimStart()[0];
  if (start === '[') return 'application/json';
  return start === '{' ? 'application/jsonl' : 'text/csv';
}

/** Whether a field holds a number, or nothing. */
export const isNumber = (text: string): boolean => !Number.isNaN(numberOf(text));

/** null: empty. NaN: no number. */
export function numberOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}
