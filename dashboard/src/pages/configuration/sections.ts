/** The request of a run as a form to read. */
import { asObject } from '../../../../src/util/json.js';
import { count } from '../../util/format.js';
import { labelOf, rankOf, valueText } from '../../util/request-words.js';

export interface Fact {
  pointer: string;
  /** One of `sectionTitles`. */
  section: string;
  label: string;
  value: string;
  /** As sent. */
  raw: unknown;
}

export interface Section {
  title: string;
  facts: Fact[];
}

/** By the name of a field in the request, or in its `policy_optimization`. */
const sectionOf: Record<string, string> = {
  dataset: 'Data',
  heldout_rows: 'Data',
  seeds: 'Data',
  container_url: 'Data',
  env_name: 'Data',
  env_config: 'Data',
  app_id: 'Data',
  candidate: 'Prompt',
  initial_prompt: 'Prompt',
  initial_graph: 'Prompt',
  rollouts: 'Data',
  scorer: 'Scorer',
  judge_model: 'Scorer',
  judge_provider: 'Scorer',
  policy: 'Models',
  proposer: 'Models',
  policy_model: 'Models',
  policy_models: 'Models',
  policy_provider: 'Models',
  answer_cache: 'Models',
  preflight: 'Models',
  budget: 'Budget and limits',
  rollout_budget: 'Budget and limits',
  timeout: 'Budget and limits',
  rollout_timeout: 'Budget and limits',
  max_concurrent: 'Budget and limits',
  max_failure_rate: 'Budget and limits',
  max_prompt_tokens: 'Budget and limits',
  name: 'Labels',
  tags: 'Labels',
  metadata: 'Labels',
  notes: 'Labels',
};
const searchSection = 'Search';
/** In the order of pages. */
export const sectionTitles = ['Data', 'Scorer', 'Prompt', 'Models', searchSection, 'Budget and limits', 'Labels'];

/** All fields of a request but the messages of its prompt, by section. */
export function sectionsOf(request: Record<string, unknown>): Section[] {
  const facts = factsOf(request);
  return sectionTitles.flatMap((title) => {
    const own = facts.filter(({ section }) => section === title);
    return own.length === 0 ? [] : [{ title, facts: own }];
  });
}

/** All fields of a request but the messages of its prompt. */
export function factsOf(request: Record<string, unknown>): Fact[] {
  const { policy_optimization: search, ...others } = request;
  const fields = [
    ...Object.entries(asObject(search) ?? {}).map(([name, value]) => [`/policy_optimization/${name}`, value] as const),
    ...Object.entries(others).map(([name, value]) => [`/${name}`, value] as const),
  ];
  const hasRows = fields.some(([pointer]) => pointer.endsWith('/dataset'));
  // Rows run in the service, whatever this default says.
  const isMisleading = (pointer: string) => /\/rollouts$/.test(pointer) && hasRows;
  return fields
    .flatMap(([pointer, value]) => (isMisleading(pointer) ? [] : factsAt(pointer, value)))
    .map((fact) => (hasRows ? { ...fact, label: inRows(fact.label) } : fact))
    .sort((left, right) => rankOf(left.pointer) - rankOf(right.pointer));
}

const inRows = (label: string): string => label.replace(/^Seeds/, 'Rows').replace(/\bseeds$/, 'rows');

/** The split of rows in words. */
export const splitWords = (split: Record<'train' | 'evaluation' | 'heldout', readonly number[]>): string =>
  `${count(split.train.length)} train, ${count(split.evaluation.length)} evaluation, ${count(split.heldout.length)} held-out`;

function titleOf(pointer: string): string {
  const [first, second] = pointer.split('/').slice(1);
  return sectionOf[(first === 'policy_optimization' ? second : first)!] ?? searchSection;
}

/** A longer list of objects, and the tasks of a graph job, are one fact. */
const mostParts = 12;

function factsAt(pointer: string, value: unknown): Fact[] {
  if (/\/(initial_prompt|candidate)$/.test(pointer) && asObject(value)?.['messages']) return [];
  const object = asObject(value);
  if (object && !pointer.endsWith('/initial_graph'))
    return Object.entries(object).flatMap(([name, inner]) => factsAt(`${pointer}/${name}`, inner));
  if (Array.isArray(value) && value.length === 0) return [];
  const hasParts = Array.isArray(value) && value.every((part) => asObject(part)) && !pointer.endsWith('/tasks');
  if (hasParts && value.length <= mostParts) return value.flatMap((part, at) => factsAt(`${pointer}/${at + 1}`, part));
  return [
    { pointer, section: titleOf(pointer), label: labelOf(pointer), value: valueText(pointer, value), raw: value },
  ];
}
