import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { createDeploymentSchema } from '../../../../src/kinds/deployment/contract/deployment.js';
import { graphSchema } from '../../../../src/kinds/graph/contract/graph.js';
import { createSessionSchema } from '../../../../src/kinds/session/contract/create.js';
import { faultsIn, fieldsAt } from '../../../../src/platform/http/server/faults.js';

test('the fields of an object are found through optional fields, lists and unions', () => {
  expect(fieldsAt(createSessionSchema, ['policy_optimization', 'gepa'])).toContain('generations');
  expect(fieldsAt(createDeploymentSchema, ['gate'])).toContain('min_reward');
  expect(fieldsAt(createDeploymentSchema, ['source', 'messages', 0])).toEqual(['role', 'content', 'name']);
  expect(fieldsAt(graphSchema, ['steps', 3])).toEqual(expect.arrayContaining(['messages', 'by']));
  expect(fieldsAt(createSessionSchema, ['constructor', 'prototype'])).toEqual([]);
});

test('a name that an object must not have is told as the rule that it breaks', () => {
  const schema = z.object({ row: z.record(z.string().min(1, 'must not be empty'), z.unknown()) });
  const { issues } = schema.safeParse({ row: { '': 1 } }).error!;
  expect(faultsIn(issues, schema)).toEqual([{ path: ['row', ''], message: 'the name must not be empty' }]);
});
