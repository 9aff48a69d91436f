import { expect, test } from '@jest/globals';
import { createDeploymentSchema } from '../../../src/contracts/deployments/deployment.js';
import { graphSchema } from '../../../src/contracts/graphs/graph.js';
import { createSessionSchema } from '../../../src/contracts/sessions/create.js';
import { fieldsAt } from '../../../src/http/server/faults.js';

test('the fields of an object are found through optional fields, lists and unions', () => {
  expect(fieldsAt(createSessionSchema, ['config', 'policy_optimization', 'gepa'])).toContain('generations');
  expect(fieldsAt(createDeploymentSchema, ['gate'])).toContain('min_reward');
  expect(fieldsAt(createDeploymentSchema, ['source', 'messages', 0])).toEqual(['role', 'content', 'name']);
  expect(fieldsAt(graphSchema, ['steps', 3])).toEqual(expect.arrayContaining(['messages', 'by']));
  expect(fieldsAt(createSessionSchema, ['constructor', 'prototype'])).toEqual([]);
});
