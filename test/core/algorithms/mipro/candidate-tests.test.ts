import { describe, expect, test } from '@jest/globals';
import { combinationShare } from '../../../../src/core/algorithms/mipro/combinations.js';
import { regressionSeeds } from '../../../../src/core/algorithms/mipro/config.js';
import type { MiproState } from '../../../../src/core/algorithms/mipro/state.js';
import { seedRng, uniformInt } from '../../../../src/core/math/random.js';
import type { ProposalRequest, RolloutRequest } from '../../../../src/core/search/protocol.js';
import { proposed, type Turn } from '../gepa/driver.js';
import { of } from '../gepa/cases.js';
import { config, drive, scoring, type MiproWorld } from './driver.js';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
const given = config({
  numCandidates: 5,
  numTrials: null,
  maxRollouts: 200,
  trainSeeds: range(0, 20),
  evaluationSeeds: range(100, 110),
});
/** Candidate n solves the seeds below 2n, of every ten. */
const growing = scoring(({ candidate, seed }) => Number(seed % 10 < 2 * candidate));

function testsOf(turns: readonly Turn<MiproState>[], step: string) {
  return turns.flatMap(({ before, work, decisions }) => {
    const { phase } = before;
    if (phase.name !== 'gate' || phase.tests?.step !== step || work.kind !== 'rollouts') return [];
    return [{ before, decisions, tests: phase.tests, requests: work.requests }];
  });
}

const seedsOf = (requests: readonly RolloutRequest[], wanted: number) =>
  requests.flatMap(({ candidate, seed }) => (candidate === wanted ? [seed] : []));

describe('a new instruction', () => {
  test('runs on the failures that it was written from', () => {
    const run = drive(given, growing);
    const proposals = run.turns.flatMap(({ before, answers }) => {
      return before.phase.name === 'instructions' && answers.kind === 'proposals' ? answers.answers : [];
    });
    const rounds = testsOf(run.turns, 'instructions');
    expect(rounds.length).toBeGreaterThan(1);
    for (const { requests, tests } of rounds) {
      for (const { candidate, rounds: done } of tests.trials) {
        if (done > 0) continue;
        const { shown } = proposals.find((answer) => answer.candidate === candidate)!;
        expect(shown!.length).toBeGreaterThan(0);
        const seeds = shown!.map((ordinal) => run.requests[ordinal]!.seed);
        expect(seedsOf(requests, candidate).slice(0, seeds.length)).toEqual(seeds);
      }
    }
  });

  test('without a gain is rejected, and its text is in no combination', () => {
    // Only even candidates gain.
    const run = drive(
      given,
      scoring(({ candidate, seed }) => Number(seed % 10 < (candidate % 2 === 0 ? candidate : 0))),
    );
    const rejected = new Set(of(run, 'candidate_rejected').map(({ candidate }) => candidate));
    expect(rejected.size).toBeGreaterThan(0);
    const composed = run.proposals.flatMap(({ compose }) => compose?.texts ?? []);
    expect(composed.length).toBeGreaterThan(0);
    for (const source of composed) expect(rejected.has(source)).toBe(false);
  });

  test('that passes is the parent of the next ones', () => {
    const run = drive(given, growing);
    const later = run.proposals.filter(({ rewrite, generation }) => rewrite && generation > 1);
    expect(later.length).toBeGreaterThan(0);
    for (const { parent, generation } of later) {
      const accepted = of(run, 'candidate_accepted').filter((event) => event.generation < generation);
      expect(accepted.map(({ candidate }) => candidate)).toContain(parent);
      // The baseline solves nothing, and a later candidate solves no less.
      expect(parent).toBeGreaterThanOrEqual(Math.min(5, Math.max(...accepted.map(({ candidate }) => candidate))) - 1);
    }
  });

  test('that lacks text of an ancestor runs on seeds that its parent solves, and is rejected if it loses', () => {
    // The first generation solves the even seeds; later ones lose these for the odd ones.
    const generations = new Map([[0, 0]]);
    const run = drive(given, {
      ...scoring(({ candidate, seed }) => {
        const generation = generations.get(candidate)!;
        return generation === 0 ? 0 : Number((seed % 2 === 0) === (generation === 1));
      }),
      propose: (request) => {
        generations.set(request.candidate, request.generation);
        return { ...proposed(request), ...(request.rewrite && { removed: [0] }) };
      },
    });
    const second = testsOf(run.turns, 'instructions').filter(({ before, tests }) => {
      return before.generation > 1 && tests.trials.some(({ rounds }) => rounds === 1);
    });
    expect(second.length).toBeGreaterThan(0);
    for (const { requests, decisions } of second) {
      for (const { seed } of requests) expect(seed % 2).toBe(0);
      for (const decision of decisions) expect(decision.type).not.toBe('candidate_accepted');
    }
  });
});

