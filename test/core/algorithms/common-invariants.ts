/**
 * Invariants of every search algorithm:
 *  1. ordinals are 0..N-1 in the order of the requests;
 *  2. the planned number is never below the requested number and equals it at the end;
 *  3. the same config and answers give the same path, through JSON at every turn and with the
 *     answers of a batch in any order; `apply` and `next` do not modify their arguments;
 *  4. only infrastructure failures are requested again, at most twice;
 *  5. one budget warning, when 80 % of the budget is used.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rolloutAnswersIn, rolloutsIn } from '../../../src/core/search/parts.js';
import type { RolloutRequest, SearchAlgorithm } from '../../../src/core/search/protocol.js';
import { frozen, of, reorder, repeatedBatches } from './gepa/cases.js';
import type { Run } from './gepa/driver.js';

interface Given {
  config: { maxRollouts: number | null };
  answerSeed: number;
}

export function testCommonInvariants<State extends { asked: number; phase: object }, Case extends Given>(
  search: SearchAlgorithm<State>,
  cases: fc.Arbitrary<Case>,
  drive: (given: Case, between?: (state: State) => State) => Run<State>,
  numRuns: number,
): void {
  const check = (name: string, property: (run: Run<State>, given: Case) => void) =>
    test(name, () => {
      fc.assert(
        fc.property(cases, (given) => property(drive(given), given)),
        { numRuns },
      );
    });

  check('numbers requests 0..N-1 in their order', (run) => {
    expect(run.requests.map(({ ordinal }) => ordinal)).toEqual(run.requests.map((_, index) => index));
    expect(search.view(run.state).rolloutsCompleted).toBe(run.requests.length);
  });

  check('plans at least as many rollouts as it requests, within the budget', (run, { config }) => {
    for (const { after } of run.turns) {
      const { rolloutsPlanned, rolloutsCompleted } = search.view(after);
      expect(rolloutsPlanned).toBeGreaterThanOrEqual(Math.max(after.asked, rolloutsCompleted));
      expect(rolloutsPlanned).toBeLessThanOrEqual(config.maxRollouts ?? Infinity);
    }
    const { rolloutsPlanned, rolloutsCompleted } = search.view(run.state);
    expect(rolloutsPlanned).toBe(rolloutsCompleted);
  });

  check('repeats its path through JSON and with answers in any order', (run, given) => {
    expect(drive(given, (state) => frozen(JSON.parse(JSON.stringify(state)) as State))).toEqual(run);
    for (const { before, answers, after } of run.turns) {
      expect(search.next(before)).toEqual(search.next(before));
      expect(search.apply(before, reorder(answers, given.answerSeed)).state).toEqual(after);
      const view = search.view(after);
      expect(JSON.parse(JSON.stringify(view))).toEqual(view);
    }
  });

  check('requests infrastructure failures again, at most twice', (run, { config }) => {
    for (const { work, answers, after } of run.turns) {
      const next = search.next(after);
      const repeated = repeatedBatches(after);
      if (next.kind !== 'rollouts' || repeated.length === 0) continue;
      const given = rolloutAnswersIn(answers);
      const faulty = rolloutsIn(work).filter((_, index) => given[index]!.infrastructure);
      const pairOf = ({ candidate, seed, generation }: RolloutRequest) => [candidate, seed, generation];
      const ofStage = (requests: RolloutRequest[], stage: string) =>
        requests.filter((request) => request.stage === stage).map(pairOf);
      for (const [stage, { repeats }] of repeated) {
        expect(repeats).toBeLessThanOrEqual(2);
        const expected = ofStage(faulty, stage);
        const requested = ofStage(next.requests, stage);
        expect(requested).toEqual(config.maxRollouts === null ? expected : expected.slice(0, requested.length));
      }
    }
  });

  check('warns once when 80 % of the budget is used', (run, { config }) => {
    const warnings = of(run, 'budget_warning');
    const limit = config.maxRollouts;
    expect(warnings).toHaveLength(limit !== null && run.state.asked >= 0.8 * limit ? 1 : 0);
    for (const { rolloutsUsed } of warnings) expect(rolloutsUsed).toBeGreaterThanOrEqual(0.8 * limit!);
  });
}
