/** The fields of requests in the words of pages. */
import { count, dollars, duration, words } from '../../util/format.js';

/** By the last names of a pointer; the longest that fits counts. */
const labels: Record<string, string> = {
  container_url: 'Container',
  env_name: 'Environment',
  env_config: 'Settings of the environment',
  container_api_key: 'Key of the container',
  webhook_url: 'Webhook',
  'dataset/dataset_id': 'Data set',
  'dataset/input': 'Input column',
  'dataset/expected': 'Expected column',
  'dataset/tasks': 'Tasks',
  heldout_rows: 'Held-out rows, at most',
  'policy/provider': 'Provider',
  'policy/model': 'Model',
  'proposer/provider': 'Provider that writes prompts',
  'proposer/model': 'Model that writes prompts',
  'scorer/type': 'Scorer',
  scorer: 'Scorer',
  'budget/max_rollouts': 'Rollouts, at most',
  rollout_budget: 'Rollouts, at most',
  'budget/max_cost_usd': 'Dollars, at most',
  'budget/max_minutes': 'Minutes, at most',
  timeout: 'Time, at most',
  rollout_timeout: 'Time of a rollout, at most',
  max_concurrent: 'At a time, at most',
  max_failure_rate: 'Failed share, at most',
  max_prompt_tokens: 'Tokens of a prompt, at most',
  answer_cache: 'Recorded answers',
  preflight: 'Check of the models before the start',
  rng_seed: 'Seed of randomness',
  target_reward: 'Ends at the reward',
  patience: 'Ends after generations without a better prompt',
  rollouts: 'Who runs the rollouts',
  app_id: 'Group of jobs',
  algorithm: 'Algorithm',
  initial_graph: 'First graph',
  policy_model: 'Model',
  policy_models: 'Models',
  policy_provider: 'Provider',
};

export function labelOf(pointer: string): string {
  const parts = pointer.split('/').slice(1);
  const message = /(?:initial_prompt|candidate)\/messages(?:\/(\d+)\/(\w+))?$/.exec(pointer);
  if (message) return message[1] ? `Prompt, ${words(message[2]!)} of message ${Number(message[1]) + 1}` : 'Prompt';
  for (const length of [2, 1]) {
    const label = labels[parts.slice(-length).join('/')];
    if (label !== undefined) return label;
  }
  const shown = parts[0] === 'policy_optimization' ? parts.slice(1) : parts;
  const text = shown.map(words).join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const seconds = /(^|\/)(rollout_)?timeout$/;
const usd = /_usd$/;
const mostListed = 12;

/** A value on one line; `–`: absent. */
export function valueText(pointer: string, value: unknown): string {
  if (value === undefined) return '–';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') {
    if (seconds.test(pointer)) return duration(value * 1_000);
    return usd.test(pointer) ? dollars(value) : String(value);
  }
  if (!Array.isArray(value)) return JSON.stringify(value);
  if (value.some((item) => typeof item === 'object')) return `${count(value.length)} in the request`;
  const listed = value.slice(0, mostListed).map(String).join(', ');
  return value.length > mostListed ? `${listed}, … (${count(value.length)})` : listed;
}
