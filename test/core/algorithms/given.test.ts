/**
 * Invariants of prompts that people give to a search: each becomes one candidate at most, in the
 * order given, and is tested as proposals are; the search ends as before, within its budget; one
 * that is refused as a duplicate is not the proposer's failure.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createGepa } from '../../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../../src/core/algorithms/gepa.js';
import type { ProposalRequest, SearchAlgorithm } from '../../../src/core/search/protocol.js';
import { pureRuns } from '../../support/runs.js';
import { casesOf, of, worldOf } from './gepa/cases.js';
import { config, drive, scoring, type World } from './gepa/driver.js';

/** A world whose answer to a person's prompt is `outcome`. */
function taking<W extends World>(world: W, outcome: 'proposed' | 'duplicate' = 'proposed'): W {
  return {
    ...world,
    propose: (request: ProposalRequest) => (request.kind === 'given' ? { outcome } : world.propose(request)),
  };
}

/** Gives a prompt before each of the turns. */
function giving<State>(search: SearchAlgorithm<State>, turns: readonly number[]) {
  let turn = 0;
  const taken: string[] = [];
  const between = (state: State): State => {
    let after = state;
    for (const [index] of turns.filter((at) => at === turn).entries()) {
      const id = `${turn}.${index}`;
      const next = search.give(after, id);
      if (next) taken.push(id);
      after = next ?? after;
    }
    turn += 1;
    return after;
  };
  return { between, taken };
}

const turnsOf = fc
  .array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 4 })
  .map((at) => at.sort((a, b) => a - b));

test('a prompt given to a search is requested once, in order, within the budget', () => {
  let count = 0;
  fc.assert(
    fc.property(casesOf(false), turnsOf, (given, turns) => {
      const { between, taken } = giving(gepa, turns);
      const run = drive(createGepa(given.config), taking(worldOf(given)), between);
      if (run.end.kind === 'failed') return;
      const requested = run.proposals.filter(({ kind }) => kind === 'given');
      expect(of(run, 'candidate_proposed').filter(({ isGiven }) => isGiven)).toHaveLength(requested.length);
      const waiting = run.state.given ?? [];
      count += requested.length;
      expect([...requested.map(({ given: id }) => id), ...waiting]).toEqual(taken);
      const { maxRollouts, targetReward, trials } = given.config;
      if (waiting.length > 0) expect([maxRollouts, targetReward, trials]).not.toEqual([null, null, null]);
      expect(run.state.asked).toBeLessThanOrEqual(maxRollouts ?? Infinity);
      expect(run.requests.map(({ ordinal }) => ordinal)).toEqual(run.requests.map((_, index) => index));
    }),
    { numRuns: pureRuns(100, 1_000) },
  );
  expect(count).toBeGreaterThan(10);
});

describe('a prompt given to a GEPA search', () => {
  // Seed s is solved by candidates that a person gave.
  const givenOnly = (ids: readonly number[]) =>
    scoring(({ candidate, seed }) => (ids.includes(candidate) || seed > 3 ? 1 : 0));

  test('is accepted where it gains, and wins', () => {
    const given = config({ generations: 2 });
    const { between } = giving(gepa, [0]);
    const run = drive(createGepa(given), taking(givenOnly([1])), between);
    expect(of(run, 'candidate_proposed')[0]).toMatchObject({ candidate: 1, parents: [0], isGiven: true });
    expect(of(run, 'candidate_accepted')).toMatchObject([{ candidate: 1 }]);
    expect(run.state.best).toEqual({ candidate: 1, reward: 1 });
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'solved' });
  });

  test('is rejected where it does not gain', () => {
    const { between } = giving(gepa, [0]);
    const run = drive(createGepa(config({ generations: 2 })), taking(givenOnly([])), between);
    expect(of(run, 'candidate_rejected')[0]).toMatchObject({ candidate: 1, reason: 'not_better' });
  });

  test('that is known is reported, and is no failure of the proposer', () => {
    const { between } = giving(gepa, [0, 0, 0]);
    const run = drive(createGepa(config({ generations: 1 })), taking(givenOnly([]), 'duplicate'), between);
    expect(of(run, 'proposal_failed').map(({ candidate }) => candidate)).toEqual([1, 2, 3]);
    expect(run.end.kind).toBe('done');
  });

  test('is not taken once the held-out comparison runs', () => {
    const run = drive(
      config({ generations: 1, heldoutSeeds: [100] }),
      scoring(({ candidate }) => (candidate > 0 ? 1 : 0)),
    );
    const held = run.turns.find(({ after }) => after.phase.name === 'heldout')!.after;
    expect(gepa.give(held, 'late')).toBeNull();
    expect(gepa.give(run.state, 'late')).toBeNull();
  });
});
