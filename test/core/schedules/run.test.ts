import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decideRun } from '../../../src/core/schedules/run.js';
import { pureRuns } from '../../support/runs.js';

// Invariants: no run begins beside another one; the dollars of a month are never exceeded by runs
// that keep to their budgets; a run gets the smaller of its own budget and what is left.

const usd = fc.double({ min: 0.001, max: 100, noNaN: true });
const optional = fc.option(usd, { nil: null });

test('an open job leaves a run out, whatever is left', () => {
  const state = { isOpen: true, monthUsd: null, spentUsd: 0, jobUsd: null };
  expect(decideRun(state)).toMatchObject({ kind: 'skip', code: 'still_running' });
});

test('without a limit of the month a run has the budget of its request', () => {
  const state = { isOpen: false, monthUsd: null, spentUsd: 5 };
  expect(decideRun({ ...state, jobUsd: null })).toEqual({ kind: 'start', budgetUsd: null });
  expect(decideRun({ ...state, jobUsd: 2 })).toEqual({ kind: 'start', budgetUsd: 2 });
});

test('the runs of a month never spend more than its dollars', () => {
  fc.assert(
    fc.property(usd, optional, fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (monthUsd, jobUsd, shares) => {
      let spentUsd = 0;
      for (const share of shares) {
        const decision = decideRun({ isOpen: false, monthUsd, spentUsd, jobUsd });
        expect(decision.kind).toBe(spentUsd < monthUsd ? 'start' : 'skip');
        if (decision.kind === 'skip') {
          expect(decision.code).toBe('month_budget_spent');
          return;
        }
        expect(decision.budgetUsd).toBe(Math.min(monthUsd - spentUsd, jobUsd ?? Infinity));
        spentUsd += share * decision.budgetUsd!;
        expect(spentUsd).toBeLessThanOrEqual(monthUsd * (1 + 1e-12));
      }
    }),
    { numRuns: pureRuns() },
  );
});
