/**
 * Invariants of an extended search, for any answers:
 *  1. without a limit of rollouts, more generations give the path of a search that had them from
 *     the start;
 *  2. ordinals stay without gaps, `history` never falls, and the larger budget is kept;
 *  3. no rollout of an equal outcome is requested twice, those on held-out seeds included;
 *  4. a search that would end at once is not extended.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createGepa, type GepaState } from '../../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../../src/core/algorithms/gepa.js';
import type {
  Decision,
  RolloutRequest,
  SearchAlgorithm,
  SearchLimits,
  Step,
} from '../../../src/core/search/protocol.js';
import { pureRuns } from '../../support/runs.js';
import { casesOf, of, worldOf, type Case } from './gepa/cases.js';
import { config, drive, driveSearch, scoring, type Run, type World } from './gepa/driver.js';

interface Extended<State> {
  first: Run<State>;
  /** Null: the search would end at once. */
  rest: Run<State> | null;
  requests: RolloutRequest[];
  decisions: Decision[];
}

function extended<State>(
  search: SearchAlgorithm<State>,
  first: Run<State>,
  world: World,
  limits: Partial<SearchLimits>,
): Extended<State> {
  const found = search.extend(first.state, limits);
  const step = 'endsBy' in found ? null : found;
  const rest = step && driveSearch(search, step.state, world);
  return {
    first,
    rest,
    requests: [...first.requests, ...(rest?.requests ?? [])],
    decisions: [...first.decisions, ...(step?.decisions ?? []), ...(rest?.decisions ?? [])],
  };
}

/** The path of a search: its requests without ordinals and held-out rollouts, and its decisions. */
function pathOf({ requests, decisions }: Pick<Run<unknown>, 'requests' | 'decisions'>) {
  const searched = requests.filter(({ stage }) => stage !== 'heldout');
  return {
    rollouts: searched.map(({ candidate, seed, stage, generation }) => [candidate, seed, stage, generation]),
    decisions,
  };
}