describe('a combination', () => {
  test('runs on failures of the leader, and after a gain on seeds that it solves', () => {
    // Demonstrations solve every seed of the leader's failures.
    const composed = new Set<number>();
    const world = scoring(({ candidate, seed }) =>
      Number(seed % 3 === 0 || (composed.has(candidate) && seed % 3 === 1)),
    );
    const run = drive(given, {
      ...world,
      propose: (request) => {
        // Without rejected instructions, one combination is tested at a time.
        if (!request.compose) return { outcome: 'duplicate' };
        if (request.compose.demos[0]!.bootstrapped.length > 0) composed.add(request.candidate);
        return { outcome: 'proposed' };
      },
    });
    const rounds = testsOf(run.turns, 'combinations');
    const first = rounds.filter(({ tests }) => tests.trials.every(({ rounds }) => rounds === 0));
    const second = rounds.filter(({ tests }) => tests.trials.some(({ rounds }) => rounds > 0));
    expect(first.length).toBeGreaterThan(0);
    expect(second.length).toBeGreaterThan(0);
    const [fresh] = first;
    for (const { seed } of fresh!.requests) expect(seed % 3).not.toBe(0);
    for (const { seed } of second[0]!.requests) expect(seed % 3).toBe(0);
    expect(seedsOf(second[0]!.requests, second[0]!.requests[0]!.candidate).length).toBeLessThanOrEqual(regressionSeeds);
    expect(composed.has(run.state.best!.candidate)).toBe(true);
  });
});

