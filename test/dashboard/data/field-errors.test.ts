import { expect, test } from '@jest/globals';
import { RatchetError } from '../../../src/client/index.js';
import { errorAt, fieldErrors, otherErrors } from '../../../dashboard/src/data/field-errors.js';

const error = new RatchetError('refused', {
  code: 'validation_failed',
  fieldErrors: [
    { pointer: '/policy_optimization/policy/model', message: 'is required' },
    { pointer: '/policy_optimization/policies', message: 'unknown field' },
    { pointer: '/name', message: 'is too long' },
  ],
});

test('errors belong to the form field at or above their pointer', () => {
  const errors = fieldErrors(error, '/policy_optimization');
  expect(errorAt(errors, '/policy')).toBe('model is required');
  expect(errorAt(errors, '/policy/model')).toBe('is required');
  expect(errorAt(errors, '/policy', ['/model'])).toBeUndefined();
  expect(errorAt(errors, '/name')).toBe('is too long');
  expect(otherErrors(errors, ['/policy', '/name'])).toEqual([{ pointer: '/policies', message: 'unknown field' }]);
});

test('other failures have no fields', () => {
  expect(fieldErrors(new Error('unreachable'))).toEqual([]);
});
