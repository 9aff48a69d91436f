/**
 * Compares the estimate for the most promising candidate with its true reward after each
 * generation, in the benchmark's worlds and in worlds where a text may suit only its shown seeds.
 * Invariants: no bias on average; the 95 % interval covers the truth about that often.
 */
import { describe, expect, test } from '@jest/globals';
import { searchTask } from '../../../../bench/curve/task.js';
import { devSeeds } from '../../../../bench/worlds/freeze.js';
import { InProcess } from '../../../../bench/worlds/in-process.js';
import { openWorld, worldKinds, type WorldKind } from '../../../../bench/worlds/world.js';
import type { GepaConfig } from '../../../../src/core/algorithms/gepa/config.js';
import { gepa } from '../../../../src/core/algorithms/gepa.js';
import { seedRng, uniformInt } from '../../../../src/core/math/random.js';
import { mean } from '../../../../src/core/math/rewards.js';
import { config, drive, proposed, type World } from './driver.js';

type WorldWithTruth = World & { truth(candidate: number): number };

interface Comparison {
  bias: number;
  covered: number;
}

/** Comparisons after generations whose most promising candidate was not evaluated. */
function compare(given: GepaConfig, world: WorldWithTruth): Comparison[] {
  return drive(given, world).turns.flatMap(({ after, decisions }) => {
    if (decisions.every(({ type }) => type !== 'generation_complete')) return [];
    const { candidate, reward, low, high } = gepa.view(after).estimate!;
    if (after.candidates.find((summary) => summary.candidate === candidate)!.reward !== null) return [];
    const truth = world.truth(candidate);
    return [{ bias: reward - truth, covered: Number(low - 1e-9 <= truth && truth <= high + 1e-9) }];
  });
}

/** Means over searches, each with the same weight. */
function summarize(searches: readonly Comparison[][]) {
  const whole = searches.filter((comparisons) => comparisons.length > 0);
  const over = (key: keyof Comparison) =>
    mean(whole.map((comparisons) => mean(comparisons.map((comparison) => comparison[key]))!))!;
  return { bias: over('bias'), covered: over('covered') };
}

/** A bench world; in a noisy one the true reward is a mean over many rollouts. */
function benchWorld(kind: WorldKind, seed: number, evaluationSeeds: readonly number[]): WorldWithTruth {
  const world = openWorld(kind, seed);
  const answers = new InProcess(world);
  const times = Array.from({ length: kind === 'noisy' ? 20 : 1 }, (_, time) => 1_000 + time);
  return {
    rollout: (request) => answers.rollout(request),
    propose: (request) => answers.propose(request),
    truth(candidate) {
      const texts = answers.textsOf(candidate);
      return mean(evaluationSeeds.flatMap((seed) => times.map((time) => world.score(texts, seed, time).reward)))!;
    },
  };
}

/** Percentages of seeds: solved by the baseline, repaired (shown, unshown), regressed. */
interface ProposalRates {
  solved: number;
  repairsShown: number;
  repairsUnshown: number;
  regresses: number;
}

function randomWorld(
  rates: ProposalRates,
  worldSeed: number,
  { trainSeeds, evaluationSeeds }: GepaConfig,
): WorldWithTruth {
  const all = [...new Set([...trainSeeds, ...evaluationSeeds])];
  const draw = (candidate: number, seed: number, percent: number) =>
    uniformInt(seedRng(worldSeed, candidate * 1_000 + seed), 100)[0] < percent;
  const solves = new Map([[0, new Set(all.filter((seed) => draw(0, seed, rates.solved)))]]);
  const origins = new Map([[0, 0]]);
  const seeds: number[] = [];
  return {
    rollout({ ordinal, candidate, seed }) {
      seeds[ordinal] = seed;
      return solves.get(candidate)!.has(seed) ? 1 : 0;
    },
    propose(request) {
      const { candidate, parent, merge } = request;
      const answer = proposed(request);
      origins.set(candidate, merge ? origins.get(parent)! : parent);
      const base = solves.get(origins.get(candidate)!)!;
      const shown = new Set(answer.shown?.map((ordinal) => seeds[ordinal]!));
      const own = all.filter((seed) => {
        if (merge)
          return (
            merge.some((parent) => solves.get(parent)!.has(seed) && !base.has(seed)) ||
            merge.every((parent) => solves.get(parent)!.has(seed))
          );
        if (base.has(seed)) return !draw(candidate, seed, rates.regresses);
        return draw(candidate, seed, shown.has(seed) ? rates.repairsShown : rates.repairsUnshown);
      });
      solves.set(candidate, new Set(own));
      return answer;
    },
    truth: (candidate) => mean(evaluationSeeds.map((seed) => Number(solves.get(candidate)!.has(seed))))!,
  };
}

