/** Creates that the OpenAPI document shows, on rows of their own: no container is needed. */
import type { JobKind } from '../core/jobs/kinds.js';

const policy = { model: 'gpt-4.1-mini', provider: 'openai' };
const question = { role: 'user', content: 'Answer with one word. {{input}}' };
const rows = [
  { input: 'What is the capital of France?', expected: 'Paris' },
  { input: 'What is the capital of Peru?', expected: 'Lima' },
  { input: 'What is the capital of Japan?', expected: 'Tokyo' },
  { input: 'What is the capital of Egypt?', expected: 'Cairo' },
];

const sessionExample = {
  policy_optimization: {
    algorithm: 'gepa',
    dataset: { rows },
    scorer: 'contains',
    initial_prompt: { messages: [question] },
    policy,
    gepa: { population_size: 2, generations: 2 },
    budget: { max_rollouts: 40 },
  },
};

const evaluationExample = {
  dataset: { rows },
  scorer: 'contains',
  candidate: { messages: [question] },
  policy,
};

const graphJobExample = {
  dataset: {
    initial_prompt: 'Answer with one word.',
    tasks: rows.map(({ input }, index) => ({ id: `task-${index}`, input: { question: input } })),
    gold_outputs: rows.map(({ expected }, index) => ({ task_id: `task-${index}`, output: expected })),
    verifier_config: { mode: 'contains' },
  },
  policy_model: policy.model,
  policy_provider: policy.provider,
  rollout_budget: 20,
};

const deploymentExample = {
  name: 'capitals',
  source: { messages: [{ role: 'system', content: 'Answer with one word.' }], policy },
};

export const createExamples: Record<JobKind, object> = {
  session: sessionExample,
  evaluation: evaluationExample,
  graph: graphJobExample,
  deployment: deploymentExample,
};
