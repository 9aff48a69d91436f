/**
 * Invariants of a search by live traffic, for any answers, beside those of every search:
 *  1. it begins with the same requests as a search by seeds;
 *  2. the budget always covers the evaluation of an accepted child and the held-out comparison;
 *  3. after the baseline the seed of a request is its index in its batch;
 *  4. the best candidate is the one accepted last;
 *  5. an evaluation is the mean of the configured number of fresh rollouts;
 *  6. a test runs all open children and the incumbent equally often, in rounds, and each verdict is
 *     that of the sequential test of exactly these rollouts;
 *  7. reflections show only failures of the incumbent;
 *  8. each candidate has one verdict, and decisions are in the order of candidate numbers;
 *  9. held-out rollouts come last, alternating between baseline and winner.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { testCommonInvariants, type Subject } from '../common-invariants.js';
import { evaluationRollouts, heldoutRollouts } from '../../../../src/core/search/config.js';
import { createGepa } from '../../../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../../../src/core/algorithms/gepa.js';
import { createUnpaired, type UnpairedState } from '../../../../src/core/algorithms/gepa-live/state.js';
import { unpaired } from '../../../../src/core/algorithms/gepa-live.js';
import { mean, sum } from '../../../../src/core/math/rewards.js';
import { addPairs, judgeTest, openTest } from '../../../../src/core/math/sequential-test.js';
import { sampleOf } from '../../../../src/core/math/statistics.js';
import type { Decision } from '../../../../src/core/search/protocol.js';
import { casesOf, measuredIn, of, repeatedBatches, worldOf, type Case, type Measured } from '../gepa/cases.js';
import type { Run, World } from '../gepa/driver.js';
import { chanceOf, serve } from './traffic.js';
import { pureRuns } from '../../../support/runs.js';

const cases = casesOf(false, 800);

/** Rewards by the quality of a candidate, with every kind of rollout and proposal failure. */
function trafficOf(given: Case): World {
  const { rollout, propose } = worldOf(given);
  const qualityOf = (candidate: number) => (candidate === 0 ? 0.3 : chanceOf(given.answerSeed, -1 - candidate));
  return {
    propose,
    rollout(request) {
      const answer = rollout(request);
      if (typeof answer !== 'number') return answer;
      const isGood = chanceOf(given.answerSeed + 1, request.ordinal) < qualityOf(request.candidate);
      return isGood ? 1 : answer / 4;
    },
  };
}

type LiveRun = Run<UnpairedState>;
const subject: Subject<UnpairedState, Case> = {
  search: unpaired,
  cases,
  drive: (given, between) => serve(given.config, trafficOf(given), between),
  numRuns: pureRuns(25, 1_000),
  progressIn: (run) => of(run, 'candidate_accepted').map(({ generation }) => generation),
};

function check(name: string, property: (run: LiveRun, given: Case) => void): void {
  test(name, () => {
    fc.assert(
      fc.property(cases, (given) => property(subject.drive(given), given)),
      { numRuns: subject.numRuns },
    );
  });
}

/** The incumbent before a turn. */
function incumbentBefore({ incumbent }: UnpairedState): number {
  return incumbent?.candidate ?? 0;
}

/** The specified horizon of a test. */
const horizonOf = ({ config }: Case) => Math.max(30, evaluationRollouts(config));

const isVerdict = (decision: Decision) =>
  decision.type === 'candidate_accepted' || decision.type === 'candidate_rejected';