describe('where other demonstrations change every answer', () => {
  /** Demonstrations solve 60 % of the seeds by luck, none 30 %; instructions change nothing. */
  const lucky = (salt: number) => {
    const shows = new Map([[0, 0]]);
    return {
      ...scoring(({ candidate, seed }) => {
        const source = shows.get(candidate)!;
        const [drawn] = uniformInt(seedRng(salt, 1_000 * source + seed), 10);
        return Number(drawn < (source > 0 ? 6 : 3));
      }),
      propose: ({ candidate, parent, compose, ordinals }: ProposalRequest) => {
        const isEmpty = compose?.demos[0]!.bootstrapped.length === 0;
        shows.set(candidate, compose ? (isEmpty ? 0 : candidate) : shows.get(parent)!);
        return { outcome: 'proposed' as const, shown: ordinals.slice(0, 3) };
      },
    };
  };
  const runs = range(1, 9).map((salt) => drive({ ...given, rngSeed: salt }, lucky(salt)));

  test('a combination is tested on further seeds while its gain is not clear, and a clear loser is not', () => {
    const sizes = runs.flatMap((run) => {
      return [...of(run, 'candidate_accepted'), ...of(run, 'candidate_rejected')]
        .filter(({ candidate }) => run.proposals.some(({ compose, candidate: own }) => compose && own === candidate))
        .map((decision) => ({ tested: decision.tested, gain: decision.childSum - decision.parentSum }));
    });
    expect(sizes.some(({ gain, tested }) => gain <= 0 && tested === 3)).toBe(true);
    expect(Math.max(...sizes.map(({ tested }) => tested))).toBeGreaterThan(7);
  });

  describe('with labels', () => {
    const labeled: MiproWorld['findDemos'] = ({ ordinals }) => {
      const sameAnswer = [0, 1].map((label) => ordinals.filter((ordinal) => ordinal % 2 === label));
      return {
        components: ['system'],
        slots: [{ component: null, bootstrapped: ordinals, labeled: ordinals, sameAnswer }],
      };
    };
    /** Each set solves 60 % of the seeds by luck; instructions alone solve `without` tenths. */
    const search = (without: number, maxRollouts: number) => {
      const sources = new Map<number, number>();
      const propose = ({ candidate, compose, ordinals }: ProposalRequest) => {
        if (compose) sources.set(candidate, candidate);
        return { outcome: 'proposed' as const, shown: ordinals.slice(0, 3) };
      };
      const world = scoring(({ candidate, seed }) => {
        const [drawn] = uniformInt(seedRng(1, 1_000 * (sources.get(candidate) ?? 0) + seed), 10);
        return Number(drawn < (sources.has(candidate) ? 6 : without));
      });
      const many = { ...given, maxRollouts, trainSeeds: range(0, 60), maxLabeledDemos: 16 };
      return drive(many, { ...world, propose, findDemos: labeled });
    };

    test('a race of many sets runs on the same seeds, and the better half goes on', () => {
      const run = search(3, 200);
      const [first, second] = testsOf(run.turns, 'combinations');
      const entered = new Set(first!.requests.map(({ candidate }) => candidate));
      const left = new Set(second!.requests.map(({ candidate }) => candidate));
      expect(entered.size).toBeGreaterThan(4);
      expect(left.size).toBe(Math.ceil(entered.size / 2));
      const [one] = entered;
      for (const candidate of entered) {
        expect(seedsOf(first!.requests, candidate)).toEqual(seedsOf(first!.requests, one!));
      }
      // A race has one winner at most.
      const accepted = of(run, 'candidate_accepted').filter(({ candidate }) => entered.has(candidate));
      expect(accepted.length).toBeLessThanOrEqual(1);
    });

    test('a race runs on seeds that no set shows, and the leader runs them too', () => {
      const run = search(3, 200);
      const rounds = testsOf(run.turns, 'combinations').slice(0, 3);
      const shownBy = ({ before }: (typeof rounds)[number]) => {
        const { demoSets, choices, components } = before;
        const ordinals = Object.values(choices).flatMap((own) => {
          const { bootstrapped, labeled } = demoSets[0]![own[components.length]!]!;
          return [...bootstrapped, ...labeled];
        });
        return new Set(ordinals.map((ordinal) => run.requests[ordinal]!.seed));
      };
      for (const round of rounds) {
        const { parent } = round.tests;
        const shown = shownBy(round);
        const [racer] = round.requests.map(({ candidate }) => candidate).filter((candidate) => candidate !== parent);
        const seeds = seedsOf(round.requests, racer!);
        expect(seeds.length).toBe(4);
        expect(seeds.filter((seed) => shown.has(seed))).toEqual([]);
        expect(seeds).toEqual(expect.arrayContaining(seedsOf(round.requests, parent)));
        for (const seed of seeds) {
          const isKnown = round.before.results[parent]?.[seed] !== undefined;
          expect(isKnown || seedsOf(round.requests, parent).includes(seed)).toBe(true);
        }
      }
    });

    test('a race whose next round is not affordable ends with its best set, whatever the budget', () => {
      for (let maxRollouts = 90; maxRollouts < 250; maxRollouts += 3) {
        const run = search(0, maxRollouts);
        const [first] = testsOf(run.turns, 'combinations');
        const entered = new Set(first!.requests.map(({ candidate }) => candidate));
        const accepted = of(run, 'candidate_accepted').filter(({ candidate }) => entered.has(candidate));
        expect({ maxRollouts, accepted: accepted.length }).toEqual({ maxRollouts, accepted: 1 });
      }
    });
  });

  test('combinations get more of the tests, and one where instructions gain', () => {
    const sharesOf = (run: ReturnType<typeof drive>) => run.turns.map(({ before }) => combinationShare(before));
    expect(Math.max(...runs.flatMap(sharesOf))).toBeGreaterThan(1);
    expect(new Set(sharesOf(drive(given, growing)))).toEqual(new Set([1]));
  });
});

test('learning runs train seeds only: evaluation seeds are left for evaluations', () => {
  const run = drive(given, growing);
  const train = new Set(given.trainSeeds);
  for (const { stage, seed, candidate } of run.requests) {
    // The baseline's noise is measured on seeds that it ran.
    if (stage === 'gate' || (stage === 'minibatch' && candidate > 0)) expect(train.has(seed)).toBe(true);
  }
});
