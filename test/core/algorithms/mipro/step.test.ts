import { describe, expect, test } from '@jest/globals';
import { minimumRollouts } from '../../../../src/core/algorithms/mipro/config.js';
import { createMipro, type MiproState } from '../../../../src/core/algorithms/mipro/state.js';
import { mipro } from '../../../../src/core/algorithms/mipro.js';
import { switchToUnpaired } from '../../../../src/core/algorithms/index.js';
import type { ProposalRequest } from '../../../../src/core/search/protocol.js';
import { measuredIn, of } from '../gepa/cases.js';
import { answer, proposed } from '../gepa/driver.js';
import { config, drive, scoring, showsAll, unpaired, type MiproWorld } from './driver.js';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
/** Every candidate is better than earlier ones on every seed. */
const improving = scoring(({ candidate }) => Math.min(0.9, 0.1 + candidate / 50));
/** All candidates are equal. */
const level = scoring(() => 0.5);
/** All candidates fail on half of the seeds. */
const halves = scoring(({ seed }) => seed % 2);

/** Every new instruction beats its parent; a combination equals the best of its texts. */
function growing(components: string[] = ['system']): MiproWorld {
  const scores = new Map([[0, 0.1]]);
  const most = (candidates: readonly number[]) => Math.max(...candidates.map((candidate) => scores.get(candidate)!));
  return {
    rollout: ({ candidate }) => Math.min(0.95, scores.get(candidate)!),
    propose: (request) => {
      const { candidate, parent, merge, compose } = request;
      scores.set(candidate, compose ? most(compose.texts) : most(merge ?? [parent]) + 0.02);
      return proposed(request);
    },
    findDemos: showsAll(components),
  };
}

/** The state at the start of a phase. */
function until(phase: string, start = createMipro(config()), world: MiproWorld = halves): MiproState {
  let state = start;
  while (state.phase.name !== phase) state = mipro.apply(state, answer(mipro.next(state), world)).state;
  return state;
}

const generationOf = (proposals: readonly ProposalRequest[], generation: number) =>
  proposals.filter((request) => request.generation === generation);

describe('a small budget', () => {
  test.each([0, 8, 20, 40])('covers a trial before more rollouts for demonstrations, %d above the minimum', (spare) => {
    const seeds = { trainSeeds: range(0, 60), evaluationSeeds: range(100, 140), minibatchSize: 35 };
    const wanted = config({ ...seeds, maxBootstrappedDemos: 4 });
    const maxRollouts = minimumRollouts(wanted) + spare;
    // One evaluation seed is good, no train seed.
    const run = drive(
      { ...wanted, maxRollouts },
      scoring(({ seed }) => (seed === 100 ? 1 : 0)),
    );
    expect(run.state.trials).toBeGreaterThan(0);
  });

  test('covers at most one evaluation per generation at the end', () => {
    // Trials are luckier than evaluations.
    const seen = new Map<number, number>();
    const lucky = scoring(({ candidate }) => {
      const times = (seen.get(candidate) ?? 0) + 1;
      seen.set(candidate, times);
      return candidate === 0 ? 0.5 + (times % 2) / 100 : times <= 3 ? 1 : 0.5;
    });
    const run = drive(config({ numTrials: 15, numCandidates: 8 }), lucky);
    expect(of(run, 'candidate_evaluated').length).toBeLessThanOrEqual(2 + run.state.generation);
  });
});

