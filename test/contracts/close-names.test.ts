import { describe, expect, test } from '@jest/globals';
import { closestName } from '../../src/contracts/close-names.js';
import { createDeploymentSchema } from '../../src/contracts/deployments/deployment.js';
import { graphSchema } from '../../src/contracts/graphs/graph.js';
import { createSessionSchema } from '../../src/contracts/sessions/create.js';
import { fieldsAt } from '../../src/http/server/faults.js';

const known = ['model', 'provider', 'temperature', 'max_tokens', 'min_tokens', 'train_seeds', 'gate', 'x'];

describe('the closest name', () => {
  test.each<[string, string | null]>([
    ['provder', 'provider'],
    ['temprature', 'temperature'],
    ['mdoel', 'model'],
    ['Model', 'model'],
    ['trainSeeds', 'train_seeds'],
    ['train-seed', 'train_seeds'],
    ['max_token', 'max_tokens'],
    ['colour', null],
    ['name', null],
    ['y', null],
    ['', null],
    ['_', null],
  ])('of %s is %s', (name, meant) => {
    expect(closestName(name, known)).toBe(meant);
  });

  test('is never the name itself, and none for a name too long to be a slip', () => {
    expect(closestName('model', ['model'])).toBeNull();
    expect(closestName('m'.repeat(1_000_000), ['m'.repeat(1_000_001)])).toBeNull();
  });
});

test('the fields of an object are found through optional fields, lists and unions', () => {
  expect(fieldsAt(createSessionSchema, ['config', 'policy_optimization', 'gepa'])).toContain('generations');
  expect(fieldsAt(createDeploymentSchema, ['gate'])).toContain('min_reward');
  expect(fieldsAt(createDeploymentSchema, ['source', 'messages', 0])).toEqual(['role', 'content', 'name']);
  expect(fieldsAt(graphSchema, ['steps', 3])).toEqual(expect.arrayContaining(['messages', 'by']));
  expect(fieldsAt(createSessionSchema, ['constructor', 'prototype'])).toEqual([]);
});
