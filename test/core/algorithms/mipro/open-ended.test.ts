/** Searches with a budget of rollouts and without a number of trials. */
import { describe, expect, test } from '@jest/globals';
import { maxIdle } from '../../../../src/core/algorithms/mipro/config.js';
import { of } from '../gepa/cases.js';
import { proposed } from '../gepa/driver.js';
import { config, drive, scoring, showsAll, unpaired } from './driver.js';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
const given = config({
  numCandidates: 4,
  numTrials: null,
  maxRollouts: 400,
  trainSeeds: range(0, 40),
  evaluationSeeds: range(100, 120),
});

/** An instruction solves one of forty kinds of seeds, as shown; a merge, all of its parents'. */
function learning() {
  const solved = new Map<number, ReadonlySet<number>>([[0, new Set()]]);
  const seedOf = new Map<number, number>();
  const world = scoring(({ candidate, seed, ordinal }) => {
    seedOf.set(ordinal, seed);
    return Number(solved.get(candidate)!.has(seed % 40));
  });
  return {
    ...world,
    propose: (request: Parameters<typeof proposed>[0]) => {
      const sources = request.compose?.texts ?? request.merge ?? [request.parent];
      const known = new Set(sources.flatMap((source) => [...solved.get(source)!]));
      const answer = proposed(request);
      if (request.rewrite) known.add(seedOf.get(answer.shown![0]!)! % 40);
      solved.set(request.candidate, known);
      return answer;
    },
  };
}

describe('a search without a number of trials', () => {
  test('writes more than num_candidates, and ends when its budget is used', () => {
    const run = drive({ ...given, maxRollouts: 250 }, learning());
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'max_rollouts' });
    expect(run.state.asked).toBeGreaterThan(0.95 * 250);
    expect(run.proposals.filter(({ rewrite }) => rewrite).length).toBeGreaterThan(3 * 4);
  });

  test('has at most num_candidates instructions and sets to choose from at a time', () => {
    const run = drive({ ...given, maxRollouts: 1_500 }, learning());
    const composed = run.proposals.filter(({ compose }) => compose);
    expect(composed.length).toBeGreaterThan(10);
    for (const generation of new Set(composed.map((request) => request.generation))) {
      const own = composed.filter((request) => request.generation === generation);
      expect(new Set(own.map(({ compose }) => compose!.texts[0])).size).toBeLessThanOrEqual(4 + 1);
    }
  });

  test('ends when its leader solves every train seed', () => {
    const run = drive(
      { ...given, maxRollouts: 2_000 },
      scoring(({ candidate, seed }) => Number(seed < 100 && candidate > 0)),
    );
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'train_solved' });
    expect(run.state.best!.reward).toBe(0);
    const leader = run.requests.filter(({ candidate, stage }) => candidate > 0 && stage !== 'evaluation');
    expect(new Set(leader.map(({ seed }) => seed)).size).toBe(40);
  });

  test('evaluates its leader and ends after generations without anything new', () => {
    let proposals = 0;
    const run = drive(
      { ...given, maxBootstrappedDemos: 0, maxLabeledDemos: 0, maxRollouts: 2_000 },
      {
        ...scoring(({ candidate }) => (candidate > 0 ? 0.6 : 0.2), showsAll()),
        propose: (request) => {
          proposals += 1;
          return { ...proposed(request), outcome: proposals === 1 ? 'proposed' : 'duplicate' };
        },
      },
    );
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'generations' });
    expect(run.state.best).toEqual({ candidate: 1, reward: 0.6 });
    expect(run.state.generation).toBe(1 + maxIdle);
  });

  test('evaluates a leader that may reach the target', () => {
    const run = drive({ ...given, targetReward: 0.5, maxRollouts: 2_000 }, learning());
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'target_reward' });
    expect(run.state.asked).toBeLessThan(1_000);
    expect(of(run, 'candidate_evaluated').length).toBeLessThan(10);
  });

  test('on live traffic without seeds uses its budget too', () => {
    const run = drive(
      unpaired({ ...given, maxRollouts: 600 }),
      scoring(({ candidate, ordinal }) => Math.min(0.9, 0.1 + candidate / 50) + (ordinal % 7) / 1000),
    );
    expect(run.state.asked).toBeGreaterThan(0.8 * 600);
    expect(run.state.best!.candidate).toBeGreaterThan(0);
  });
});