/** The rewards of a search by candidate and seed, without ordinals. */
function rewardsOf({ state: { results, best } }: Run): unknown {
  return JSON.parse(JSON.stringify({ best, results }).replace(/\[\d+,/g, '[')) as unknown;
}

const isNeverFalling = (history: readonly number[]) => history.every((reward, at) => reward >= (history[at - 1] ?? -1));

/** The extension finds a better candidate, which the held-out seeds compare: few searches do. */
const overtaking: Case = {
  config: config({
    populationSize: 1,
    generations: 1,
    minibatchSize: 1,
    trainSeeds: [0],
    evaluationSeeds: [0],
    heldoutSeeds: [100],
  }),
  noisy: false,
  failing: 0,
  infrastructure: 0,
  badProposals: 0,
  duplicates: 0,
  conflicts: 0,
  answerSeed: 752734346,
};

describe('an extended GEPA search', () => {
  test('takes the path that it would have taken with the generations from the start', () => {
    fc.assert(
      fc.property(casesOf(true), fc.integer({ min: 1, max: 5 }), (given, more) => {
        // The limit of generations is part of the width of a search with several slots.
        const limited = { ...given.config, maxRollouts: null, trials: null, patience: null, slots: 1 };
        const generations = limited.generations + more;
        const world = worldOf(given);
        const whole = drive({ ...limited, generations }, world);
        const found = extended(gepa, drive(limited, world), world, { generations });
        expect(pathOf(found)).toEqual(pathOf(whole));
        expect(rewardsOf(found.rest ?? found.first)).toEqual(rewardsOf(whole));
      }),
      { numRuns: pureRuns(50) },
    );
  });

  test('buys no rollout of an equal outcome again, and evaluates a new winner on held-out seeds', () => {
    let compared = 0;
    fc.assert(
      fc.property(casesOf(true), fc.integer({ min: 10, max: 200 }), (given, by) => {
        // Probes repeat rollouts of the baseline on purpose, and repeats every evaluation.
        if (given.config.repeats > 1) return;
        const first = drive(given.config, worldOf(given));
        if (first.end.kind === 'failed') return;
        const maxRollouts = given.config.maxRollouts === null ? {} : { maxRollouts: given.config.maxRollouts + by };
        const limits = { ...maxRollouts, generations: given.config.generations + 4 };
        const { rest, requests } = extended(gepa, first, worldOf(given), limits);
        const bought = requests.filter(({ candidate, stage }) => candidate > 0 || stage === 'heldout');
        const pairs = bought.map(({ candidate, seed }) => `${candidate} ${seed}`);
        expect(new Set(pairs).size).toBe(pairs.length);
        const { best, heldout } = (rest ?? first).state;
        const isNew = rest !== null && best!.candidate !== first.state.best!.candidate;
        if (!isNew || heldout?.candidate !== best!.candidate) return;
        compared += 1;
        expect(heldout.seeds).toEqual(given.config.heldoutSeeds);
        expect(gepa.view(rest.state).verdict).toMatchObject({ basis: 'heldout', seeds: heldout.seeds.length });
      }),
      { numRuns: pureRuns(150), examples: [[overtaking, 10]] },
    );
    expect(compared).toBeGreaterThan(0);
  });

  const failing = scoring(({ candidate, seed }) => (seed < Math.min(candidate, 5) ? 1 : 0));

  test('goes on after an interruption in the held-out comparison', () => {
    const given = config({ generations: 1, heldoutSeeds: [100, 101] });
    let held = createGepa(given);
    for (const { after } of drive(given, failing).turns) if (after.phase.name === 'heldout') held = after;
    expect(held.phase.name).toBe('heldout');
    const { state } = gepa.extend(held, { generations: 3 }) as Step<GepaState>;
    const { state: end } = drive(state, failing);
    expect(end).toMatchObject({ generation: 3, phase: { name: 'done', stoppedBy: 'generations' } });
    // Without more generations it only finishes the comparison.
    expect(drive((gepa.extend(held, {}) as Step<GepaState>).state, failing).state.generation).toBe(1);
  });

  test('is refused where it would end at once: no limit raised, all solved, target reached', () => {
    const { state } = drive(config({ generations: 1 }), failing);
    expect(gepa.extend(state, {})).toEqual({ endsBy: 'generations' });
    expect(gepa.extend(state, { generations: 2 })).toHaveProperty('state');
    const solved = drive(
      config(),
      scoring(() => 1),
    );
    expect(solved.end).toEqual({ kind: 'done', stoppedBy: 'solved' });
    expect(gepa.extend(solved.state, { generations: 20 })).toEqual({ endsBy: 'solved' });
    const reached = drive(config({ targetReward: 0.1 }), failing);
    expect(reached.end).toEqual({ kind: 'done', stoppedBy: 'target_reward' });
    expect(gepa.extend(reached.state, { generations: 20 })).toEqual({ endsBy: 'target_reward' });
  });

  test('is refused with any limits exactly where nothing is left, for the same reason', () => {
    let [over, open] = [0, 0];
    fc.assert(
      fc.property(casesOf(true), (given) => {
        const { state, end } = drive(given.config, worldOf(given));
        if (end.kind === 'failed') return;
        const { nothingLeft } = gepa.view(state);
        const found = gepa.extend(state, { maxRollouts: 1_000_000, generations: 1_000_000, trials: 1_000_000 });
        if (nothingLeft === null) open += 1;
        else over += 1;
        expect('endsBy' in found ? found.endsBy : null).toBe(nothingLeft);
      }),
      { numRuns: pureRuns(100) },
    );
    expect(Math.min(over, open)).toBeGreaterThan(5);
  });

  test('knows how much was on record when its limits were raised', () => {
    const first = drive(config({ generations: 2 }), failing);
    const { rest } = extended(gepa, first, failing, { generations: 4 });
    expect(gepa.view(first.state).extendedAt).toBeUndefined();
    expect(gepa.view(rest!.state).extendedAt).toBe(first.state.history.length);
  });

  test('has its patience anew', () => {
    const given = config({ generations: 10, patience: 1 });
    const stuck = scoring(({ seed }) => (seed === 0 ? 0 : 1));
    const first = drive(given, stuck);
    expect(first.end).toEqual({ kind: 'done', stoppedBy: 'patience' });
    const { rest, decisions } = extended(gepa, first, stuck, { generations: 11 });
    expect(rest!.end).toEqual({ kind: 'done', stoppedBy: 'patience' });
    expect(of({ decisions }, 'generation_complete').length).toBe(first.state.history.length + 1);
  });
});

test('an extended search keeps the larger budget, numbers on, and never gets worse', () => {
  let count = 0;
  fc.assert(
    fc.property(
      casesOf(false),
      fc.integer({ min: 1, max: 150 }),
      fc.integer({ min: 0, max: 20 }),
      (given, by, more) => {
        const { config } = given;
        const first = drive(config, worldOf(given));
        if (first.end.kind === 'failed') return;
        const limits = {
          maxRollouts: (config.maxRollouts ?? 1_000) + by,
          generations: config.generations + more,
          trials: config.trials === null ? null : config.trials + more,
        };
        const { rest, requests } = extended(gepa, first, worldOf(given), limits);
        expect(requests.map(({ ordinal }) => ordinal)).toEqual(requests.map((_, index) => index));
        if (rest === null) return;
        count += 1;
        const { asked, history, generation, nextCandidate } = rest.state;
        expect(rest.turns.length).toBeGreaterThan(0);
        expect(asked).toBeLessThanOrEqual(limits.maxRollouts);
        expect(nextCandidate).toBeLessThanOrEqual(1 + (limits.trials ?? Infinity));
        expect(isNeverFalling(history)).toBe(true);
        expect(requests).toHaveLength(asked);
        if (rest.end.kind === 'done') expect(history).toHaveLength(generation + 1);
      },
    ),
    { numRuns: pureRuns(100, 1_000) },
  );
  expect(count).toBeGreaterThan(5);
});
