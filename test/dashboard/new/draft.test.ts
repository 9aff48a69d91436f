import { expect, test } from '@jest/globals';
import { createSessionSchema } from '../../../src/kinds/session/contract/create.js';
import { createGraphJobSchema } from '../../../src/kinds/graph/contract/job.js';
import { tryGraphSchema, trySchema } from '../../../src/kinds/evaluation/contract/try.js';
import { flatEvaluationSchema } from '../../../src/kinds/evaluation/contract/evaluation.js';
import {
  emptyDraft,
  missingParts,
  missingToTry,
  typeOfRows,
  unknownPlaceholders,
  type Draft,
} from '../../../dashboard/src/pages/new/form/draft.js';
import { requestOf, tryOf } from '../../../dashboard/src/pages/new/form/request.js';

const complete: Draft = {
  ...emptyDraft,
  datasetId: 'ds_1',
  input: 'text',
  expected: 'label',
  name: ' First ',
  tags: 'a, b,',
  minutes: '5',
  messages: [
    { role: 'system', content: 'Classify.' },
    { role: 'user', content: ' ' },
  ],
};

test('the request of a session is that of the API', () => {
  const request = requestOf({ ...complete, proposerProvider: 'openai', proposerModel: 'gpt-4o', dollars: '0.5' });
  expect(createSessionSchema.safeParse(request).error?.issues ?? []).toEqual([]);
  expect(request).toEqual({
    policy_optimization: {
      algorithm: 'gepa',
      dataset: { dataset_id: 'ds_1', input: 'text', expected: 'label' },
      scorer: 'exact',
      policy: { provider: 'local', model: 'local' },
      proposer: { provider: 'openai', model: 'gpt-4o' },
      initial_prompt: { messages: [{ role: 'system', content: 'Classify.' }] },
      gepa: { population_size: 2, generations: 200 },
      budget: { max_rollouts: 200, max_cost_usd: 0.5, max_minutes: 5 },
    },
    name: 'First',
    tags: ['a', 'b'],
  });
});

test('the request of an evaluation is that of the API, its limit in seconds', () => {
  const request = requestOf({ ...complete, kind: 'evaluation', dollars: '0.5' });
  expect(flatEvaluationSchema.safeParse(request).error?.issues ?? []).toEqual([]);
  expect(request).toMatchObject({
    budget: { max_cost_usd: 0.5 },
    timeout: 300,
    candidate: { messages: [{ role: 'system' }] },
  });
});

test('the requests of a try, of a container and of a graph job are those of the API', () => {
  expect(trySchema.safeParse(tryOf(complete, 5)).error?.issues ?? []).toEqual([]);
  const ofContainer: Draft = {
    ...complete,
    source: 'container',
    containerUrl: ' http://127.0.0.1:1 ',
    envName: 'test',
  };
  const session = requestOf({ ...ofContainer, seeds: '0-9' });
  expect(createSessionSchema.safeParse(session).error?.issues ?? []).toEqual([]);
  expect(session).toMatchObject({
    policy_optimization: {
      container_url: 'http://127.0.0.1:1',
      env_name: 'test',
      gepa: { evaluation: { seeds: '0-9' } },
    },
  });
  const evaluation = requestOf({ ...ofContainer, kind: 'evaluation', seeds: '3, 5' });
  expect(flatEvaluationSchema.safeParse(evaluation).error?.issues ?? []).toEqual([]);
  expect(evaluation).toMatchObject({ seeds: [3, 5] });
  const graph = requestOf({ ...complete, kind: 'graph', minutes: '' });
  expect(createGraphJobSchema.safeParse(graph).error?.issues ?? []).toEqual([]);
  expect(graph).toMatchObject({
    dataset: { dataset_id: 'ds_1', input: 'text', expected: 'label', verifier_config: { mode: 'exact' } },
    rollout_budget: 200,
  });
  const ofGraph = tryOf({ ...complete, kind: 'graph', dollars: '0.5', proposerProvider: 'openai' }, 5);
  expect(tryGraphSchema.safeParse(ofGraph).error?.issues ?? []).toEqual([]);
});

test('a try refuses a prompt that tells the right answers', () => {
  expect(missingToTry(complete)).toEqual([]);
  const messages = [{ role: 'user' as const, content: '{{text}} {{label}}' }];
  expect(missingToTry({ ...complete, messages })).toHaveLength(1);
});

test('the edited JSON is the request', () => {
  expect(requestOf({ ...complete, json: '{"a": 1}' })).toEqual({ a: 1 });
  expect(missingParts({ ...emptyDraft, json: '{"a": 1}' })).toEqual([]);
  expect(missingParts({ ...complete, json: '{"a": 1' })).toHaveLength(1);
});

test('each missing part is named', () => {
  expect(missingParts(complete)).toEqual([]);
  expect(missingParts(emptyDraft)).toEqual(['data', 'a prompt']);
  expect(missingParts({ ...complete, scorer: { type: 'rubric', values: {} } })).toHaveLength(1);
  expect(missingParts({ ...complete, model: ' ', proposerProvider: 'openai', rollouts: 'many' })).toHaveLength(3);
  // An evaluation has no budget of rollouts.
  expect(missingParts({ ...complete, kind: 'evaluation', rollouts: 'many' })).toEqual([]);
  expect(missingParts({ ...complete, kind: 'evaluation', dollars: 'many' })).toHaveLength(1);
});

test('a placeholder that names no column is found; {{input}} needs an input column', () => {
  const messages = [{ role: 'user' as const, content: '{{input}} {{ text }} {{topic}} {{topic}}' }];
  expect(unknownPlaceholders({ ...complete, messages }, ['text', 'label'])).toEqual(['topic']);
  expect(unknownPlaceholders({ ...complete, messages, input: '' }, ['text'])).toEqual(['input', 'topic']);
});

test.each([
  [' [{"a": 1}]', 'application/json'],
  ['{"a": 1}\n{"a": 2}', 'application/jsonl'],
  ['a,b\n1,2', 'text/csv'],
])('the type of %j', (text, type) => {
  expect(typeOfRows(text)).toBe(type);
});

test('a run without a name is called as its rows', () => {
  const nameOf = (...given: Parameters<typeof requestOf>) => requestOf(...given)['name'];
  const unnamed: Draft = { ...complete, name: ' ' };
  expect(nameOf(unnamed, 'rows.csv')).toBe('rows.csv');
  expect(nameOf({ ...unnamed, kind: 'graph' }, 'rows.csv')).toBe('rows.csv');
  expect(nameOf({ ...unnamed, name: ' mine ' }, 'rows.csv')).toBe('mine');
  expect(nameOf(unnamed)).toBeUndefined();
  expect(nameOf({ ...unnamed, source: 'container', containerUrl: 'http://127.0.0.1:1' }, 'rows.csv')).toBeUndefined();
});
