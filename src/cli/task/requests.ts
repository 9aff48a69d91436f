/** The bodies of the requests that start a task. */
import { basename } from 'node:path';
import type { Scorer } from '../../client/index.js';
import { defaultScorer } from '../../scorers/forms.js';
import { modelOf } from './model-name.js';
import { policyOf } from './policy.js';
import type { Prompt } from './prompt-file.js';
import { algorithms, defaultBudget, type Algorithm } from './search.js';
import type { ReadTask } from './task.js';

/** Of the name of a job. */
const mostNameChars = 200;

/** Labels of the job, for lists. */
export interface LabelOptions {
  name?: string | undefined;
  tag?: string[] | undefined;
}

export interface EvaluationOptions extends LabelOptions {
  /** Dollars. */
  maxCost?: number | undefined;
}

export interface SearchOptions extends EvaluationOptions {
  algorithm: Algorithm;
  /** Rows. */
  heldout?: number | undefined;
  maxPromptTokens?: number | undefined;
}

/** The fields of a stored data set, the scorer and the models. */
export function taskRequest(task: ReadTask, datasetId: string) {
  const { scorer = defaultScorer, model = 'local', proposer, input, expected, policy = {} } = task;
  // Parameters for answers do not fit the proposer, whose default is the policy as a whole.
  const writer = proposer ?? (Object.keys(policy).length > 0 ? model : undefined);
  return {
    dataset: { dataset_id: datasetId, ...(input && { input }), ...(expected && { expected }) },
    // A user's JSON, which the service checks.
    scorer: scorer as Scorer,
    policy: policyOf(model, policy),
    ...(writer !== undefined && { proposer: modelOf(writer) }),
  };
}

export type TaskRequest = ReturnType<typeof taskRequest>;

export function sessionRequest(
  fields: TaskRequest,
  { budget, data }: ReadTask,
  { messages }: Prompt,
  { algorithm, maxCost, heldout, maxPromptTokens, ...labels }: SearchOptions,
) {
  const search = algorithm === 'gepa' ? { algorithm, gepa: algorithms.gepa } : { algorithm, mipro: algorithms.mipro };
  return {
    policy_optimization: {
      ...search,
      ...fields,
      initial_prompt: { messages: [...messages] },
      ...(heldout !== undefined && { heldout_rows: heldout }),
      ...(maxPromptTokens !== undefined && { max_prompt_tokens: maxPromptTokens }),
      budget: { max_rollouts: budget ?? defaultBudget, ...(maxCost !== undefined && { max_cost_usd: maxCost }) },
    },
    ...labelsOf(labels, data),
  };
}

export function evaluationRequest(
  { proposer: _, ...fields }: TaskRequest,
  { data }: Pick<ReadTask, 'data'>,
  { messages }: Prompt,
  { maxCost, ...labels }: EvaluationOptions,
) {
  return {
    ...fields,
    candidate: { messages: [...messages] },
    ...(maxCost !== undefined && { budget: { max_cost_usd: maxCost } }),
    ...labelsOf(labels, data),
  };
}

/** Without a name a job has that of the file of its rows. */
function labelsOf({ name: own, tag }: LabelOptions, data: string | undefined) {
  const name = own ?? (data === undefined ? undefined : basename(data).slice(0, mostNameChars));
  return { ...(name !== undefined && { name }), ...(tag && { tags: tag }) };
}
