import { describe, expect, test } from '@jest/globals';
import type { Decision, ProposalRequest } from '../../../../src/core/search/protocol.js';
import { maxDemos } from '../../../../src/core/prompts/demos.js';
import { range } from '../../../support/range.js';
import { config, drive, proposed, type World } from './driver.js';

const labels = 5;
const labelOf = (seed: number) => seed % labels;

/** Rewards depend on the shown rows alone; proposed texts change nothing. */
function showing(
  reward: (seed: number, shown: readonly number[]) => number,
  { hasLabels = true, room = maxDemos } = {},
) {
  const sets = new Map<number, number[]>([[0, []]]);
  const seedOf = new Map<number, number>();
  const world: World = {
    rollout({ ordinal, candidate, seed }) {
      seedOf.set(ordinal, seed);
      return reward(
        seed,
        sets.get(candidate)!.filter((shown) => shown !== seed),
      );
    },
    propose(request: ProposalRequest) {
      const { candidate, compose, parent } = request;
      if (request.kind === 'ablate') return { outcome: 'failed', reason: 'no sentence is new' };
      const [turns] = compose?.demos ?? [];
      const rows = turns && [...turns.labeled, ...turns.bootstrapped];
      sets.set(candidate, rows?.map((ordinal) => seedOf.get(ordinal)!) ?? sets.get(parent)!);
      return proposed(request);
    },
    findDemos: ({ ordinals }) => ({
      components: ['system'],
      slots: [
        {
          component: null,
          bootstrapped: ordinals,
          labeled: hasLabels ? ordinals : [],
          sameAnswer: range(0, labels).map((label) => ordinals.filter((at) => labelOf(seedOf.get(at)!) === label)),
          room,
        },
      ],
    }),
  };
  return { world, sets };
}

const given = config({
  populationSize: 2,
  generations: 8,
  demonstrations: 8,
  trainSeeds: range(0, 60),
  evaluationSeeds: range(100, 40),
  maxRollouts: 300,
});
/** A row is right once a row of its label is shown; one label in five needs none. */
const learned = (seed: number, shown: readonly number[]) =>
  Number(labelOf(seed) === 0 || shown.some((other) => labelOf(other) === labelOf(seed)));

