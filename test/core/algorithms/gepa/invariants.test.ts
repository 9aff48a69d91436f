/**
 * Invariants of a GEPA search, for any answers, beside those of every search:
 *  1. the best candidate has the greatest mean of a full evaluation, ties go to its shorter text,
 *     else to the earlier candidate;
 *  2. an evaluation is the mean over the evaluation seeds: without noise it reuses earlier
 *     rollouts, with noise or repeats all rollouts are fresh;
 *  3. without noise no candidate runs twice on a seed, except in evaluations with repeats and four
 *     noise probes of the baseline in generation 1;
 *  4. only the baseline and accepted candidates become parents, and a merge combines candidates
 *     accepted in its generation;
 *  5. a child is accepted only for a measured gain, a shorter child or a merge only without loss; a
 *     candidate has at most one verdict;
 *  6. a candidate has at most `demonstrations` rows, each a train row, once.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { testCommonInvariants, testSeededInvariants, type Subject } from '../common-invariants.js';
import { estimateRollouts, shownOfMany } from '../../../../src/core/algorithms/gepa/config.js';
import { showsMany } from '../../../../src/core/proposals/approach.js';
import { proposalsIn } from '../../../../src/core/search/parts.js';
import type { DemoSlot } from '../../../../src/core/search/protocol.js';
import { createGepa, type GepaState } from '../../../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../../../src/core/algorithms/gepa.js';
import { exceeds, mean, sum } from '../../../../src/core/math/rewards.js';
import { casesOf, frozen, measuredIn, of, worldOf, type Case, type Measured, type Of } from './cases.js';
import { config as defaults, drive, type Run } from './driver.js';
import { pureRuns } from '../../../support/runs.js';

/** Whether equal rollouts had different rewards; ignores held-out rollouts. */
function differ(measured: readonly Measured[]): boolean {
  const first = new Map<string, number>();
  return measured.some(({ candidate, seed, stage, reward }) => {
    const key = `${candidate} ${seed}`;
    if (!first.has(key)) first.set(key, reward);
    return stage !== 'heldout' && first.get(key) !== reward;
  });
}

/** The winner's text is compressed, and the shorter text earns the same: few random searches do. */
const compressing: Case = {
  config: defaults({
    populationSize: 1,
    generations: 5,
    minibatchSize: 1,
    trainSeeds: [3, 7, 0],
    evaluationSeeds: [3, 7, 0],
  }),
  noisy: false,
  failing: 0,
  infrastructure: 0,
  badProposals: 0,
  duplicates: 0,
  conflicts: 0,
  answerSeed: 8,
};

/** Whether a candidate is the shorter text of another, or of a shorter text of it. */
function isCompressionOf(run: Run, candidate: number, than: number): boolean {
  const request = run.proposals.find((proposal) => proposal.candidate === candidate);
  if (request?.approach !== 'compress') return false;
  return request.parent === than || isCompressionOf(run, request.parent, than);
}

const anyCases = casesOf(false);
const subject: Subject<GepaState, Case> = {
  search: gepa,
  cases: anyCases,
  drive: (given, between) => drive(given.config, worldOf(given), between),
  numRuns: pureRuns(50),
  progressIn: (run) => of(run, 'candidate_accepted').map(({ generation }) => generation),
};
const steadyCases = casesOf(true);

function check(
  name: string,
  property: (run: Run, given: Case) => void,
  cases = anyCases,
  examples: readonly Case[] = [],
): void {
  test(name, () => {
    fc.assert(
      fc.property(cases, (given) => property(subject.drive(given), given)),
      { numRuns: subject.numRuns, examples: [compressing, ...examples].map((example) => [example]) },
    );
  });
}

/** Two children and their merge gain on train seeds, and lose in each evaluation. */
const disappointing: Case = {
  config: defaults({
    generations: 1,
    minibatchSize: 1,
    repeats: 3,
    trainSeeds: [-1, 2, -2, 0, 1],
    evaluationSeeds: [1, 2, 3],
    rngSeed: -1884710753450065,
  }),
  noisy: false,
  failing: 20,
  infrastructure: 0,
  badProposals: 0,
  duplicates: 0,
  conflicts: 0,
  answerSeed: 12,
};

/** The winner without half of its sentences loses nothing. */
const halved: Case = {
  config: defaults({
    populationSize: 1,
    generations: 8,
    minibatchSize: 4,
    rngSeed: -880003942267422,
    trainSeeds: [0, 7, 6, 4],
    evaluationSeeds: [0, 7, 6, 4],
    maxRollouts: 51,
  }),
  noisy: false,
  failing: 0,
  infrastructure: 30,
  badProposals: 0,
  duplicates: 0,
  conflicts: 0,
  answerSeed: 1149367860,
};

