/**
 * The forecast for the most promising candidate against the truth at the end of each generation, in
 * the benchmark's worlds and in worlds where a text may suit only the seeds it was shown.
 * Invariants: no bias on average; the 95 % interval covers the truth about that often.
 */
import { describe, expect, test } from '@jest/globals';
import { searchTask } from '../../../../bench/curve/task.js';
import { devSeeds } from '../../../../bench/worlds/freeze.js';
import { InProcess } from '../../../../bench/worlds/in-process.js';
import { openWorld, worldKinds, type WorldKind } from '../../../../bench/worlds/world.js';
import type { GepaConfig } from '../../../../src/core/algorithms/gepa/config.js';
import { gepa } from '../../../../src/core/algorithms/gepa/step.js';
import { seedRng, uniformInt } from '../../../../src/core/math/random.js';
import { mean } from '../../../../src/core/math/rewards.js';
import { config, drive, proposed, type World } from './driver.js';

type Told = World & { truth(candidate: number): number };

interface Seen {
  bias: number;
  covered: number;
}

/** Each generation's end at which the most promising candidate was not evaluated itself. */
function compare(given: GepaConfig, world: Told): Seen[] {
  return drive(given, world).turns.flatMap(({ after, decisions }) => {
    if (decisions.every(({ type }) => type !== 'generation_complete')) return [];
    const { candidate, reward, low, high } = gepa.view(after).estimate!;
    if (after.candidates.find((one) => one.candidate === candidate)!.reward !== null) return [];
    const truth = world.truth(candidate);
    return [{ bias: reward - truth, covered: Number(low - 1e-9 <= truth && truth <= high + 1e-9) }];
  });
}

/** A search weighs as much as any other, however many generations it had. */
function summarize(searches: readonly Seen[][]) {
  const whole = searches.filter((seen) => seen.length > 0);
  const over = (key: keyof Seen) => mean(whole.map((seen) => mean(seen.map((one) => one[key]))!))!;
  return { bias: over('bias'), covered: over('covered') };
}

/** A bench world; where it is noisy the truth is a mean over many rollouts. */
function benchWorld(kind: WorldKind, seed: number, evaluationSeeds: readonly number[]): Told {
  const world = openWorld(kind, seed);
  const answers = new InProcess(world);
  const times = Array.from({ length: kind === 'noisy' ? 20 : 1 }, (_, time) => 1_000 + time);
  return {
    rollout: (request) => answers.rollout(request),
    propose: (request) => answers.propose(request),
    truth(candidate) {
      const texts = answers.textsOf(candidate);
      return mean(evaluationSeeds.flatMap((one) => times.map((time) => world.score(texts, one, time).reward)))!;
    },
  };
}

/** Percentages: solved by the baseline, repaired among shown seeds and others, regressed. */
interface Manner {
  solved: number;
  mendsShown: number;
  mendsOthers: number;
  spoils: number;
}

function drawnWorld(manner: Manner, worldSeed: number, { trainSeeds, evaluationSeeds }: GepaConfig): Told {
  const all = [...new Set([...trainSeeds, ...evaluationSeeds])];
  const draw = (candidate: number, seed: number, percent: number) =>
    uniformInt(seedRng(worldSeed, candidate * 1_000 + seed), 100)[0] < percent;
  const solves = new Map([[0, new Set(all.filter((seed) => draw(0, seed, manner.solved)))]]);
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
            merge.some((one) => solves.get(one)!.has(seed) && !base.has(seed)) ||
            merge.every((one) => solves.get(one)!.has(seed))
          );
        if (base.has(seed)) return !draw(candidate, seed, manner.spoils);
        return draw(candidate, seed, shown.has(seed) ? manner.mendsShown : manner.mendsOthers);
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

describe('what is expected is what is true, within its interval', () => {
  test.each(worldKinds)('in worlds of kind %s', (kind) => {
    const searches = devSeeds.slice(0, 10).map((seed) => {
      const given = configOf(seed, 200);
      return compare(given, benchWorld(kind, seed, given.evaluationSeeds));
    });
    const { bias, covered } = summarize(searches);
    expect(Math.abs(bias)).toBeLessThan(0.08);
    expect(covered).toBeGreaterThan(0.92);
  });

  test.each<[string, Manner]>([
    ['learns what it is shown and nothing else', { solved: 10, mendsShown: 80, mendsOthers: 0, spoils: 0 }],
    ['spoils what others solve', { solved: 40, mendsShown: 80, mendsOthers: 2, spoils: 4 }],
    ['learns a little for others', { solved: 10, mendsShown: 60, mendsOthers: 6, spoils: 1 }],
    ['learns as much for others', { solved: 30, mendsShown: 30, mendsOthers: 20, spoils: 3 }],
  ])('where a text %s', (_, manner) => {
    const searches = devSeeds.slice(0, 10).map((seed) => {
      const given = configOf(seed, 200);
      return compare(given, drawnWorld(manner, seed, given));
    });
    const { bias, covered } = summarize(searches);
    expect(Math.abs(bias)).toBeLessThan(0.1);
    expect(covered).toBeGreaterThan(0.88);
  });
});

describe('where evaluation seeds are train seeds', () => {
  function overlapping(open: (seed: number, given: GepaConfig) => Told) {
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

  test('nothing tells that a text learns what it is shown alone, and the interval is as wide as that', () => {
    const manner = { solved: 10, mendsShown: 80, mendsOthers: 0, spoils: 0 };
    expect(overlapping((seed, given) => drawnWorld(manner, seed, given)).covered).toBeGreaterThan(0.9);
  });
});

describe('at the edges', () => {
  const given = configOf(1, 200);
  const plain = drawnWorld({ solved: 10, mendsShown: 80, mendsOthers: 6, spoils: 1 }, 1, given);

  test('an evaluated candidate is expected to score what was measured', () => {
    const view = gepa.view(drive(given, plain).state);
    const { bestReward: reward, bestCandidate: candidate } = view;
    expect(view.estimate).toEqual({ candidate, reward, low: reward, high: reward });
  });

  test.each([1e300, 1e-300, -1e300])('rewards times %p make it no less finite', (factor) => {
    const scaled: World = { ...plain, rollout: (request) => (plain.rollout(request) as number) * factor };
    for (const { after } of drive(given, scaled).turns) {
      const { estimate } = gepa.view(after);
      for (const value of [estimate?.reward, estimate?.low, estimate?.high]) {
        if (value !== undefined) expect(Number.isFinite(value)).toBe(true);
      }
    }
  });

  test('the interval stays among the rewards that there can be', () => {
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