function configOf(seed: number, maxRollouts: number): GepaConfig {
  const { trainSeeds, evaluationSeeds, minibatchSize, rngSeed } = searchTask(seed, maxRollouts);
  return config({
    trainSeeds,
    evaluationSeeds,
    minibatchSize,
    rngSeed,
    maxRollouts,
    populationSize: 4,
    generations: 100,
  });
}

describe('the estimate is unbiased and within its interval', () => {
  test.each(worldKinds)('in worlds of kind %s', (kind) => {
    const searches = devSeeds.slice(0, 10).map((seed) => {
      const given = configOf(seed, 200);
      return compare(given, benchWorld(kind, seed, given.evaluationSeeds));
    });
    const { bias, covered } = summarize(searches);
    expect(Math.abs(bias)).toBeLessThan(0.08);
    expect(covered).toBeGreaterThan(0.92);
  });

  test.each<[string, ProposalRates]>([
    ['repairs shown seeds only', { solved: 10, repairsShown: 80, repairsUnshown: 0, regresses: 0 }],
    ['regresses on solved seeds', { solved: 40, repairsShown: 80, repairsUnshown: 2, regresses: 4 }],
    ['repairs few unshown seeds', { solved: 10, repairsShown: 60, repairsUnshown: 6, regresses: 1 }],
    ['repairs unshown seeds nearly as often', { solved: 30, repairsShown: 30, repairsUnshown: 20, regresses: 3 }],
  ])('for a text that %s', (_, rates) => {
    const searches = devSeeds.slice(0, 10).map((seed) => {
      const given = configOf(seed, 200);
      return compare(given, randomWorld(rates, seed, given));
    });
    const { bias, covered } = summarize(searches);
    expect(Math.abs(bias)).toBeLessThan(0.1);
    expect(covered).toBeGreaterThan(0.88);
  });
});

describe('with evaluation seeds as train seeds', () => {
  function overlapping(open: (seed: number, given: GepaConfig) => WorldWithTruth) {
    return summarize(
      devSeeds.slice(0, 10).map((seed) => {
        const own = configOf(seed, 200);
        const given = { ...own, trainSeeds: own.evaluationSeeds };
        return compare(given, open(seed, given));
      }),
    );
  }

  test.each<WorldKind>(['rules', 'conflicts'])('in worlds of kind %s', (kind) => {
    const { bias, covered } = overlapping((seed, given) => benchWorld(kind, seed, given.evaluationSeeds));
    expect(Math.abs(bias)).toBeLessThan(0.08);
    expect(covered).toBeGreaterThan(0.92);
  });

  test('the interval covers texts that repair shown seeds only', () => {
    const rates = { solved: 10, repairsShown: 80, repairsUnshown: 0, regresses: 0 };
    expect(overlapping((seed, given) => randomWorld(rates, seed, given)).covered).toBeGreaterThan(0.9);
  });
});

describe('edge cases', () => {
  const given = configOf(1, 200);
  const plain = randomWorld({ solved: 10, repairsShown: 80, repairsUnshown: 6, regresses: 1 }, 1, given);

  test('the estimate of an evaluated candidate is its measured reward', () => {
    const view = gepa.view(drive(given, plain).state);
    const { bestReward: reward, bestCandidate: candidate } = view;
    expect(view.estimate).toEqual({ candidate, reward, ...view.bestInterval });
  });

  test.each([1e300, 1e-300, -1e300])('is finite for rewards times %p', (factor) => {
    const scaled: World = { ...plain, rollout: (request) => (plain.rollout(request) as number) * factor };
    for (const { after } of drive(given, scaled).turns) {
      const { estimate } = gepa.view(after);
      for (const value of [estimate?.reward, estimate?.low, estimate?.high]) {
        if (value !== undefined) expect(Number.isFinite(value)).toBe(true);
      }
    }
  });

  test('the interval stays within the range of rewards', () => {
    for (const { after } of drive(given, plain).turns) {
      const { estimate } = gepa.view(after);
      if (!estimate) continue;
      expect(estimate.low).toBeGreaterThanOrEqual(0);
      expect(estimate.high).toBeLessThanOrEqual(1);
      expect(estimate.low).toBeLessThanOrEqual(estimate.reward);
      expect(estimate.high).toBeGreaterThanOrEqual(estimate.reward);
    }
  });
});
