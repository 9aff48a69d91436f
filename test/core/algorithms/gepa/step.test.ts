import { describe, expect, test } from '@jest/globals';
import { minimumRollouts } from '../../../../src/core/algorithms/gepa/config.js';
import { createGepa, type GepaState } from '../../../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../../../src/core/algorithms/gepa.js';
import type { RolloutRequest } from '../../../../src/core/search/protocol.js';
import { answer, config, drive, proposed, scoring, type World } from './driver.js';

/** Every child is better than its parent on every seed. */
const improving = scoring(({ candidate }) => Math.min(0.9, 0.1 + candidate / 50));
/** All candidates are equal. */
const level = scoring(() => 0.5);

function rolloutsOf(state: GepaState): RolloutRequest[] {
  const work = gepa.next(state);
  return work.kind === 'rollouts' ? work.requests : [];
}

describe('the budget', () => {
  const base = config({
    populationSize: 1,
    generations: 50,
    minibatchSize: 2,
    evaluationSeeds: [10, 11, 12, 13, 14, 15],
  });

  test('covers one child and its evaluation at its minimum', () => {
    for (const minibatchSize of [1, 2, 3, 6]) {
      const given = { ...base, minibatchSize };
      const run = drive({ ...given, maxRollouts: minimumRollouts(given) }, improving);
      expect(gepa.view(run.state)).toMatchObject({ bestCandidate: 1 });
      expect(run.end).toEqual({ kind: 'done', stoppedBy: 'max_rollouts' });
    }
  });

  test('without room for regression seeds, decides a gain from known results', () => {
    const trainSeeds = Array.from({ length: 20 }, (_, seed) => seed);
    for (let spare = 0; spare < 60; spare++) {
      const given = { ...base, populationSize: 3, generations: 3, trainSeeds };
      const run = drive({ ...given, maxRollouts: minimumRollouts(given) + spare }, improving);
      expect(run.decisions.filter(({ type }) => type === 'candidate_rejected')).toEqual([]);
    }
  });

  test('without room for regression seeds, rejects a child that lacks text of its parent', () => {
    // Each candidate solves one seed more.
    const shown = new Map<number, number>();
    const world: World = {
      rollout: ({ candidate, seed }) => (candidate >= seed ? 1 : 0),
      propose(request) {
        const answered = { ...proposed(request), removed: [0] };
        shown.set(request.candidate, new Set(answered.shown).size);
        return answered;
      },
    };
    const trainSeeds = Array.from({ length: 30 }, (_, seed) => seed);
    const reasons = new Set<string>();
    for (let spare = 0; spare < 60; spare++) {
      const given = { ...base, minibatchSize: 1, trainSeeds };
      const run = drive({ ...given, maxRollouts: minimumRollouts(given) + spare }, world);
      const parents = new Map(run.proposals.map(({ candidate, parent }) => [candidate, parent]));
      const accepted = new Set<number>();
      for (const decision of run.decisions) {
        if (decision.type === 'candidate_rejected') reasons.add(decision.reason);
        if (decision.type !== 'candidate_accepted') continue;
        const { candidate, tested } = decision;
        // An accepted parent solves a seed.
        if (accepted.has(parents.get(candidate)!)) expect(tested).toBeGreaterThan(shown.get(candidate)!);
        accepted.add(candidate);
      }
    }
    expect(reasons).toContain('budget');
  });

  test('below the minimum is rejected with field and number', () => {
    expect(() => createGepa({ ...base, maxRollouts: minimumRollouts(base) - 1 })).toThrow(
      'maxRollouts must be an integer of at least 16',
    );
  });

  test('is not exceeded if an evaluation makes another candidate more promising', () => {
    // Each child gains on its shown seeds and loses on others, as only its evaluation shows.
    const seeds = [0, 1, 2, 3, 4, 5, 6, 7];
    const world: World = {
      rollout: ({ candidate, seed, stage }) => {
        if (candidate === 0) return seed === 0 ? 0 : 0.5;
        return stage === 'gate' ? 0.6 + candidate / 100 : 0;
      },
      propose: proposed,
    };
    const given = config({
      populationSize: 2,
      generations: 9,
      minibatchSize: 1,
      merge: false,
      repeats: 2,
      trainSeeds: seeds,
      evaluationSeeds: seeds,
    });
    for (let spare = 2; spare < 22; spare++) {
      const maxRollouts = minimumRollouts(given) + spare;
      const run = drive({ ...given, maxRollouts }, world);
      expect(run.requests.length).toBeLessThanOrEqual(maxRollouts);
      expect(run.state.pool.length).toBeGreaterThan(2);
    }
  });
});

