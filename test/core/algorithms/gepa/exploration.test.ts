/**
 * Where the rollouts of a generation go: the parent on further seeds, and the candidate that the
 * search trusts.
 */
import { describe, expect, test } from '@jest/globals';
import type { GepaConfig } from '../../../../src/core/algorithms/gepa/config.js';
import type { RolloutRequest } from '../../../../src/core/search/protocol.js';
import { range } from '../../../support/range.js';
import { of } from './cases.js';
import { config, drive, proposed, type Run, type World } from './driver.js';

/** Evaluation seeds that no text solves, so that only train seeds decide. */
const evaluationSeeds = [100, 101];

/** A world where candidates solve the listed train seeds; later candidates what `later` solves. */
function solving(solved: readonly (readonly number[])[], later: readonly number[] = []): World {
  return {
    rollout: ({ candidate, seed }) => Number((solved[candidate] ?? later).includes(seed)),
    propose: proposed,
  };
}

function minibatches(run: Run): RolloutRequest[][] {
  return run.turns.flatMap(({ work }) =>
    work.kind === 'rollouts' && work.requests[0]!.stage === 'minibatch' ? [work.requests] : [],
  );
}

const given = (more: Partial<GepaConfig>) =>
  config({ populationSize: 1, minibatchSize: 1, merge: false, repeats: 2, evaluationSeeds, ...more });

describe('a child that mends a failure and finds more failures on new seeds', () => {
  // The parent solves three of four known seeds; the child all four, and half of the new seeds.
  const solved = [...range(0, 4), ...range(4, 36).filter((seed) => seed % 2 === 0)];
  const run = drive(
    given({ trainSeeds: range(0, 40), generations: 8, evaluationSeeds: range(0, 4), repeats: 1 }),
    solving([[0, 1, 2], solved], range(0, 4)),
  );

  test('stays the parent', () => {
    expect(of(run, 'candidate_accepted').map(({ candidate }) => candidate)).toEqual([1]);
    const later = run.proposals.filter(({ generation }) => generation > 1);
    expect(later.length).toBeGreaterThan(1);
    const root = (candidate: number): number => {
      const { parents } = run.state.candidates.find((summary) => summary.candidate === candidate)!;
      return candidate <= 1 ? candidate : root(parents[0]!);
    };
    expect(new Set(later.map(({ parent }) => root(parent)))).toEqual(new Set([1]));
  });

  test('is the candidate that is evaluated and returned', () => {
    expect(of(run, 'candidate_evaluated').map(({ candidate }) => candidate)).toEqual([0, 1]);
    expect(run.state.best!.candidate).toBe(1);
  });
});

describe('the search for failures', () => {
  test('starts with one seed for each new parent and doubles until it fails', () => {
    // Candidate 1 solves all but the seed that it runs last, as does candidate 2, which mends it.
    const trainSeeds = range(0, 32);
    const failing = new Map<number, number>();
    const world: World = {
      rollout({ candidate, seed, stage }) {
        if (seed >= 100) return 0;
        if (candidate === 0) return 0;
        if (stage === 'gate') return 1;
        const count = (failing.get(candidate) ?? 0) + 1;
        failing.set(candidate, count);
        return count % 7 === 0 ? 0 : 1;
      },
      propose: proposed,
    };
    const run = drive(given({ trainSeeds, generations: 3, maxRollouts: 200 }), world);
    const sizes = new Map<number, number[]>();
    for (const requests of minibatches(run)) {
      const [{ candidate }] = requests as [RolloutRequest];
      sizes.set(candidate, [...(sizes.get(candidate) ?? []), requests.length]);
    }
    expect(sizes.get(1)).toEqual([1, 2, 4]);
    expect(sizes.get(2)).toEqual([1, 2, 4]);
  });

  test('runs seeds with inherited results again, before the search ends as solved', () => {
    const trainSeeds = range(0, 6);
    const all = [...trainSeeds, ...evaluationSeeds];
    const run = drive(given({ trainSeeds, generations: 9, minibatchSize: 6 }), solving([[0, 1, 2]], all));
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'solved' });
    const winner = run.state.best!.candidate;
    expect(winner).toBeGreaterThan(0);
    expect(Object.keys(run.state.results[winner]!).map(Number)).toEqual(expect.arrayContaining(trainSeeds));
  });

  test('finds a loss on a seed with an inherited result, and proposes from it', () => {
    // The child breaks seed 0, which its additions did not need to run.
    const trainSeeds = range(0, 6);
    const run = drive(given({ trainSeeds, generations: 9, minibatchSize: 6 }), solving([[0, 1, 2]], range(1, 6)));
    const ordinals = new Set(run.proposals.flatMap((request) => request.ordinals));
    const loss = run.requests.find(
      ({ candidate, seed, stage }) => candidate > 0 && seed === 0 && stage === 'minibatch',
    );
    expect(ordinals).toContain(loss!.ordinal);
  });

  test('ends as train_solved if the winner fails evaluation seeds', () => {
    const trainSeeds = range(0, 4);
    const run = drive(given({ trainSeeds, generations: 9 }), solving([[0]], trainSeeds));
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'train_solved' });
  });
});

