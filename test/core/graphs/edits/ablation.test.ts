import { expect, test } from '@jest/globals';
import { ablationsOf } from '../../../../src/core/graphs/edits/ablation.js';
import { applyEdits } from '../../../../src/core/graphs/edits/edits.js';
import { singleStepGraph } from '../../../../src/core/graphs/single-step.js';

const rules = { models: ['m'], maxAttempts: 72 };
const single = singleStepGraph([{ role: 'system', content: 'Answer.' }], ['question']);

test('gives the valid graphs without one step, the last step first', () => {
  const verified = applyEdits(single, [{ edit: 'verify', step: 'solve' }], rules);
  if (!verified.ok) throw new Error('not applied');
  expect(ablationsOf(verified.graph, rules)).toEqual([
    { graph: single, edit: { edit: 'remove', step: 'solve_verify' } },
  ]);
});

test('gives none of a single step', () => {
  expect(ablationsOf(single, rules)).toEqual([]);
});