describe('failed rollouts', () => {
  test('repeats infrastructure failures under new ordinals within the stage, at most twice', () => {
    let state = createGepa(config({ evaluationSeeds: [10, 11, 12] }));
    const broken = scoring(({ seed }) => (seed === 11 ? 'infrastructure' : 1));
    for (const expected of [[0, 1, 2], [3], [4]]) {
      expect(rolloutsOf(state).map(({ ordinal }) => ordinal)).toEqual(expected);
      expect(state.phase.name).toBe('baseline');
      state = gepa.apply(state, answer(gepa.next(state), broken)).state;
    }
    expect(state.phase.name).not.toBe('baseline');
    expect(gepa.view(state)).toMatchObject({ bestReward: 2 / 3, rolloutsCompleted: 5 });
  });

  test('does not repeat rollouts from the reserve of the first proposal', () => {
    const tight = config({ populationSize: 1, generations: 1, evaluationSeeds: [10, 11, 12, 13] });
    const broken = scoring(({ stage, seed }) => (stage === 'baseline' && seed < 13 ? 'infrastructure' : 0.5));
    const run = drive({ ...tight, maxRollouts: minimumRollouts(tight) + 1 }, broken);
    expect(run.requests.filter(({ stage }) => stage === 'baseline').map(({ seed }) => seed)).toEqual([
      10, 11, 12, 13, 10,
    ]);
    expect(run.proposals).toHaveLength(1);
  });
});

describe('proposals', () => {
  test('are not repeated where all are duplicates: only baseline and probes run', () => {
    const world: World = { ...level, propose: (request) => ({ ...proposed(request), outcome: 'duplicate' }) };
    const run = drive(config({ populationSize: 2, generations: 50 }), world);
    expect(run.requests.length).toBe(6 + 4);
  });

  test('show unshown failures first', () => {
    const run = drive(config({ populationSize: 1, generations: 2, minibatchSize: 3 }), {
      ...level,
      propose: (request) => ({ ...proposed(request), outcome: 'duplicate' }),
    });
    const [first, second] = run.proposals.map(({ ordinals }) => ordinals.slice(0, 3));
    expect(new Set([...first!, ...second!]).size).toBe(6);
  });

  test('of a generation are requested together, each with its index', () => {
    const run = drive(config({ populationSize: 2, generations: 1 }), level);
    expect(run.proposals.map(({ pick }) => pick)).toEqual([
      { size: 3, index: 0, of: 2 },
      { size: 3, index: 1, of: 2 },
    ]);
  });

  test('of the same generation are merged after acceptance, unless merge is off', () => {
    // Each child solves its shown seeds only; together they solve all.
    const solved = new Map<number, Set<number>>([[0, new Set()]]);
    const seedOf = new Map<number, number>();
    const world: World = {
      rollout: ({ ordinal, candidate, seed }) => {
        seedOf.set(ordinal, seed);
        return solved.get(candidate)!.has(seed) ? 1 : 0;
      },
      propose: (request) => {
        const { candidate, parent, merge } = request;
        const answer = proposed(request);
        const learned = merge
          ? merge.flatMap((source) => [...solved.get(source)!])
          : answer.shown!.map((ordinal) => seedOf.get(ordinal)!);
        solved.set(candidate, new Set([...solved.get(parent)!, ...learned]));
        return answer;
      },
    };
    const run = drive(config({ generations: 1 }), world);
    expect(run.proposals.map(({ merge }) => merge)).toEqual([undefined, undefined, [1, 2]]);
    expect(gepa.view(run.state)).toMatchObject({ bestCandidate: 3, bestReward: 1 });
    expect(gepa.view(run.state).candidates.at(-1)).toMatchObject({
      candidate: 3,
      parents: [1, 2],
      status: 'evaluated',
    });
    const apart = drive(config({ generations: 1, merge: false }), world);
    expect(apart.proposals).toHaveLength(2);
    expect(gepa.view(apart.state)).toMatchObject({ bestReward: 0.5 });
  });
});

describe('the end of the search', () => {
  test('comes as solved without failures', () => {
    const run = drive(config({ generations: 9 }), scoring(() => 1)); // prettier-ignore
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'solved' });
    expect(run.proposals).toEqual([]);
  });

  test('comes after the baseline if it reaches the target', () => {
    const run = drive(config({ targetReward: 0.5 }), level);
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'target_reward' });
    expect(run.requests).toHaveLength(6);
  });
});