describe('the end of the search', () => {
  test.each([1, 2])('comes by patience after %d consecutive generations without a new best', (patience) => {
    const run = drive(config({ numTrials: 40, patience }), level);
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'patience' });
    expect(run.state.generation).toBe(patience);
  });

  test('comes at the target reward, before the first generation if the baseline reaches it', () => {
    const run = drive(config({ targetReward: 0.12, numTrials: 40 }), improving);
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'target_reward' });
    expect(run.state.best!.candidate).toBeGreaterThan(0);
    const early = drive(config({ targetReward: 0.1 }), improving);
    expect(early.end).toEqual({ kind: 'done', stoppedBy: 'target_reward' });
    expect(early.state.generation).toBe(0);
  });

  test('comes at the maximum reward', () => {
    const run = drive(
      config({ numTrials: 40 }),
      scoring(({ candidate }) => (candidate > 0 ? 1 : 0)),
    );
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'solved' });
    expect(run.state.generation).toBe(1);
  });

  test('by patience evaluates a more promising candidate first', () => {
    const seeds = { trainSeeds: range(0, 60), evaluationSeeds: range(100, 150), minibatchSize: 7 };
    const given = config({ ...seeds, maxRollouts: 200, patience: 1, numTrials: 12 });
    const run = drive(given, improving);
    expect(run.state.best!.candidate).toBeGreaterThan(0);
    expect(of(run, 'candidate_evaluated').length).toBeGreaterThan(1);
  });

  test('accepts no candidate twice in a generation without new rollouts', () => {
    const few = { trainSeeds: range(0, 4), evaluationSeeds: range(0, 4), minibatchSize: 4, maxRollouts: 40 };
    const given = { ...few, numCandidates: 8, numTrials: 12, maxBootstrappedDemos: 0, maxLabeledDemos: 0 };
    for (const rngSeed of range(0, 20)) {
      const run = drive(
        config({ ...given, rngSeed }),
        scoring(({ candidate }) => (candidate === 2 ? 1 : 0.2)),
      );
      const accepted = of(run, 'candidate_accepted').map(({ candidate }) => candidate);
      expect(new Set(accepted).size).toBe(accepted.length);
    }
  });

  test('comes after all combinations', () => {
    const few = config({ numCandidates: 3, numTrials: 50, maxBootstrappedDemos: 0, maxLabeledDemos: 0 });
    const run = drive(few, halves);
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'generations' });
    expect(run.state.generation).toBeLessThan(5);
    expect(new Set(run.requests.map(({ candidate }) => candidate)).size).toBe(3);
  });
});

describe('the budget', () => {
  test.each([1, 2, 3, 6])('covers one trial of %d seeds and its evaluation at its minimum', (minibatchSize) => {
    for (const given of [config({ minibatchSize }), config({ minibatchSize, repeats: 2, heldoutSeeds: [90] })]) {
      const run = drive({ ...given, maxRollouts: minimumRollouts(given) }, improving);
      expect(run.end).toEqual({ kind: 'done', stoppedBy: 'max_rollouts' });
      expect(run.state.trials).toBeGreaterThan(0);
      const tried = run.requests.filter(({ stage }) => stage === 'gate').map(({ candidate }) => candidate);
      expect(tried).toContain(run.state.best!.candidate);
      expect(run.requests.filter(({ stage }) => stage === 'heldout')).toHaveLength(
        4 * (given.heldoutSeeds?.length ?? 0),
      );
    }
  });
});

