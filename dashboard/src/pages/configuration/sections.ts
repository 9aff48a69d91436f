/** The request of a run as a form to read. */
import { asObject } from '../../../../src/util/json.js';
import { labelOf, rankOf, valueText } from '../../util/request-words.js';

export interface Fact {
  pointer: string;
  label: string;
  value: string;
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
const order = ['Data', 'Scorer', 'Models', searchSection, 'Budget and limits', 'Labels'];

/** All fields of a request but the messages of its prompt. */
export function sectionsOf(request: Record<string, unknown>): Section[] {
  const { policy_optimization: search, ...others } = request;
  const fields = [
    ...Object.entries(asObject(search) ?? {}).map(([name, value]) => [`/policy_optimization/${name}`, value] as const),
    ...Object.entries(others).map(([name, value]) => [`/${name}`, value] as const),
  ];
  // Rows run in the service, whatever this default says.
  const isMisleading = (pointer: string) => /\/rollouts$/.test(pointer) && asObject(search)?.['dataset'] !== undefined;
  const facts = fields
    .flatMap(([pointer, value]) => (isMisleading(pointer) ? [] : factsOf(pointer, value)))
    .sort((left, right) => rankOf(left.pointer) - rankOf(right.pointer));
  return order.flatMap((title) => {
    const own = facts.filter(({ pointer }) => titleOf(pointer) === title);
    return own.length === 0 ? [] : [{ title, facts: own }];
  });
}

function titleOf(pointer: string): string {
  const [first, second] = pointer.split('/').slice(1);
  return sectionOf[(first === 'policy_optimization' ? second : first)!] ?? searchSection;
}

function factsOf(pointer: string, value: unknown): Fact[] {
  if (/\/(initial_prompt|candidate)$/.test(pointer) && asObject(value)?.['messages']) return [];
  const object = asObject(value);
  if (object && !pointer.endsWith('/initial_graph'))
    return Object.entries(object).flatMap(([name, inner]) => factsOf(`${pointer}/${name}`, inner));
  if (Array.isArray(value) && value.length === 0) return [];
  return [{ pointer, label: labelOf(pointer), value: valueText(pointer, value) }];
}