describe('the verdict', () => {
  const heldoutSeeds = [100, 101, 102];
  const gaining: World['rollout'] = ({ candidate, seed }) => (candidate === 0 ? 0.1 : 0.6) + (seed % 2) / 10;

  test('compares evaluations without held-out seeds', () => {
    const { state } = drive(config({ populationSize: 1, generations: 1 }), scoring(gaining));
    expect(gepa.view(state).verdict).toMatchObject({ verdict: 'better', basis: 'evaluation', seeds: 6 });
    expect(gepa.view(state).verdict!.baseline).toBeCloseTo(0.15, 12);
    expect(gepa.view(state).verdict!.difference).toBeCloseTo(0.5, 12);
  });

  test('an evaluation counts seeds, not repeats', () => {
    const given = config({ repeats: 3, evaluationSeeds: [10, 11, 12, 13] });
    const evaluated = drive(given, improving).decisions.filter(({ type }) => type === 'candidate_evaluated');
    expect(evaluated.length).toBeGreaterThan(1);
    for (const decision of evaluated) expect(decision).toMatchObject({ seedsEvaluated: 4 });
  });

  test('compares held-out seeds, with all repeats', () => {
    const { state, requests } = drive(config({ generations: 1, heldoutSeeds, repeats: 2, merge: false }), {
      rollout: (request) =>
        request.seed < 100 ? gaining(request) : request.candidate === 0 ? 0.5 : request.seed % 2 ? 0.9 : 0.1,
      propose: proposed,
    });
    expect(requests.filter(({ stage }) => stage === 'heldout')).toHaveLength(2 * 3 * 2);
    // 0.1, 0.9 and 0.1 against 0.5: a worse mean, not significant.
    const verdict = gepa.view(state).verdict!;
    expect(verdict).toMatchObject({ verdict: 'inconclusive', basis: 'heldout', seeds: 3, baseline: 0.5 });
    expect(verdict.difference).toBeCloseTo((-0.4 + 0.4 - 0.4) / 3, 12);
    expect(verdict.low).toBe(-1);
    expect(verdict.high).toBeGreaterThan(0);
  });

  test('is not better for a greater mean that is not significant', () => {
    const { state } = drive(config({ generations: 1, heldoutSeeds }), {
      rollout: (request) =>
        request.seed < 100 ? gaining(request) : request.candidate === 0 ? 0.5 : request.seed % 2 ? 0.1 : 0.9,
      propose: proposed,
    });
    const { verdict, difference, low } = gepa.view(state).verdict!;
    expect(verdict).toBe('inconclusive');
    expect(difference).toBeGreaterThan(0.1);
    expect(low).toBeLessThan(0);
  });

  test('is worse for a significantly worse winner', () => {
    const six = [100, 101, 102, 103, 104, 105];
    const { state } = drive(config({ generations: 1, heldoutSeeds: six }), {
      rollout: (request) => (request.seed < 100 ? gaining(request) : request.candidate === 0 ? 0.9 : 0.1),
      propose: proposed,
    });
    expect(gepa.view(state).verdict).toMatchObject({ verdict: 'worse', basis: 'heldout', winner: 0.1 });
  });

  test('has no difference if the baseline wins, and is null before the end', () => {
    const unchanged = drive(config({ generations: 2, heldoutSeeds }), level);
    expect(gepa.view(unchanged.state).verdict).toMatchObject({ verdict: 'inconclusive', low: 0, high: 0 });
    expect(unchanged.requests.filter(({ stage }) => stage === 'heldout')).toEqual([]);
    const won = drive(config({ generations: 2, heldoutSeeds }), scoring(gaining));
    for (const { before } of won.turns) expect(gepa.view(before).verdict).toBeNull();
    expect(gepa.view(won.state).verdict).not.toBeNull();
  });
});

describe('the view', () => {
  test('has no best candidate before the baseline is evaluated', () => {
    const view = gepa.view(createGepa(config()));
    expect(view).toMatchObject({ bestCandidate: null, bestReward: null, estimate: null, noise: null, history: [] });
  });

  test('shows the noise of equal rollouts', () => {
    const { state } = drive(config({ generations: 1 }), scoring(({ ordinal }) => (ordinal % 2) * 0.4)); // prettier-ignore
    const { noise } = gepa.view(state);
    expect(noise!.comparisons).toBeGreaterThan(0);
    expect(noise!.sd).toBeGreaterThan(0.1);
    expect(noise!.sd).toBeLessThan(0.4);
    expect(gepa.view(drive(config({ generations: 1 }), level).state).noise).toMatchObject({ sd: 0 });
  });

  test('contains only finite numbers for any rewards', () => {
    for (const huge of [1e300, 1e308, -1e308]) {
      const world = scoring(({ ordinal }) => (ordinal % 3 === 0 ? huge : ordinal % 3 === 1 ? -huge : 0.5));
      const run = drive(config({ generations: 4, repeats: 2, heldoutSeeds: [100, 101] }), world);
      for (const { after, decisions } of run.turns) {
        const result = { view: gepa.view(after), decisions, after };
        expect(JSON.parse(JSON.stringify(result))).toEqual(result);
      }
    }
  });
});

test('different rng seeds give different paths', () => {
  const given = config({ trainSeeds: [0, 1, 2, 3, 4, 5, 6, 7, 8], evaluationSeeds: [20, 21] });
  const seedsOf = (rngSeed: number) => drive({ ...given, rngSeed }, improving).requests.map(({ seed }) => seed);
  expect(seedsOf(0)).not.toEqual(seedsOf(1));
  expect(seedsOf(0)).toEqual(seedsOf(0));
});