describe('instructions', () => {
  const given = config({ numCandidates: 8, numTrials: 20 });

  test('are first proposed from the task, for each component with different tips', () => {
    const run = drive(given, { ...halves, findDemos: showsAll(['system', 'user']) });
    const first = generationOf(run.proposals, 1).filter(({ rewrite }) => rewrite);
    expect(first).toHaveLength(2 * 4);
    expect(first.map(({ parent }) => parent)).toEqual(first.map(() => 0));
    const tips = (component: number) =>
      first.flatMap(({ rewrite }) => (rewrite!.component === component ? [rewrite!.tip] : []));
    for (const component of [0, 1]) expect(new Set(tips(component)).size).toBe(4);
    // Shown good rollouts are on train seeds.
    const examples = first.map(({ rewrite }) => rewrite!.examples);
    for (const ordinal of examples.flat()) {
      const { seed } = run.requests[ordinal]!;
      expect([1, 3, 5]).toContain(seed);
    }
  });

  test('are later proposed from failures of the most promising candidate, and tried at once', () => {
    // The latest candidate is the best, and fails only on every third seed.
    const world = scoring(({ candidate, seed }) => (seed % 3 === 0 ? 0 : Math.min(1, 0.3 + candidate / 30)));
    const run = drive(given, world);
    const later = run.turns.filter(({ work }) => work.kind === 'proposals' && work.requests[0]!.generation > 1);
    const rewrites = later.filter(({ before }) => before.phase.name === 'instructions');
    expect(rewrites.length).toBeGreaterThan(0);
    for (const { work, before, after } of rewrites) {
      if (work.kind !== 'proposals') throw new Error(work.kind);
      for (const { parent, ordinals, candidate } of work.requests.filter((request) => request.rewrite)) {
        expect(parent).toBe(mipro.view(before).estimate!.candidate);
        expect(parent).toBeGreaterThan(0);
        expect(ordinals.length).toBeGreaterThan(0);
        const { phase } = after;
        expect('trying' in phase && phase.trying).toContain(candidate);
      }
    }
  });

  test('with gains are merged if they have the same parents', () => {
    const run = drive(config({ numCandidates: 24, numTrials: 25 }), growing());
    const merges = run.proposals.filter(({ merge }) => merge);
    expect(merges.length).toBeGreaterThan(1);
    for (const { merge, generation } of merges) {
      const parents = merge!.map((source) => run.state.candidates.find(({ candidate }) => candidate === source)!);
      expect(parents.length).toBeGreaterThan(1);
      for (const parent of parents) {
        expect(parent.generation).toBe(generation);
        expect(parent.parents).toEqual(parents[0]!.parents);
      }
    }
  });

  test('never exceed numCandidates, including those of merges', () => {
    let combined = 0;
    for (const numCandidates of range(3, 30)) {
      for (const components of [['system'], ['system', 'user']]) {
        const { state } = drive(config({ numTrials: 20, numCandidates }), growing(components));
        for (const own of state.instructions) expect(own.length).toBeLessThanOrEqual(numCandidates);
        combined += state.instructions
          .flat()
          .filter(
            (source) => state.candidates.find(({ candidate }) => candidate === source)!.parents.length > 1,
          ).length;
      }
    }
    expect(combined).toBeGreaterThan(20);
  });

  test('of many components leave trials for the sampler, and rotate over the components', () => {
    const components = Array.from({ length: 8 }, (_, index) => `part_${index}`);
    const run = drive(config({ numCandidates: 6, numTrials: 60 }), { ...halves, findDemos: showsAll(components) });
    const later = run.turns.filter(({ before }) => before.phase.name === 'instructions' && before.generation > 1);
    const counts = components.map(() => 0);
    for (const { work, after } of later) {
      const written = work.kind === 'proposals' ? work.requests.filter(({ rewrite }) => rewrite) : [];
      expect(written.length).toBeLessThanOrEqual(3);
      for (const { rewrite } of written) counts[rewrite!.component]! += 1;
      if (after.phase.name === 'combinations') expect(after.phase.trying.length).toBeGreaterThan(written.length);
    }
    expect(later.length).toBeGreaterThan(5);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    // At the end each component has numCandidates instructions.
    expect(run.state.instructions.map((own) => own.length)).toEqual(components.map(() => 6));
  });

  test('that fail for one component do not block other components', () => {
    const world: MiproWorld = {
      ...halves,
      findDemos: showsAll(['system', 'user']),
      propose: (request) =>
        request.rewrite?.component === 0 ? { outcome: 'failed', reason: 'placeholder lost' } : proposed(request),
    };
    const run = drive(config({ numCandidates: 8, numTrials: 30 }), world);
    expect(run.end.kind).toBe('done');
    expect(run.state.instructions.map((own) => own.length)).toEqual([1, 8]);
    expect(run.state.requested).toEqual([7, 7]);
  });

  test('leave a candidate number for every trial', () => {
    const components = Array.from({ length: 20 }, (_, index) => `part_${index}`);
    const run = drive(config({ numCandidates: 50, numTrials: 300 }), { ...halves, findDemos: showsAll(components) });
    expect(run.state.trials).toBe(300);
  });
});

