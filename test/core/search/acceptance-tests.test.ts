import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { gepa } from '../../../src/core/algorithms/gepa.js';
import type { SearchAlgorithm, TestedSeed } from '../../../src/core/search/protocol.js';
import type { SeededState } from '../../../src/core/search/state.js';
import { pureRuns } from '../../support/runs.js';
import { casesOf, of, worldOf, type Case } from '../algorithms/gepa/cases.js';
import { config, drive, type Run } from '../algorithms/gepa/driver.js';

// Invariants: the recorded test of a decided candidate has all counted rollouts, each seed with a
// rollout of an ancestor or null; rollouts without result are recorded as repeated.

function expectRecorded<State extends SeededState>(search: SearchAlgorithm<State>, run: Run<State>): void {
  const recorded = new Map<number, TestedSeed[]>();
  const parentsOf = new Map(of(run, 'candidate_proposed').map(({ candidate, parents }) => [candidate, parents]));
  const isAncestor = (ancestor: number, candidate: number): boolean =>
    (parentsOf.get(candidate) ?? []).some((parent) => parent === ancestor || isAncestor(ancestor, parent));
  for (const { after, decisions } of run.turns) {
    for (const decision of decisions) {
      if (decision.type !== 'candidate_accepted' && decision.type !== 'candidate_rejected') continue;
      const { candidate, tested } = decision;
      // None where the child of a merge that lost is rejected untested.
      const seeds = recorded.get(candidate) ?? [];
      expect(seeds).toHaveLength(tested);
      const counted = Object.entries(after.results[candidate] ?? {}).map(([seed, own]) => [seed, own.map(([n]) => n)]);
      expect(Object.fromEntries(seeds.map(([seed, , ...own]) => [seed, own]))).toEqual(Object.fromEntries(counted));
      for (const [seed, ancestor] of seeds) {
        if (ancestor === null) continue;
        const rollout = run.requests[ancestor]!;
        expect([rollout.seed, isAncestor(rollout.candidate, candidate)]).toEqual([seed, true]);
      }
    }
    for (const { candidate, seeds } of search.view(after).tests ?? []) recorded.set(candidate, seeds);
  }
  const repeated = of(run, 'rollouts_repeated').flatMap(({ ordinals }) => ordinals);
  const counted = Object.values(run.state.results).flatMap((own) =>
    Object.values(own).flatMap((all) => all.map(([n]) => n)),
  );
  const requested = run.requests.filter(({ stage }) => stage !== 'heldout').map(({ ordinal }) => ordinal);
  const isKnown = new Set([...repeated, ...counted]);
  expect(requested.filter((ordinal) => !isKnown.has(ordinal))).toEqual([]);
  expect(repeated.filter((ordinal) => counted.includes(ordinal))).toEqual([]);
}

test('GEPA', () => {
  const property = fc.property(casesOf(false), (given) => {
    expectRecorded(gepa, drive(given.config, worldOf(given)));
  });
  // A merge runs seeds that are explored for the next cohort, beside its own test.
  const example: Case = {
    config: config({
      populationSize: 2,
      generations: 2,
      minibatchSize: 2,
      rngSeed: 0,
      slots: 4,
      repeats: 2,
      maxRollouts: 64,
      trainSeeds: [0, -1, 1],
      evaluationSeeds: [0, -1, 1],
    }),
    noisy: true,
    failing: 100,
    infrastructure: 0,
    badProposals: 0,
    duplicates: 0,
    conflicts: 0,
    answerSeed: 9183802,
  };
  fc.assert(property, { numRuns: pureRuns(40), examples: [[example]] });
});