describe('a failure that was shown', () => {
  const trainSeeds = range(0, 40);
  const failing: World['rollout'] = ({ seed }) => Number(seed > 0 && seed < 100 && seed % 8 !== 0);
  const search = given({ trainSeeds, generations: 30, populationSize: 4, repeats: 1, maxRollouts: 120 });
  const isExploring = ({ work }: Run['turns'][number]) =>
    work.kind === 'rollouts' && work.requests[0]!.stage === 'minibatch';

  test('is asked about four times, one question at a time, before the parent runs on further seeds', () => {
    const propose: World['propose'] = (request) => ({ ...proposed(request), outcome: 'duplicate' });
    const { turns } = drive(search, { rollout: failing, propose });
    const first = turns.findIndex(({ work }) => work.kind === 'proposals');
    const next = turns.findIndex((turn, index) => index > first && isExploring(turn));
    const questions = turns
      .slice(first, next)
      .flatMap(({ work }) => (work.kind === 'proposals' ? [work.requests] : []));
    expect(questions.map(({ length }) => length)).toEqual([1, 1, 1, 1]);
    expect(new Set(questions.flat().flatMap(({ ordinals }) => ordinals)).size).toBe(1);
    expect(questions.flat().map(({ approach }) => approach !== undefined)).toEqual([false, true, true, true]);
  });

  test('is asked about after a batch without a new failure, if fewer than two of eight proposals gained', () => {
    const { turns } = drive(search, { rollout: failing, propose: proposed });
    const children = turns.map(({ before }) => before.candidates.length - 1);
    const asked = turns.flatMap(({ work }, index) =>
      work.kind === 'proposals' && work.requests[0]!.approach !== undefined ? [index] : [],
    );
    const early = asked.filter((index) => children[index]! < 8);
    const late = asked.filter((index) => children[index]! >= 8);
    expect(early.map((index) => isExploring(turns[index - 1]!))).not.toContain(true);
    expect(late.length).toBeGreaterThan(3);
    expect(late.map((index) => isExploring(turns[index - 1]!))).not.toContain(false);
  });
});

test('a proposer that repeats itself does not use up the generations before the rollouts', () => {
  const search = given({ trainSeeds: range(100, 40), evaluationSeeds: range(0, 12), generations: 40, maxRollouts: 71 });
  const { end } = drive(search, {
    rollout: () => 0.5,
    propose: (request) => ({ ...proposed(request), outcome: 'duplicate' }),
  });
  expect(end).toEqual({ kind: 'done', stoppedBy: 'max_rollouts' });
});

test('questions that bring known texts alone are no generation', () => {
  const search = given({ trainSeeds: range(100, 40), evaluationSeeds: range(0, 12), generations: 3, maxRollouts: 300 });
  const { proposals, decisions } = drive(search, {
    rollout: () => 0.5,
    propose: (request) =>
      request.candidate % 4 === 0 ? proposed(request) : { ...proposed(request), outcome: 'duplicate' },
  });
  expect(proposals.map(({ candidate, generation }) => [candidate, generation])).toEqual(
    range(1, 12).map((candidate) => [candidate, Math.ceil(candidate / 4)]),
  );
  expect(of({ decisions }, 'generation_complete').map(({ generation }) => generation)).toEqual([0, 1, 2, 3]);
});

test('on open text a proposer that repeats itself ends the search after 24 questions', () => {
  const open = given({ trainSeeds: range(100, 40), evaluationSeeds: range(0, 12), generations: 400, maxRollouts: 900 });
  const { end, proposals } = drive(open, {
    // A text changes answers elsewhere: it solves every third row, those of no other text.
    rollout: ({ candidate, seed }) => Number((seed + candidate) % 3 === 0),
    propose: (request) => (request.candidate < 6 ? proposed(request) : { ...proposed(request), outcome: 'duplicate' }),
    findDemos: ({ ordinals }) => ({
      components: ['system'],
      slots: [{ component: null, bootstrapped: [], labeled: ordinals, sameAnswer: [], room: 0 }],
    }),
  });
  expect(end).toEqual({ kind: 'done', stoppedBy: 'generations' });
  expect(proposals.filter(({ candidate }) => candidate >= 6)).toHaveLength(24);
});

describe('a stalled search', () => {
  /** The seeds that each proposal after generation 6 is offered. */
  function offered(run: Run): string[] {
    return run.proposals
      .filter(({ generation }) => generation > 6)
      .map(({ ordinals }) =>
        ordinals
          .map((ordinal) => run.requests[ordinal]!.seed)
          .sort()
          .join(),
      );
  }

  test('offers one failure, then two, then more, and from other parents', () => {
    const trainSeeds = range(0, 6);
    const world: World = {
      rollout: ({ candidate, seed }) => Number(seed < Math.min(3, candidate + 1)),
      propose: (request) =>
        request.candidate < 3 ? proposed(request) : { ...proposed(request), outcome: 'duplicate' },
    };
    const run = drive(given({ trainSeeds, generations: 30, minibatchSize: 3 }), world);
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'generations' });
    expect(new Set(offered(run).map((seeds) => seeds.split(',').length))).toEqual(new Set([1, 2, 3]));
    expect(
      new Set(run.proposals.filter(({ generation }) => generation > 6).map(({ parent }) => parent)).size,
    ).toBeGreaterThan(1);
  });
});
