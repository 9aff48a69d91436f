/** The fields of requests in the words of pages. */
import { count, dollars, duration, words } from './format.js';

/** By the last names of a pointer; the longest that fits counts. In the order of pages. */
const labels: Record<string, string> = {
  algorithm: 'Algorithm',
  'dataset/dataset_id': 'Data set',
  container_url: 'Container',
  env_name: 'Environment',
  env_config: 'Settings of the environment',
  container_api_key: 'Key of the container',
  webhook_url: 'Webhook',
  'dataset/input': 'Input column',
  'dataset/expected': 'Expected column',
  'dataset/tasks': 'Tasks',
  heldout_rows: 'Held-out rows, at most',
  'candidate/session_id': 'Prompt of the run',
  'candidate/candidate_id': 'Candidate',
  'policy/provider': 'Provider',
  'policy/model': 'Model',
  'proposer/provider': 'Provider that writes prompts',
  'proposer/model': 'Model that writes prompts',
  'scorer/type': 'Scorer',
  scorer: 'Scorer',
  'budget/max_rollouts': 'Answers, at most',
  rollout_budget: 'Answers, at most',
  'budget/max_cost_usd': 'Dollars, at most',
  'budget/max_minutes': 'Minutes, at most',
  timeout: 'Time, at most',
  rollout_timeout: 'Time of an answer, at most',
  max_concurrent: 'At a time, at most',
  max_failure_rate: 'Failed share, at most',
  max_prompt_tokens: 'Tokens of a prompt, at most',
  answer_cache: 'Recorded answers',
  preflight: 'Check of the models before the start',
  demonstrations: 'Rows shown in the prompt, at most',
  rng_seed: 'Seed of randomness',
  target_reward: 'Ends at the reward',
  patience: 'Ends after generations without a better prompt',
  rollouts: 'Who runs the prompt',
  app_id: 'Group of jobs',
  initial_graph: 'First graph',
  policy_model: 'Model',
  policy_models: 'Models',
  policy_provider: 'Provider',
};

const keyOf = (pointer: string): string | undefined => {
  const parts = pointer.split('/').slice(1);
  return [2, 1].map((length) => parts.slice(-length).join('/')).find((key) => key in labels);
};

const order = Object.keys(labels);

/** The place of a field among others; those without a label are last. */
export function rankOf(pointer: string): number {
  const key = keyOf(pointer);
  return key === undefined ? order.length : order.indexOf(key);
}

export function labelOf(pointer: string): string {
  const message = /(?:initial_prompt|candidate)\/messages(?:\/(\d+)\/(\w+))?$/.exec(pointer);
  if (message) return message[1] ? `Prompt, ${words(message[2]!)} of message ${Number(message[1]) + 1}` : 'Prompt';
  const key = keyOf(pointer);
  if (key !== undefined) return labels[key]!;
  const text = pointer
    .replace(/^\/(policy_optimization\/(gepa\/|mipro\/)?)?/, '')
    .split('/')
    .map(words)
    .join(', ');
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
