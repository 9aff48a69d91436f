import { expect, test } from '@jest/globals';
import {
  exhaustedResource,
  isDataError,
  isPermanent,
  isTransient,
  isUniqueViolation,
} from '../../../src/platform/db/postgres-errors.js';

const withCode = (code: unknown) => Object.assign(new Error('x'), { code });

test.each([
  ['08006', 'transient'],
  ['25006', 'transient'],
  ['25P02', 'neither'],
  ['40001', 'transient'],
  ['53300', 'transient'],
  ['57014', 'transient'],
  ['57P01', 'transient'],
  ['ECONNRESET', 'transient'],
  ['EPIPE', 'transient'],
  ['22003', 'permanent'],
  ['23503', 'permanent'],
  ['42501', 'permanent'],
  ['54000', 'permanent'],
  ['P0001', 'neither'],
  ['ERR_INVALID_ARG_TYPE', 'neither'],
  ['toString', 'neither'],
  ['', 'neither'],
  [23, 'neither'],
])('%s is %s', (code, kind) => {
  const error = withCode(code);
  expect([isTransient(error), isPermanent(error)]).toEqual([kind === 'transient', kind === 'permanent']);
});

test('treats client errors without a code as transient, and all other errors as not', () => {
  for (const message of ['Connection terminated unexpectedly', 'timeout exceeded when trying to connect'])
    expect(isTransient(new Error(message))).toBe(true);
  for (const error of [new RangeError('Invalid array length'), new Error('x'), 'Connection terminated', null])
    expect([isTransient(error), isPermanent(error)]).toEqual([false, false]);
});

test('names one code and one class', () => {
  expect([isUniqueViolation(withCode('23505')), isUniqueViolation(withCode('23503'))]).toEqual([true, false]);
  expect([isDataError(withCode('22P02')), isDataError(withCode('23505'))]).toEqual([true, false]);
});

test.each([
  ['53100', 'disk space'],
  ['53200', 'memory'],
  ['53300', 'connections'],
  ['53400', null],
  ['08006', null],
])('%s: out of %s', (code, resource) => {
  expect(exhaustedResource(withCode(code))).toBe(resource);
});