describe('demonstrations', () => {
  test('that cover open failures become additional sets', () => {
    // The answer puts the latest rollouts first.
    const latestFirst: MiproWorld['findDemos'] = ({ ordinals }) => {
      const reversed = [...ordinals].reverse();
      return {
        components: ['system'],
        slots: [{ component: 'system', bootstrapped: reversed, labeled: reversed, sameAnswer: [] }],
      };
    };
    const run = drive(
      config({ numTrials: 30, numCandidates: 3, trainSeeds: range(10, 16) }),
      scoring(({ candidate, seed }) => (seed % 3 === candidate % 3 ? 1 : (seed % 10) / 20), latestFirst),
    );
    const grown = run.turns.filter(({ before, after, work }) => {
      return (
        work.kind === 'demos' && before.demoSets.length > 0 && after.demoSets[0]!.length > before.demoSets[0]!.length
      );
    });
    expect(grown.length).toBeGreaterThan(0);
    for (const { before, after } of grown) {
      const [known, added] = [before.demoSets[0]!, after.demoSets[0]!.slice(before.demoSets[0]!.length)];
      expect(after.demoSets[0]!.slice(0, known.length)).toEqual(known);
      expect(added).toContainEqual({ bootstrapped: after.usable[0]!.bootstrapped.slice(0, 2), labeled: [] });
    }
  });

  test('are not requested if their maxima are 0', () => {
    const run = drive(config({ maxBootstrappedDemos: 0, maxLabeledDemos: 0 }), halves);
    const searches = run.turns.flatMap(({ work }) => (work.kind === 'demos' ? [work.request] : []));
    expect(searches).toHaveLength(1);
    expect(searches[0]!.ordinals).toEqual([]);
    expect(run.state.slots).toEqual([]);
    for (const { compose } of run.proposals) expect(compose?.demos ?? []).toEqual([]);
  });

  test('are composed from rollouts, in the slot of the answer', () => {
    const run = drive(config(), halves);
    const composed = run.proposals.flatMap(({ compose }) => (compose ? [compose] : []));
    expect(composed.some(({ demos }) => demos[0]!.bootstrapped.length > 0)).toBe(true);
    for (const { demos } of composed) {
      expect(demos.map(({ component }) => component)).toEqual(['system']);
      for (const ordinal of demos[0]!.bootstrapped) expect([1, 3, 5]).toContain(run.requests[ordinal]!.seed);
    }
  });
});

describe('evaluations', () => {
  test('skip candidates without a higher estimate than the best', () => {
    const run = drive(
      config({ numTrials: 20 }),
      scoring(({ candidate }) => (candidate === 0 ? 0.5 : 0.4)),
    );
    expect(run.requests.filter(({ stage }) => stage === 'evaluation')).toEqual([]);
    expect(of(run, 'candidate_accepted')).toEqual([]);
    expect(of(run, 'candidate_rejected').length).toBeGreaterThan(0);
    expect(run.state.best).toEqual({ candidate: 0, reward: 0.5 });
  });

  test('below the best reward do not replace the best candidate', () => {
    const world = scoring(({ candidate, stage }) => (candidate === 0 ? 0.6 : stage === 'gate' ? 1 : 0));
    const run = drive(config({ numTrials: 5 }), world);
    const evaluated = of(run, 'candidate_evaluated');
    expect(evaluated.length).toBeGreaterThan(1);
    for (const { reward } of evaluated.slice(1)) expect(reward).toBe(0);
    expect(run.state.best).toEqual({ candidate: 0, reward: 0.6 });
  });

  test('use fresh rollouts with noise', () => {
    // The baseline's probes reveal the noise.
    const world = scoring(({ candidate, ordinal }) => Math.min(0.9, 0.1 + candidate / 50) + (ordinal % 7) / 1000);
    const run = drive(config(), world);
    const [evaluation] = run.turns.filter(({ before }) => before.phase.name === 'evaluation');
    if (evaluation?.work.kind !== 'rollouts') throw new Error('nothing was evaluated');
    expect(evaluation.work.requests.map(({ seed }) => seed)).toEqual(config().evaluationSeeds);
    const { candidate } = evaluation.work.requests[0]!;
    const own = measuredIn(run).filter((rollout) => rollout.stage === 'evaluation' && rollout.candidate === candidate);
    const found = of(run, 'candidate_evaluated').find((event) => event.candidate === candidate)!;
    expect(found.reward).toBeCloseTo(own.reduce((total, { reward }) => total + reward, 0) / 6, 9);
  });
});

