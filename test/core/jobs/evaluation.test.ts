import { expect, test } from '@jest/globals';
import { evaluationRequests } from '../../../src/core/jobs/evaluation.js';

test('requests every listed seed in order, with repetitions', () => {
  const requests = evaluationRequests([7, 3, 7]);
  expect(requests.map(({ ordinal, seed }) => [ordinal, seed])).toEqual([
    [0, 7],
    [1, 3],
    [2, 7],
  ]);
});