describe('a GEPA search', () => {
  check('shows train rows alone, each once, within the limit', (run, { config }) => {
    const seedOf = new Map(run.requests.map(({ ordinal, seed }) => [ordinal, seed]));
    for (const { compose, parent, approach } of run.proposals) {
      if (!compose) continue;
      const [{ labeled, bootstrapped }] = compose.demos as [DemoSlot];
      expect(compose.parents).toEqual([parent]);
      expect(Math.min(labeled.length, bootstrapped.length)).toBe(0);
      // Only at the end does a set lose its last turn.
      if (approach !== 'compress') expect(labeled.length + bootstrapped.length).toBeGreaterThan(0);
      expect(labeled.length).toBeLessThanOrEqual(config.demonstrations);
      expect(bootstrapped.length).toBeLessThanOrEqual(config.goodAnswers);
      const shown = [...labeled, ...bootstrapped].map((ordinal) => seedOf.get(ordinal)!);
      expect(new Set(shown).size).toBe(shown.length);
      expect(shown.filter((seed) => !config.trainSeeds.includes(seed))).toEqual([]);
    }
  });

  testCommonInvariants(subject);
  // With noise, later rollouts change the compared rewards.
  testSeededInvariants(subject, (run) => !differ(measuredIn(run)));

  check('ends by generations or as solved only where it is', (run, { config }) => {
    if (run.end.kind !== 'done') return;
    const { stoppedBy } = run.end;
    const { generation, history, results, nextCandidate } = run.state;
    const isFull = nextCandidate > (config.trials ?? Infinity);
    if (stoppedBy === 'generations' && !isFull) expect(generation).toBe(config.generations);
    expect(nextCandidate).toBeLessThanOrEqual(1 + (config.trials ?? Infinity));
    if (stoppedBy !== 'solved' && stoppedBy !== 'train_solved') return;
    // Measured on one candidate, not inherited from several.
    const isSolvedBy = (own: (typeof results)[string]) =>
      config.trainSeeds.every((seed) => (own[seed]?.at(-1)?.[1] ?? 0) >= 1 - 1e-9);
    expect(Object.values(results).some(isSolvedBy)).toBe(true);
    expect(history.at(-1)! >= 1 - 1e-9).toBe(stoppedBy === 'solved');
  });

  check('chooses the best evaluation, of equals the shorter text, else the earlier candidate', (run) => {
    let best: Of<'candidate_evaluated'> | undefined;
    for (const event of of(run, 'candidate_evaluated')) {
      const isTie =
        best && !exceeds(best.reward, event.reward) && isCompressionOf(run, event.candidate, best.candidate);
      if (!best || exceeds(event.reward, best.reward) || isTie) best = event;
    }
    expect(run.state.best).toEqual({ candidate: best!.candidate, reward: best!.reward });
  });

  check('evaluates on all seeds, with fresh rollouts if rewards are noisy or repeated', (run, { config }) => {
    const measured = measuredIn(run);
    const evaluated = of(run, 'candidate_evaluated');
    expect(new Set(evaluated.map(({ candidate }) => candidate)).size).toBe(evaluated.length);
    const { evaluationSeeds, repeats = 1 } = config;
    for (const { candidate, reward } of evaluated) {
      const stage = candidate === 0 ? 'baseline' : 'evaluation';
      const own = measured.filter((rollout) => rollout.candidate === candidate);
      const full = own.filter((rollout) => rollout.stage === stage);
      // The decision comes with the last answer of the evaluation, or at once if all are known.
      const decidedAt = run.turns.findIndex(({ decisions }) =>
        decisions.some((decision) => decision.type === 'candidate_evaluated' && decision.candidate === candidate),
      );
      const answeredUntil = run.turns[decidedAt]!.after.answered;
      const until = full.length > 0 ? full[0]!.ordinal : answeredUntil;
      const isNoisy = differ(measured.filter(({ ordinal }) => ordinal < until));
      if (isNoisy || repeats > 1 || candidate === 0) {
        const expected = evaluationSeeds.flatMap((seed) => Array.from({ length: repeats }, () => seed));
        expect(full.map(({ seed }) => seed).sort()).toEqual(expected.sort());
        expect(reward).toBe(mean(full.map((rollout) => rollout.reward)));
        continue;
      }
      const before = own.filter(({ ordinal }) => ordinal < answeredUntil);
      const missing = evaluationSeeds.filter(
        (seed) => !before.some((rollout) => rollout.seed === seed && rollout.stage !== stage),
      );
      expect(full.map(({ seed }) => seed).sort()).toEqual(missing.sort());
      const counted = evaluationSeeds.map((seed) => before.filter((rollout) => rollout.seed === seed).at(-1)!.reward);
      expect(reward).toBe(mean(counted));
    }
    for (const { candidate, status, reward } of gepa.view(run.state).candidates) {
      const found = evaluated.find((event) => event.candidate === candidate);
      expect(reward).toBe(found?.reward ?? null);
      if (found) expect(status).toBe('evaluated');
    }
    expect(evaluated.map(({ candidate }) => candidate)).toContain(run.state.best!.candidate);
  });

  check(
    'runs no candidate twice on a seed without noise',
    (run, { config }) => {
      const { repeats = 1 } = config;
      const counts = new Map<string, number>();
      const searching = run.requests.filter(({ stage }) => stage !== 'heldout');
      const own = searching.filter(({ stage }) => repeats === 1 || (stage !== 'evaluation' && stage !== 'baseline'));
      for (const { candidate, seed } of own) {
        counts.set(`${candidate} ${seed}`, (counts.get(`${candidate} ${seed}`) ?? 0) + 1);
      }
      const repeated = [...counts].filter(([, count]) => count > 1);
      for (const [key] of repeated) expect(key).toMatch(/^0 /);
      const extra = sum(repeated.map(([, count]) => count - 1));
      expect(extra).toBeLessThanOrEqual(repeats === 1 ? 4 : 0);
      const again = run.requests.filter(({ stage, generation }) => stage === 'minibatch' && generation > 1);
      expect(again.filter(({ candidate, seed }) => counts.get(`${candidate} ${seed}`)! > 1)).toEqual([]);
    },
    steadyCases,
  );

  check(
    'requests at most the estimated number of rollouts',
    (run, { config }) => {
      expect(run.requests.length).toBeLessThanOrEqual(estimateRollouts(config));
    },
    steadyCases,
    [disappointing],
  );

  check('proposes only from candidates accepted before, and from children that tied', (run, { config }) => {
    const accepted = new Map([[0, 0]]);
    const tied = new Set<number>();
    // A wide search proposes children of a merge beside its test.
    const merges = new Set<number>();
    let last = 0;
    for (const { work, decisions } of run.turns) {
      for (const request of proposalsIn(work)) {
        const { candidate, parent, merge, generation, ordinals, approach, compose, ablation } = request;
        expect(candidate).toBe(++last);
        for (const source of merge ?? [parent])
          expect(accepted.has(source) || tied.has(source) || merges.has(source)).toBe(true);
        if (merge && config.slots > 1) merges.add(candidate);
        if (!merge) {
          const isShown = approach !== 'compress' && compose === undefined && ablation === undefined;
          expect(ordinals.length > 0).toBe(isShown);
          continue;
        }
        expect(config.merge).not.toBe(false);
        expect(merge.length).toBeGreaterThan(1);
        const generations = merge.map((candidate) => accepted.get(candidate)!);
        expect(Math.max(...generations)).toBe(generation);
        if (config.slots === 1) expect(generations).toEqual(merge.map(() => generation));
      }
      for (const decision of decisions)
        if (decision.type === 'candidate_accepted') accepted.set(decision.candidate, decision.generation);
        else if (decision.type === 'candidate_rejected' && decision.childSum === decision.parentSum)
          tied.add(decision.candidate);
    }
    for (const { candidate, parents } of of(run, 'candidate_proposed')) {
      for (const parent of parents) {
        expect(accepted.has(parent) || tied.has(parent) || merges.has(parent)).toBe(true);
        expect(parent).toBeLessThan(candidate);
      }
    }
    const running = run.requests.filter(({ stage }) => stage === 'minibatch');
    for (const { candidate } of running)
      expect(accepted.has(candidate) || tied.has(candidate) || merges.has(candidate)).toBe(true);
  });

  check('gives each proposal of a generation other failures', (run, { config }) => {
    for (const { pick, ordinals, approach } of run.proposals) {
      if (!pick) continue;
      const most = showsMany(approach) ? shownOfMany.failures : config.minibatchSize;
      expect(pick.size).toBeLessThanOrEqual(Math.min(most, config.trainSeeds.length));
      expect((pick.of - 1) * pick.size).toBeLessThan(ordinals.length);
    }
  });

  check(
    'shows only failures and accepts only gains without noise',
    (run) => {
      const measured = measuredIn(run).filter(({ stage }) => stage !== 'heldout');
      const rewardOf = new Map(measured.map((rollout) => [rollout.ordinal, rollout.reward]));
      for (const { ordinals } of run.proposals) {
        for (const ordinal of ordinals) expect(rewardOf.get(ordinal)).toBeLessThan(1);
      }
      const parentsOf = new Map(of(run, 'candidate_proposed').map((event) => [event.candidate, event.parents]));
      type Known = { reward: number; age: number } | null;
      const known = (candidate: number, seed: number, upTo: number): Known => {
        const own = measured.find(
          (rollout) => rollout.candidate === candidate && rollout.seed === seed && rollout.ordinal < upTo,
        );
        return own ? { reward: own.reward, age: 0 } : inherited(candidate, seed, upTo);
      };
      const inherited = (candidate: number, seed: number, upTo: number): Known => {
        const all = (parentsOf.get(candidate) ?? [])
          .map((parent) => known(parent, seed, upTo))
          .filter((estimate) => estimate !== null);
        const [best] = all.sort((left, right) => left.age - right.age || right.reward - left.reward);
        return best ? { ...best, age: best.age + 1 } : null;
      };
      for (const { decisions, after } of run.turns) {
        for (const decision of decisions) {
          if (decision.type !== 'candidate_accepted' && decision.type !== 'candidate_rejected') continue;
          if (decision.type === 'candidate_rejected' && decision.reason === 'budget') continue;
          // Requests at the end of the generation follow the verdict and are not answered yet.
          const upTo = after.answered;
          const own = measured.filter(({ candidate, ordinal }) => candidate === decision.candidate && ordinal < upTo);
          const pairs = own.flatMap(({ seed, reward }) => {
            const expected = inherited(decision.candidate, seed, upTo);
            return expected ? [{ reward, expected: expected.reward }] : [];
          });
          expect(decision.childSum).toBeCloseTo(sum(pairs.map(({ reward }) => reward)), 9);
          expect(decision.parentSum).toBeCloseTo(sum(pairs.map(({ expected }) => expected)), 9);
          const gain = decision.childSum - decision.parentSum;
          const mayTie = decision.reason === 'shorter' || parentsOf.get(decision.candidate)!.length > 1;
          if (decision.type === 'candidate_accepted') expect(gain).toBeGreaterThan(mayTie ? -1e-6 : 1e-10);
          // Of open text, a gain on the tested rows may be a loss over all.
          else if (typeof after.demonstrations !== 'object') expect(gain).toBeLessThan(1e-6);
        }
      }
    },
    steadyCases,
  );

  check(
    'accepts only gains, and gives each candidate one verdict',
    (run) => {
      const proposed = of(run, 'candidate_proposed').map(({ candidate }) => candidate);
      expect(new Set(proposed).size).toBe(proposed.length);
      const accepted = of(run, 'candidate_accepted');
      for (const { candidate, childSum, parentSum, reason } of accepted) {
        const { kind, merge, approach } = run.proposals.find((proposal) => proposal.candidate === candidate)!;
        const isShortening = approach === 'compress' || kind === 'ablate';
        if (reason !== undefined) expect({ reason, isShortening }).toEqual({ reason: 'shorter', isShortening: true });
        if (reason !== undefined) expect(childSum).toBeGreaterThan(parentSum - 1e-6);
        else if (!merge) expect(childSum).toBeGreaterThan(parentSum);
      }
      const rejected = of(run, 'candidate_rejected');
      const verdicts = [...accepted, ...rejected].map(({ candidate }) => candidate).sort((left, right) => left - right);
      expect(verdicts).toEqual(proposed);
      const view = gepa.view(run.state);
      expect(view.candidates.map(({ candidate }) => candidate)).toEqual([0, ...proposed]);
      const rejectedCandidates = view.candidates
        .filter(({ status }) => status === 'rejected')
        .map(({ candidate }) => candidate);
      expect(rejectedCandidates).toEqual(
        rejected.map(({ candidate }) => candidate).sort((left, right) => left - right),
      );
    },
    anyCases,
    [halved],
  );
});

test('createGepa does not modify its config', () => {
  const given = frozen(defaults({ trainSeeds: [1, 2, 3], evaluationSeeds: [1, 2] }));
  expect(() => createGepa(given)).not.toThrow();
});
