import { describe, expect, test } from '@jest/globals';
import { isConnectionField, policySchema } from '../../src/contracts/common.js';
import { seedsSchema } from '../../src/contracts/validation.js';
import { rewardValue } from '../../src/contracts/control.js';
import {
  evaluationSchemaFor,
  flatEvaluationSchema,
  wrappedEvaluationSchema,
} from '../../src/contracts/evaluations/evaluation.js';

describe('policy fields', () => {
  test.each([
    'api_key',
    'API_KEY',
    'apiKey',
    'api-key',
    'api_base',
    'base_url',
    'baseURL',
    'extra_headers',
    'headers',
    'default_headers',
    'organization',
    'Authorization',
    'endpoint',
    'inference_url',
    'http_client',
  ])('rejects the connection field %s', (name) => {
    expect(isConnectionField(name)).toBe(true);
    expect(policySchema.safeParse({ model: 'm', provider: 'p', [name]: 'x' }).success).toBe(false);
  });

  test.each([
    'temperature',
    'top_p',
    'max_tokens',
    'seed',
    'response_format',
    'reasoning_effort',
    'tools',
    'metadata',
    'user',
  ])('passes %s to the model', (name) => {
    expect(policySchema.parse({ model: 'm', provider: 'p', [name]: 1 })).toEqual({
      model: 'm',
      provider: 'p',
      [name]: 1,
    });
  });
});

describe('seeds', () => {
  const schema = seedsSchema(3);
  test.each([[[0]], [[5, 5, 5]], [[Number.MAX_SAFE_INTEGER]]])('accepts %j unchanged', (seeds) => {
    expect(schema.parse(seeds)).toEqual(seeds);
  });
  test.each([
    [[]],
    [[1, 2, 3, 4]],
    [[-1]],
    [[0.5]],
    [['1']],
    [[Number.MAX_SAFE_INTEGER + 1]],
    [[null]],
    ['0'],
    [{ 0: 1, length: 1 }],
  ])('rejects %j', (seeds) => {
    expect(schema.safeParse(seeds).success).toBe(false);
  });
});

test('rewardValue prefers outcome_reward, then score, then reward', () => {
  expect(rewardValue({ reward_info: { outcome_reward: 0, score: 1 }, reward: 2 })).toBe(0);
  expect(rewardValue({ reward_info: { outcome_reward: null, score: 1 }, reward: 2 })).toBe(1);
  expect(rewardValue({ reward_info: {}, reward: 2 })).toBe(2);
  expect(rewardValue({ reward: 0 })).toBe(0);
  expect(rewardValue({ reward_info: {} })).toBeNull();
});

test.each([
  [{ config: {} }, wrappedEvaluationSchema],
  [{ kind: 'eval' }, flatEvaluationSchema],
  [{}, flatEvaluationSchema],
  [null, flatEvaluationSchema],
  ['config', flatEvaluationSchema],
  [[], flatEvaluationSchema],
])('selects the schema for %j', (body, form) => {
  expect(evaluationSchemaFor(body)).toBe(form);
});