describe('demonstrations of a GEPA search', () => {
  test('win where a row of each answer is what helps', () => {
    const { world, sets } = showing(learned);
    const { state } = drive(given, world);
    expect(state.best!.reward).toBe(1);
    expect(new Set(sets.get(state.best!.candidate)!.map(labelOf)).size).toBeGreaterThanOrEqual(labels - 1);
  });

  test('that gained on every row of their test are expected to gain on others', () => {
    const { world } = showing((_, shown) => Number(shown.length > 0));
    const { decisions } = drive(given, world);
    const [accepted] = decisions.flatMap((one) => (one.type === 'candidate_accepted' ? [one] : []));
    expect(accepted!.estimate).toBeGreaterThan(0.8);
  });

  test('gain where they lose some of the few rows that the baseline solves by luck', () => {
    const isLucky = (seed: number) => seed % 5 === 0;
    const isEasy = (seed: number) => (seed * 37) % 100 < 50;
    const { world } = showing((seed, shown) => Number(shown.length > 0 ? isEasy(seed) : isLucky(seed)));
    for (const rngSeed of range(0, 6)) {
      const { decisions } = drive({ ...given, rngSeed }, world);
      const [accepted] = decisions.filter(({ type }) => type === 'candidate_accepted');
      expect(accepted).toMatchObject({ generation: 1 });
      const rejected = decisions.filter((one) => one.type === 'candidate_rejected' && one.generation === 1);
      expect(rejected).toMatchObject([{ reason: 'overtaken' }, { reason: 'overtaken' }]);
    }
  });

  describe('where each more helps', () => {
    const difficulty = (seed: number) => ((seed * 37) % 100) / 100;
    const growing = (seed: number, shown: readonly number[]) => Number(difficulty(seed) < 0.2 + shown.length / 60);
    const driven = (room: number, demonstrations: number) => {
      const { world, sets } = showing(growing, { room });
      return { sets, ...drive({ ...given, demonstrations, generations: 200 }, world) };
    };
    const sizesOf = (room: number, demonstrations: number) => {
      const { state, sets } = driven(room, demonstrations);
      return { best: sets.get(state.best!.candidate)!.length, all: [...sets.values()].map(({ length }) => length) };
    };

    test('are as many as are known', () => {
      expect(sizesOf(maxDemos, 64).best).toBeGreaterThanOrEqual(40);
      expect(Math.max(...sizesOf(maxDemos, 24).all)).toBe(24);
    });

    test('are all known rows, too, where only a few more are known than fail', () => {
      const isSolved = (seed: number) => seed % 7 === 0;
      const { world, sets } = showing((seed, shown) => Number(shown.length > 40 || isSolved(seed)));
      const { proposals, requests } = drive({ ...given, demonstrations: 64 }, world);
      const raced = proposals.filter(({ compose, generation }) => compose && generation === 1);
      const ran = requests.filter(({ candidate, seed }) => candidate === 0 && seed < 60).map(({ seed }) => seed);
      const known = [...new Set(ran)];
      const failing = known.filter((seed) => !isSolved(seed));
      const sizes = raced.map(({ candidate }) => sets.get(candidate)!.length);
      expect(known.length).toBeLessThan(1.25 * failing.length);
      expect(sizes).toEqual([16, failing.length, known.length]);
    });

    test('end with those of their test, which is asked without one of them each time', () => {
      const { sets, requests, proposals } = driven(maxDemos, 64);
      const large = proposals.filter(({ compose, generation }) => compose && generation === 1).slice(1);
      for (const { candidate } of large) {
        const tested = requests.filter((request) => request.candidate === candidate).map(({ seed }) => seed);
        const set = sets.get(candidate)!;
        const shown = tested.slice(0, 10).filter((seed) => set.includes(seed));
        expect([set.length > 16, shown.length > 4]).toEqual([true, true]);
        expect(new Set(set.slice(-shown.length))).toEqual(new Set(shown));
      }
    });

    test('are no more than fit', () => {
      expect(Math.max(...sizesOf(25, 64).all)).toBe(25);
      expect(Math.max(...sizesOf(16, 64).all)).toBe(16);
      expect(Math.max(...sizesOf(5, 64).all)).toBe(5);
    });

    test.each([17, 25, 64])('are tested once, also where all of them fail: %d', (room) => {
      const { world } = showing(() => 0, { room });
      const { state } = drive({ ...given, demonstrations: 64, generations: 400, maxRollouts: 900 }, world);
      const tested = typeof state.demonstrations === 'object' ? Object.values(state.demonstrations.sets) : [];
      expect(tested.length).toBeGreaterThan(2);
      const keys = tested.map((set) => set.toSorted((left, right) => left - right).join());
      expect(new Set(keys).size).toBe(keys.length);
    });
  });

  test('are exchanged a few at a time where some rows teach more than others', () => {
    const teaches = (seed: number) => seed % 6 === 1;
    const difficulty = (seed: number) => ((seed * 37) % 100) / 100;
    const { world, sets } = showing((seed, shown) =>
      Number(difficulty(seed) < 0.2 + 0.09 * shown.filter(teaches).length),
    );
    const { state } = drive({ ...given, generations: 200, maxRollouts: 600 }, world);
    const known = typeof state.demonstrations === 'object' ? Object.values(state.demonstrations.sets) : [];
    expect(new Set(known.map((set) => set.join())).size).toBe(known.length);
    expect(Math.max(...known.map(({ length }) => length))).toBeLessThanOrEqual(given.demonstrations);
    const taught = (candidate: number) => sets.get(candidate)!.filter(teaches).length;
    const raced = state.candidates
      .filter(({ generation }) => generation === 1)
      .map(({ candidate }) => taught(candidate));
    expect(taught(state.best!.candidate)).toBeGreaterThanOrEqual(Math.max(...raced) + 2);
  });

  test('leave at the end as long as no row is lost, and fewer win at the same reward', () => {
    const unsolved = (seed: number) => seed % 4 === 3;
    const { world, sets } = showing((seed, shown) => (unsolved(seed) ? 0 : Number(shown.length > 0)));
    const { state, requests, decisions } = drive({ ...given, generations: 400, maxRollouts: 600 }, world);
    const { best, compressed } = state;
    expect(best!.reward).toBe(0.75);
    expect(sets.get(best!.candidate)!.length).toBeLessThan(4);
    expect(of('candidate_accepted', best!.candidate)).toMatchObject([{ reason: 'shorter' }]);
    for (const shorter of Object.values(compressed)) {
      const tested = requests.filter(({ candidate, stage }) => candidate === shorter && stage === 'gate');
      expect(tested.length).toBeLessThanOrEqual(6);
    }
    expect(requests.length).toBeLessThanOrEqual(600);

    function of(type: Decision['type'], candidate: number) {
      return decisions.filter((one) => one.type === type && 'candidate' in one && one.candidate === candidate);
    }
  });

  test('leave without an evaluation where their tests ran all of its rows', () => {
    const few = range(0, 5);
    const { world } = showing((_, shown) => (shown.length > 0 ? 0.9 : 0.1));
    const search = { ...given, trainSeeds: few, evaluationSeeds: few, minibatchSize: 1, generations: 400 };
    const { state, end } = drive({ ...search, maxRollouts: 200 }, world);
    expect(end.kind).toBe('done');
    expect(Object.values(state.compressed)).toContain(state.best!.candidate);
    expect(state.best!.reward).toBeCloseTo(0.9);
  });

  test('leave by noise alone in no more rows, and lead to no children', () => {
    const draw = (ordinal: number) => ((ordinal * 2_654_435_761) % 997) / 997;
    const { world } = showing(() => 0);
    const sets = new Map<number, number>([[0, 0]]);
    const noisy: World = {
      ...world,
      rollout: (request) => {
        world.rollout(request);
        return Number(draw(request.ordinal) < (sets.get(request.candidate)! > 0 ? 0.7 : 0.2));
      },
      propose(request) {
        const [turns] = request.compose?.demos ?? [];
        sets.set(request.candidate, turns ? turns.labeled.length : sets.get(request.parent)!);
        return world.propose(request);
      },
    };
    const shortened = range(0, 8).flatMap((rngSeed) => {
      sets.clear();
      sets.set(0, 0);
      const run = drive({ ...given, generations: 400, maxRollouts: 1_000, repeats: 2, rngSeed }, noisy);
      return run.proposals
        .filter(({ candidate }) => run.state.approaches[candidate] === 'compress')
        .map(({ candidate }) => ({ ...run, candidate }));
    });
    expect(shortened.length).toBeGreaterThan(0);
    for (const { candidate, requests, proposals, state, decisions } of shortened) {
      const accepted = decisions.filter((one) => one.type === 'candidate_accepted' && one.candidate === candidate);
      for (const decision of accepted) expect(decision).toMatchObject({ reason: 'shorter' });
      const tested = requests.filter((request) => request.candidate === candidate && request.stage === 'gate');
      expect(tested.length).toBeLessThanOrEqual(6);
      const children = proposals.filter(({ parent }) => parent === candidate).map((one) => one.candidate);
      const isLeaf = children.every((child) => state.approaches[child] === 'compress');
      expect(isLeaf || state.candidates.some((own) => own.candidate === candidate && own.reward !== null)).toBe(true);
    }
  });

  test('are switched off by 0', () => {
    const { world } = showing(learned);
    const run = drive({ ...given, demonstrations: 0 }, world);
    expect(run.proposals.filter(({ compose }) => compose)).toEqual([]);
    expect(run.state.best!.reward).toBeCloseTo(0.2);
  });

  test('are asked about once where no right answer is known', () => {
    const { world } = showing(learned, { hasLabels: false });
    const run = drive(given, world);
    expect(run.turns.filter(({ work }) => work.kind === 'demos')).toHaveLength(1);
    expect(run.proposals.filter(({ compose }) => compose)).toEqual([]);
  });

  test('are good answers where no right answer is known, once texts have brought nothing', () => {
    const { world, sets } = showing((seed, shown) => (shown.length > 0 ? learned(seed, []) + 0.5 : learned(seed, [])), {
      hasLabels: false,
    });
    const run = drive({ ...given, goodAnswers: 4 }, world);
    const [first] = run.proposals.filter(({ compose }) => compose);
    const before = run.proposals.filter(({ candidate, kind }) => candidate < first!.candidate && kind === 'rewrite');
    expect(before.length).toBeGreaterThan(4);
    for (const { compose } of run.proposals) {
      for (const { labeled, bootstrapped } of compose?.demos ?? []) {
        expect([labeled, bootstrapped.length <= 4]).toEqual([[], true]);
      }
    }
    const winner = sets.get(run.state.best!.candidate)!;
    expect(winner.length).toBeGreaterThan(0);
    // Every one was solved without turns.
    expect(winner.filter((seed) => labelOf(seed) !== 0)).toEqual([]);
  });

  test.each([{}, { goodAnswers: 4, hasLabels: false }])(
    'that fit into no prompt leave the search to texts: %o',
    (more) => {
      const { hasLabels = true, ...change } = more as { hasLabels?: boolean };
      const { world } = showing((seed) => Number(labelOf(seed) === 0), { hasLabels });
      const propose: World['propose'] = (request) =>
        request.compose ? { outcome: 'duplicate' } : world.propose(request);
      const run = drive({ ...given, ...change, generations: 30 }, { ...world, propose });
      const sets = run.proposals.filter(({ compose }) => compose).length;
      const texts = run.proposals.filter(({ kind }) => kind === 'rewrite').length;
      expect(sets).toBeGreaterThan(0);
      expect(texts).toBeGreaterThan(2 * sets);
    },
  );

  test('that never help leave most tests to reflections', () => {
    const { world } = showing((seed) => Number(labelOf(seed) === 0));
    const run = drive({ ...given, generations: 30 }, world);
    const tested = run.proposals.filter(({ compose }) => compose).length;
    expect(tested).toBeGreaterThan(0);
    expect(tested).toBeLessThan(run.proposals.length);
  });
});