describe('live traffic without seeds', () => {
  const wide = config({ evaluationSeeds: range(0, 40), trainSeeds: range(0, 40), minibatchSize: 10, numTrials: 10 });

  test('is detected during the baseline only', () => {
    const state = createMipro(wide);
    expect(switchToUnpaired(state)).toEqual(unpaired(wide));
    const later = until('gate', state);
    expect(switchToUnpaired(later)).toBe(later);
  });

  test('compares best and candidate on the same traffic, and keeps the winner', () => {
    const run = drive(
      unpaired(wide),
      scoring(({ candidate }) => (candidate > 0 ? 0.9 : 0.1)),
    );
    const first = run.turns.find(({ before }) => before.phase.name === 'evaluation')!;
    if (first.work.kind !== 'rollouts') throw new Error(first.work.kind);
    const candidates = first.work.requests.map(({ candidate }) => candidate);
    expect(candidates.filter((candidate) => candidate === 0)).toHaveLength(40);
    expect(new Set(candidates).size).toBe(2);
    expect(run.state.best!.candidate).toBeGreaterThan(0);
  });

  test('keeps the best candidate if the gain is not significant', () => {
    // Candidates are lucky in trials, and equal to the baseline in evaluations.
    const lucky = scoring(({ stage, candidate, ordinal }) =>
      stage === 'gate' && candidate > 0 ? 1 : ordinal % 3 === 0 ? 1 : 0,
    );
    const run = drive(unpaired(wide), lucky);
    expect(run.requests.some(({ stage }) => stage === 'evaluation')).toBe(true);
    expect(run.state.best!.candidate).toBe(0);
    expect(of(run, 'candidate_rejected').some(({ reason }) => reason === 'not_better')).toBe(true);
  });

  test('resets patience when the test replaces a lucky best candidate', () => {
    const world = scoring(({ candidate, stage }) => {
      if (stage !== 'evaluation') return candidate === 0 ? 0.95 : 1;
      return candidate === 0 ? 0.1 : 0.9;
    });
    const run = drive(unpaired({ ...wide, numTrials: 30, patience: 2 }), world);
    expect(run.state.best).toEqual({ candidate: expect.any(Number), reward: 0.95 });
    const changed = run.turns.filter(
      ({ before, after }) => before.best && after.best!.candidate !== before.best.candidate,
    );
    expect(changed.length).toBeGreaterThan(0);
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'patience' });
    expect(run.state.generation).toBe(changed.at(-1)!.before.generation + 2);
  });
});

describe('answers', () => {
  test('do not affect another path from the same state', () => {
    // Two paths from one state: the second proposal fails in one, the first in the other.
    const path = (failing: number, from: MiproState) => {
      const world: MiproWorld = {
        ...scoring(({ candidate, seed }) => ((candidate * 7 + seed * 3) % 11) / 20),
        propose: (request) => ({
          ...proposed(request),
          outcome: request.candidate === failing ? 'failed' : 'proposed',
        }),
      };
      return drive(from, world).decisions;
    };
    const start = until('instructions', createMipro(config({ numTrials: 20, numCandidates: 8 })));
    const alone = path(2, JSON.parse(JSON.stringify(start)) as MiproState);
    path(1, start);
    expect(path(2, start)).toEqual(alone);
  });
});
