import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { initialMessages, taskInput } from '../../../../src/kinds/graph/contract/dataset.js';
import { createGraphJobSchema, requestPolicies } from '../../../../src/kinds/graph/contract/job.js';
import { verifierSpec, type VerifierConfig } from '../../../../src/scorers/verifier.js';

const task = { id: 'a', input: { question: 'q' } };
const dataset = {
  tasks: [task],
  gold_outputs: [{ task_id: 'a', output: { answer: 'x' } }],
  verifier_config: { mode: 'exact' },
};
const good = { dataset, policy_model: 'gpt-4o-mini', rollout_budget: 20 };

/** Messages about a body, by path. */
function problemsOf(body: unknown): Record<string, string> {
  const { error } = createGraphJobSchema.safeParse(body);
  return Object.fromEntries((error?.issues ?? []).map(({ path, message }) => [path.join('.'), message]));
}
const withDataset = (changes: object) => problemsOf({ ...good, dataset: { ...dataset, ...changes } });

describe('the body of a graph job', () => {
  test('fills in defaults for a minimal body', () => {
    expect(createGraphJobSchema.parse(good)).toEqual({
      ...good,
      policy_provider: 'openai',
      proposer_effort: 'medium',
      auto_start: true,
      rng_seed: 0,
      max_concurrent: 5,
      rollout_timeout: 120,
      max_failure_rate: 0.5,
      preflight: true,
      answer_cache: false,
    });
  });

  test('accepts all fields', () => {
    const body = {
      dataset: {
        metadata: { name: 'n', any: [1] },
        initial_prompt: { messages: [{ role: 'system', content: 'Answer.' }] },
        tasks: [
          { id: 'a', input: 'text', rubric: 'Be kind.' },
          { id: 'b', input: { input: null }, rubric: { criteria: [{ name: 'n', weight: 2, description: 'd' }] } },
        ],
        gold_outputs: [{ task_id: 'b', output: null }],
        default_rubric: '- a (1): x',
        verifier_config: { mode: 'rubric', model: 'judge', provider: 'local' },
      },
      policy_models: ['m', 'n'],
      policy_provider: 'local',
      proposer: { model: 'big', provider: 'openai', temperature: 1 },
      rollout_budget: 100,
      proposer_effort: 'high',
      auto_start: false,
      initial_graph: { anything: true },
      rng_seed: -7,
      budget: { max_rollouts: 100, max_cost_usd: 2, max_minutes: 0.5 },
      max_concurrent: 256,
      rollout_timeout: 3_600,
      max_failure_rate: 0.2,
      preflight: false,
      answer_cache: 'sampled',
    };
    expect(createGraphJobSchema.parse(body)).toEqual(body);
  });

  test('criteria have defaults', () => {
    const rubric = { criteria: [{ name: 'n' }] };
    const body = createGraphJobSchema.parse({ ...good, dataset: { ...dataset, default_rubric: rubric } });
    expect(body.dataset.default_rubric).toEqual({ criteria: [{ name: 'n', weight: 1, description: '' }] });
  });

  test('converts to JSON Schema', () => {
    const schema = z.toJSONSchema(createGraphJobSchema, { io: 'input' });
    expect(schema.$defs!['CreateGraphJob']).toMatchObject({ required: ['dataset', 'rollout_budget'] });
    expect(JSON.stringify(schema)).toContain('"maxItems":10000');
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, ''],
    ['a list', [], ''],
    ['an unknown field', { ...good, x: 1 }, ''],
    ['no budget', { ...good, rollout_budget: undefined }, 'rollout_budget'],
    ['a budget of 0', { ...good, rollout_budget: 0 }, 'rollout_budget'],
    ['a fractional budget', { ...good, rollout_budget: 1.5 }, 'rollout_budget'],
    ['no model', { ...good, policy_model: undefined }, 'policy_model'],
    ['policy_model beside policy_models', { ...good, policy_models: ['m'] }, 'policy_models'],
    ['a repeated model', { ...good, policy_model: undefined, policy_models: ['m', 'n', 'm'] }, 'policy_models.2'],
    ['no models', { ...good, policy_model: undefined, policy_models: [] }, 'policy_models'],
    ['two budgets', { ...good, budget: { max_rollouts: 21 } }, 'budget.max_rollouts'],
    ['a cost limit of 0', { ...good, budget: { max_cost_usd: 0 } }, 'budget.max_cost_usd'],
    ['a key', { ...good, proposer: { model: 'm', provider: 'p', api_key: 'k' } }, 'proposer.api_key'],
    ['an effort', { ...good, proposer_effort: 'max' }, 'proposer_effort'],
    ['a concurrency above the limit', { ...good, max_concurrent: 257 }, 'max_concurrent'],
    ['a rollout timeout above the limit', { ...good, rollout_timeout: 3_601 }, 'rollout_timeout'],
    ['a fractional seed', { ...good, rng_seed: 0.5 }, 'rng_seed'],
    ['a missing dataset', { ...good, dataset: undefined }, 'dataset'],
  ])('rejects %s', (_, body, path) => {
    const found = problemsOf(body);
    expect(Object.keys(found)).toContain(path);
    expect(Object.keys(found)).toContain(path);
  });

  test('reports problems of fields and across fields together', () => {
    const body = {
      dataset: { tasks: [task, task, { id: '', input: 1 }], verifier_config: { mode: 'numeric', tolerance: -1 } },
      rollout_budget: 0,
    };
    expect(Object.keys(problemsOf(body)).sort()).toEqual([
      'dataset.tasks.0',
      'dataset.tasks.1',
      'dataset.tasks.1.id',
      'dataset.tasks.2',
      'dataset.tasks.2.id',
      'dataset.tasks.2.input',
      'dataset.verifier_config.tolerance',
      'policy_model',
      'rollout_budget',
    ]);
  });
});