describe('a search by live traffic', () => {
  testCommonInvariants(subject);

  test('begins with the same requests as a search by seeds', () => {
    fc.assert(
      fc.property(cases, ({ config }) => {
        expect(unpaired.next(createUnpaired(config))).toEqual(gepa.next(createGepa(config)));
      }),
    );
  });

  check('ends by generations only after the last one', (run, { config }) => {
    const { generation, nextCandidate } = run.state;
    const isFull = nextCandidate > (config.trials ?? Infinity);
    if (run.end.kind === 'done' && run.end.stoppedBy === 'generations' && !isFull)
      expect(generation).toBe(config.generations);
    const most = Math.min(config.trials ?? Infinity, config.generations * config.populationSize);
    expect(nextCandidate).toBeLessThanOrEqual(1 + most);
  });

  check('numbers the requests of a batch by their seeds', (run) => {
    for (const { work, before } of run.turns) {
      if (work.kind !== 'rollouts' || repeatedBatches(before).length > 0) continue;
      if (before.phase.name === 'baseline') continue;
      expect(work.requests.map(({ seed }) => seed)).toEqual(work.requests.map((_, index) => index));
    }
  });

  check('the best candidate is the one accepted last', (run) => {
    for (const event of of(run, 'generation_complete')) {
      const accepted = of(run, 'candidate_accepted').filter(({ generation }) => generation <= event.generation);
      expect(event.bestCandidate).toBe(accepted.at(-1)?.candidate ?? 0);
      const evaluated = of(run, 'candidate_evaluated').filter(({ generation }) => generation <= event.generation);
      expect(event.bestReward).toBe(Math.max(...evaluated.map(({ reward }) => reward)));
    }
    const { bestCandidate, bestReward } = unpaired.view(run.state);
    expect(bestCandidate).toBe(of(run, 'candidate_accepted').at(-1)?.candidate ?? 0);
    expect(bestReward).toBe(run.state.history.at(-1));
  });

  check('evaluates the baseline and each accepted candidate with fresh rollouts', (run, { config }) => {
    const measured = measuredIn(run);
    const evaluated = of(run, 'candidate_evaluated');
    expect(evaluated.map(({ candidate }) => candidate)).toEqual([
      0,
      ...of(run, 'candidate_accepted').map(({ candidate }) => candidate),
    ]);
    for (const { candidate, reward, seedsEvaluated } of evaluated) {
      const stage = candidate === 0 ? 'baseline' : 'evaluation';
      const own = measured.filter((rollout) => rollout.candidate === candidate && rollout.stage === stage);
      expect(own).toHaveLength(evaluationRollouts(config));
      expect(seedsEvaluated).toBe(own.length);
      expect(reward).toBe(mean(own.map((rollout) => rollout.reward)));
      const summary = run.state.candidates.find((item) => item.candidate === candidate)!;
      expect(summary).toMatchObject({ status: 'evaluated', reward });
    }
  });

  check('tests children against the incumbent in rounds, and decides by the sequential test', (run, given) => {
    const horizon = horizonOf(given);
    const evaluations = new Map<number, number[]>();
    let compared = new Map<number, number[]>();
    for (const { before, after, decisions } of run.turns) {
      const control = incumbentBefore(before);
      if (before.phase.name === 'proposals') compared = new Map();
      const done = repeatedBatches(after).length > 0 ? null : before;
      for (const { candidate, reward } of evaluatedBy(run, decisions)) evaluations.set(candidate, reward);
      if (before.phase.name !== 'gate' || done === null) continue;
      const { batches, arms } = before.phase;
      const { pairs } = batches.gate!;
      const own = answersOf(run, before);
      const open = [...arms.map(({ candidate }) => candidate), control].sort((left, right) => left - right);
      for (let at = 0; at < pairs.length; at += open.length) {
        const round = pairs.slice(at, at + open.length).map(([candidate]) => candidate);
        expect(round.sort((left, right) => left - right)).toEqual(open);
      }
      for (const candidate of open) {
        compared.set(candidate, [...(compared.get(candidate) ?? []), ...own.get(candidate)!]);
      }
      const best = Math.max(
        ...arms.map(({ candidate }) => {
          return verdict(candidate) === 'better' ? sum(compared.get(candidate)!) : -Infinity;
        }),
      );
      function verdict(candidate: number) {
        const deviation = Math.sqrt(sampleOf(evaluations.get(control)!).variance);
        const pairs = compared
          .get(candidate)!
          .map((reward, index) => [reward, compared.get(control)![index]!] as const);
        expect(pairs.length).toBeLessThanOrEqual(horizon);
        return judgeTest(addPairs(openTest(deviation), pairs), horizon);
      }
      for (const { candidate } of arms) {
        const decision = decisions.find((item) => isVerdict(item) && item.candidate === candidate);
        const expected = verdict(candidate);
        if (decision?.type === 'candidate_accepted') {
          expect(expected).toBe('better');
          expect(decision.childSum).toBeCloseTo(best, 9);
          expect(decision.childSum).toBeCloseTo(sum(compared.get(candidate)!), 9);
          expect(decision.parentSum).toBeCloseTo(sum(compared.get(control)!), 9);
          expect(decision.estimate).toBeCloseTo(mean(compared.get(candidate)!)!, 9);
          expect(decision.childSum).toBeGreaterThan(decision.parentSum);
        } else if (decision?.type === 'candidate_rejected') {
          const reason = expected === 'better' || expected === null ? ['overtaken', 'budget'] : [expected];
          expect(reason).toContain(decision.reason);
          if (decision.reason === 'budget') expect(given.config.maxRollouts).not.toBeNull();
          expect(decisions.some(({ type }) => type === 'candidate_accepted')).toBe(
            decision.reason === 'overtaken' || best > -Infinity,
          );
        } else {
          expect(expected).toBeNull();
          expect(best).toBe(-Infinity);
        }
      }
    }
  });

  check('shows reflections only failures of the incumbent', (run) => {
    const rewardOf = new Map(measuredIn(run).map((rollout) => [rollout.ordinal, rollout]));
    const shown = new Set<number>();
    for (const { work, answers, before } of run.turns) {
      if (work.kind !== 'proposals' || answers.kind !== 'proposals') continue;
      for (const { parent, ordinals, pick, merge, candidate } of work.requests) {
        expect(merge).toBeUndefined();
        expect(parent).toBe(incumbentBefore(before));
        expect(pick).toMatchObject({ of: work.requests.length });
        expect(ordinals.length).toBeLessThanOrEqual(60);
        for (const ordinal of ordinals) {
          expect(rewardOf.get(ordinal)).toMatchObject({ candidate: parent });
          expect(rewardOf.get(ordinal)!.reward).toBeLessThan(1);
        }
        const isOld = ordinals.map((ordinal) => shown.has(ordinal));
        expect(isOld).toEqual([...isOld].sort());
        expect(candidate).toBeGreaterThan(parent);
      }
      for (const answer of answers.answers) for (const ordinal of answer.shown ?? []) shown.add(ordinal);
    }
  });

  check('gives each candidate one verdict, in the order of candidate numbers', (run) => {
    const proposed = of(run, 'candidate_proposed').map(({ candidate }) => candidate);
    const verdicts = run.decisions
      .filter(isVerdict)
      .map((decision) => ('candidate' in decision ? decision.candidate : -1));
    expect([...verdicts].sort((left, right) => left - right)).toEqual(proposed);
    for (const { decisions } of run.turns) {
      const decided = decisions
        .filter(isVerdict)
        .map((decision) => ('candidate' in decision ? decision.candidate : -1));
      expect(decided).toEqual([...decided].sort((left, right) => left - right));
      expect(decisions.filter(({ type }) => type === 'candidate_accepted').length).toBeLessThanOrEqual(1);
    }
    expect(run.state.candidates.map(({ candidate }) => candidate)).toEqual([0, ...proposed]);
    const out = run.state.candidates.filter(({ status }) => status === 'rejected').map(({ candidate }) => candidate);
    const rejected = of(run, 'candidate_rejected').map(({ candidate }) => candidate);
    expect(out).toEqual(rejected.sort((left, right) => left - right));
  });

  check('compares baseline and winner at the end, alternating', (run, { config, infrastructure }) => {
    const heldout = run.requests.filter(({ stage }) => stage === 'heldout');
    const { verdict } = unpaired.view(run.state);
    const winner = run.state.incumbent!.candidate;
    if (run.end.kind !== 'done' || winner === 0) {
      expect(heldout).toEqual([]);
      expect(verdict?.verdict ?? null).toBe(run.end.kind === 'done' ? 'inconclusive' : null);
      return;
    }
    const wanted = heldoutRollouts(config);
    expect(verdict!.basis).toBe(wanted > 0 ? 'heldout' : 'evaluation');
    expect(heldout).toEqual(run.requests.slice(run.requests.length - heldout.length));
    const measured = measuredIn(run);
    const meanOf = (tested: number, stages: string[]) =>
      mean(
        measured
          .filter(({ candidate, stage }) => candidate === tested && stages.includes(stage))
          .map(({ reward }) => reward),
      )!;
    const stages = wanted > 0 ? ['heldout'] : ['baseline', 'evaluation'];
    expect(verdict!.baseline).toBeCloseTo(meanOf(0, stages), 9);
    expect(verdict!.winner).toBeCloseTo(meanOf(winner, stages), 9);
    expect(verdict!.difference).toBeCloseTo(verdict!.winner - verdict!.baseline, 9);
    if (infrastructure > 0) return;
    expect(heldout).toHaveLength(wanted);
    for (let at = 0; at < heldout.length; at += 2) {
      const round = heldout.slice(at, at + 2).map(({ candidate }) => candidate);
      expect(round.sort((left, right) => left - right)).toEqual([0, winner]);
    }
  });
});

