import { describe, expect, test } from '@jest/globals';
import { isConnectionField, policySchema } from '../../src/contracts/common.js';
import { rewardValue } from '../../src/contracts/control.js';
import {
  evaluationSchemaFor,
  flatEvaluationSchema,
  wrappedEvaluationSchema,
} from '../../src/kinds/evaluation/contract/evaluation.js';

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