describe('the form of a data set', () => {
  test.each<[string, object, string]>([
    ['no tasks', { tasks: undefined }, 'dataset.tasks'],
    ['tasks that are not a list', { tasks: {} }, 'dataset.tasks'],
    ['an empty id', { tasks: [{ id: '', input: 'x' }] }, 'dataset.tasks.0.id'],
    ['an input that is a number', { tasks: [{ id: 'a', input: 1 }] }, 'dataset.tasks.0.input'],
    ['an input that is a list', { tasks: [{ id: 'a', input: [1] }] }, 'dataset.tasks.0.input'],
    ['an unknown field of a task', { tasks: [{ ...task, x: 1 }] }, 'dataset.tasks.0'],
    ['a gold output without output', { gold_outputs: [{ task_id: 'a' }] }, 'dataset.gold_outputs.0.output'],
    ['an unknown field', { x: 1 }, 'dataset'],
    ['no verifier', { verifier_config: undefined }, 'dataset.verifier_config'],
    ['an unknown mode', { verifier_config: { mode: 'best' } }, 'dataset.verifier_config.mode'],
    ['an unknown option', { verifier_config: { mode: 'exact', x: 1 } }, 'dataset.verifier_config'],
    ['a blank rubric', { default_rubric: ' ' }, 'dataset.default_rubric'],
    ['a rubric of another form', { default_rubric: 1 }, 'dataset.default_rubric'],
    ['no criteria', { default_rubric: { criteria: [] } }, 'dataset.default_rubric.criteria'],
    [
      'a weight of 0',
      { default_rubric: { criteria: [{ name: 'a', weight: 0 }] } },
      'dataset.default_rubric.criteria.0.weight',
    ],
    [
      'a weight that is a text',
      { default_rubric: { criteria: [{ name: 'a', weight: '1' }] } },
      'dataset.default_rubric',
    ],
    [
      'a repeated criterion',
      { default_rubric: { criteria: [{ name: 'a' }, { name: ' A' }] } },
      'dataset.default_rubric.criteria.1.name',
    ],
    [
      'too many criteria',
      { default_rubric: { criteria: Array.from({ length: 21 }, (_, at) => ({ name: `c${at}` })) } },
      'dataset.default_rubric',
    ],
    ['a blank prompt', { initial_prompt: '' }, 'dataset.initial_prompt'],
    ['a prompt without messages', { initial_prompt: { messages: [] } }, 'dataset.initial_prompt.messages'],
  ])('rejects %s', (_, changes, path) => {
    expect(Object.keys(withDataset(changes))).toContain(path);
  });

  test.each<[string, object]>([
    ['a negative weight', { fields: { a: -1 } }],
    ['no names', { fields: [] }],
    ['no weights', { fields: {} }],
    ['a text', { fields: 'a' }],
  ])('fields: %s', (_, option) => {
    const indexes = Object.keys(withDataset({ verifier_config: { mode: 'json', ...option } }));
    expect(indexes.some((index) => index.startsWith('dataset.verifier_config.fields'))).toBe(true);
  });
});

test('taskInput', () => {
  expect(taskInput('x')).toEqual({ input: 'x' });
  expect(taskInput({ a: 1 })).toEqual({ a: 1 });
});

test('initialMessages', () => {
  const messages = [{ role: 'user' as const, content: 'x' }];
  expect(initialMessages({})).toBeNull();
  expect(initialMessages({ initial_prompt: 'x' })).toEqual([{ role: 'system', content: 'x' }]);
  expect(initialMessages({ initial_prompt: { messages } })).toEqual(messages);
});

test('requestPolicies', () => {
  const policy = (model: string) => ({ model, provider: 'p', params: {} });
  expect(requestPolicies({ policy_model: 'm', policy_provider: 'p' })).toEqual([policy('m')]);
  expect(requestPolicies({ policy_models: ['m', 'n'], policy_provider: 'p' })).toEqual([policy('m'), policy('n')]);
});

describe('the stored verifier', () => {
  const judge = (provider: string) => ({ model: 'm', provider, params: {} });
  const model = { model: 'm' };
  const exact = { type: 'exact', caseSensitive: false };
  const json = { type: 'json', caseSensitive: false, fields: null, schema: null };
  test.each<[VerifierConfig, boolean, object]>([
    [{ mode: 'exact' }, false, exact],
    [{ mode: 'contains', case_sensitive: true }, false, { type: 'contains', caseSensitive: true }],
    [{ mode: 'numeric' }, false, { type: 'numeric', tolerance: 1e-6, relative: true }],
    [{ mode: 'numeric', tolerance: 0, relative: false }, false, { type: 'numeric', tolerance: 0, relative: false }],
    [{ mode: 'json' }, false, json],
    [{ mode: 'json', fields: ['a', 'b'] }, false, { ...json, fields: { a: 1, b: 1 } }],
    [{ mode: 'json', fields: { a: 2 } }, false, { ...json, fields: { a: 2 } }],
    [{ mode: 'rubric', ...model }, true, { type: 'rubric', judge: judge('p') }],
    [{ mode: 'rubric', ...model, scoring_guidelines: 'x' }, false, { type: 'rubric', judge: judge('p') }],
    [{ mode: 'rubric', ...model }, false, { type: 'gold_examples', judge: judge('p') }],
    [{ mode: 'gold_examples', ...model, provider: 'q' }, true, { type: 'gold_examples', judge: judge('q') }],
    [{ mode: 'contrastive', ...model }, true, { type: 'gold_examples', judge: judge('p') }],
  ])('of %j with a rubric (%j) is %j', (config, hasRubric, stored) => {
    expect(verifierSpec(config, hasRubric, 'p')).toEqual(stored);
  });
});