/** Rewards of the evaluations reported by the decisions, in the order of the requests. */
function evaluatedBy(run: LiveRun, decisions: readonly Decision[]): { candidate: number; reward: number[] }[] {
  const measured = measuredIn(run).filter(({ stage }) => stage === 'baseline' || stage === 'evaluation');
  return of({ decisions: [...decisions] }, 'candidate_evaluated').map(({ candidate }) => {
    return {
      candidate,
      reward: measured.filter((rollout) => rollout.candidate === candidate).map(({ reward }) => reward),
    };
  });
}

/** Rewards by candidate of a state's pending batch, in the order of its pairs. */
function answersOf(run: LiveRun, { phase }: UnpairedState): Map<number, number[]> {
  const [batch] = 'batches' in phase ? Object.values(phase.batches) : [];
  if (!batch) throw new Error(`${phase.name} has no pending batch`);
  const answered = new Map<number, Measured>(measuredIn(run).map((rollout) => [rollout.ordinal, rollout]));
  const rewards = new Map<number, number[]>();
  batch.pairs.forEach(([candidate], index) => {
    const reward = batch.rewards[index] ?? answered.get(batch.ordinals[index]!)!.reward;
    rewards.set(candidate, [...(rewards.get(candidate) ?? []), reward]);
  });
  return rewards;
}
