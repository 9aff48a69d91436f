import { expect, test } from '@jest/globals';
import { jobKinds, kindNames, kindOf, workflowId } from '../../../src/core/jobs/kinds.js';
import * as workflows from '../../../workflows/index.js';

const digits = '0123456789abcdef'.repeat(2);

test.each(kindNames)('kindOf recognizes ids of kind %s', (kind) => {
  expect(kindOf(jobKinds[kind].prefix + digits)).toBe(kind);
});

test.each(['', 'ses_', `abc_${digits}`, `ses_${digits}0`, `ses_${digits.toUpperCase()}`])(
  'kindOf rejects "%s"',
  (id) => {
    expect(kindOf(id)).toBeNull();
  },
);

test('prefixes, paths and workflows are unique, and each workflow is exported', () => {
  for (const field of ['prefix', 'path', 'workflow', 'noun'] as const) {
    expect(new Set(kindNames.map((kind) => jobKinds[kind][field])).size).toBe(kindNames.length);
  }
  expect(Object.keys(workflows)).toEqual(expect.arrayContaining(kindNames.map((kind) => jobKinds[kind].workflow)));
  expect(workflowId('graph', 'grf_1')).toBe('graph-grf_1');
});
