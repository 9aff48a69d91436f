import { describe, expect, test } from '@jest/globals';
import { minimumRollouts } from '../../../../src/core/gepa/config.js';
import { createLockstep, type LockstepState } from '../../../../src/core/gepa/lockstep/state.js';
import { gepa } from '../../../../src/core/gepa/lockstep/step.js';
import type { Answers, RolloutRequest } from '../../../../src/core/work.js';
import { answer, config, drive, scoring, type World } from './driver.js';

const improving = scoring(({ candidate, generation }) => Math.min(0.9, 0.1 + (candidate + generation) / 50));

/** The state when the search first asks for `kind` of work in that stage. */
function until(stage: string, start = createLockstep(config()), world: World = improving): LockstepState {
  let state = start;
  while (state.phase.name !== stage) state = gepa.apply(state, answer(gepa.next(state), world)).state;
  return state;
}

function rolloutsOf(state: LockstepState): RolloutRequest[] {
  const work = gepa.next(state);
  return work.kind === 'rollouts' ? work.requests : [];
}

describe('the stages of a generation', () => {
  test('the baseline on all evaluation seeds, as often as listed', () => {
    const state = createLockstep(config({ evaluationSeeds: [4, 4, 9] }));
    expect(gepa.next(state)).toEqual({
      kind: 'rollouts',
      requests: [4, 4, 9].map((seed, ordinal) => ({ ordinal, candidate: 0, seed, stage: 'baseline', generation: 0 })),
    });
    expect(gepa.view(state)).toMatchObject({ bestCandidate: null, bestReward: null, generation: 0, history: [] });
  });

  test('come in order, each as one batch', () => {
    const run = drive(config({ populationSize: 2, generations: 1 }), improving);
    const stages = run.turns.map(({ work }) => {
      if (work.kind !== 'rollouts') return work.kind;
      const of = new Set(work.requests.map(({ stage }) => stage));
      expect(of.size).toBe(1);
      return `${[...of][0]} ${work.requests.length}`;
    });
    expect(stages).toEqual(['baseline 6', 'minibatch 6', 'proposals', 'gate 6', 'evaluation 12']);
    expect(run.decisions.map(({ type }) => type)).toEqual([
      'candidate_evaluated',
      'generation_complete',
      'candidate_proposed',
      'candidate_proposed',
      'candidate_evaluated',
      'candidate_evaluated',
      'generation_complete',
    ]);
  });

  test('the child runs on the seeds of its parent, in the same order', () => {
    const run = drive(config(), improving);
    for (const { candidate, ordinals } of run.proposals) {
      const gate = run.requests.filter((one) => one.candidate === candidate && one.stage === 'gate');
      expect(gate.map(({ seed }) => seed)).toEqual(ordinals.map((ordinal) => run.requests[ordinal]!.seed));
    }
  });

  test('two slots with the same parent and seed ask once and both learn from it', () => {
    const run = drive(config({ populationSize: 2, generations: 1, trainSeeds: [1, 2], minibatchSize: 5 }), improving);
    const minibatch = run.requests.filter(({ stage }) => stage === 'minibatch');
    expect(minibatch.map(({ seed }) => seed).sort()).toEqual([1, 2]);
    expect(run.proposals.map(({ ordinals }) => [...ordinals].sort())).toEqual([
      [6, 7],
      [6, 7],
    ]);
  });

  test('a batch of evaluations holds whole candidates, 1,000 rollouts at most', () => {
    const evaluationSeeds = Array.from({ length: 400 }, (_, seed) => seed);
    const run = drive(config({ populationSize: 5, generations: 1, evaluationSeeds }), improving);
    const sizes = run.turns.map(({ work }) => (work.kind === 'rollouts' ? work.requests : []));
    expect(sizes.filter((requests) => requests[0]?.stage === 'evaluation').map(({ length }) => length)).toEqual([
      800, 800, 400,
    ]);
    expect(gepa.view(run.state).candidates.map(({ status }) => status)).toEqual(Array(6).fill('evaluated'));
  });
});

describe('answers', () => {
  const state = createLockstep(config({ evaluationSeeds: [0, 1] }));
  const rollouts = (...answers: [ordinal: number, reward: number | null][]): Answers => ({
    kind: 'rollouts',
    answers: answers.map(([ordinal, reward]) => ({ ordinal, reward, infrastructure: false })),
  });

  test.each<[string, Answers, RegExp]>([
    ['of another kind', { kind: 'proposals', answers: [] }, /answers of kind proposals do not fit.*rollouts/],
    ['too few', rollouts([0, 1]), /rollout 1 was asked for and not answered/],
    ['to something else', rollouts([0, 1], [2, 1]), /rollout 2 was answered but is not among those asked for/],
    ['twice', rollouts([0, 1], [1, 1], [1, 1]), /rollout 1 was answered twice/],
    ['NaN', rollouts([0, 1], [1, NaN]), /rollout 1 was answered with reward NaN/],
    ['Infinity', rollouts([0, Infinity], [1, 1]), /rollout 0 was answered with reward Infinity/],
  ])('%s are refused', (_, answers, message) => {
    expect(() => gepa.apply(state, answers)).toThrow(message);
  });

  test('to proposals must be exactly those asked for', () => {
    const asking = until('proposals');
    const proposals = (...candidates: number[]): Answers => ({
      kind: 'proposals',
      answers: candidates.map((candidate) => ({ candidate, outcome: 'proposed' })),
    });
    expect(() => gepa.apply(asking, rollouts([0, 1]))).toThrow(/asks for work of kind proposals/);
    expect(() => gepa.apply(asking, proposals(1))).toThrow(
      'the proposal of candidate 2 was asked for and not answered',
    );
    expect(() => gepa.apply(asking, proposals(1, 2, 3))).toThrow('candidate 3 was answered but is not among those');
    expect(() => gepa.apply(asking, proposals(1, 1))).toThrow('the proposal of candidate 1 was answered twice');
    expect(gepa.apply(asking, proposals(2, 1))).toEqual(gepa.apply(asking, proposals(1, 2)));
  });

  test('after the end are refused', () => {
    const { state: ended } = drive(config(), improving);
    expect(() => gepa.apply(ended, rollouts())).toThrow(/the search asks for work of kind done/);
  });
});

describe('failed rollouts', () => {
  test('count as 0', () => {
    const run = drive(
      config({ generations: 1, evaluationSeeds: [0, 1] }),
      scoring(({ seed }) => (seed === 0 ? null : 0.8)),
    );
    expect(gepa.view(run.state).bestReward).toBe(0.4);
  });

  test('of the infrastructure are asked for again under new ordinals while the stage waits, at most twice', () => {
    let state = createLockstep(config({ evaluationSeeds: [10, 11, 12] }));
    const broken = scoring(({ seed }) => (seed === 11 ? 'infrastructure' : 1));
    for (const expected of [[0, 1, 2], [3], [4]]) {
      expect(rolloutsOf(state).map(({ ordinal }) => ordinal)).toEqual(expected);
      expect(state.phase.name).toBe('baseline');
      state = gepa.apply(state, answer(gepa.next(state), broken)).state;
    }
    expect(state.phase.name).toBe('minibatch');
    expect(gepa.view(state)).toMatchObject({ bestReward: 2 / 3, rolloutsCompleted: 5 });
  });

  test('are not asked for again when the candidate is at fault', () => {
    const state = createLockstep(config());
    const after = gepa.apply(
      state,
      answer(
        gepa.next(state),
        scoring(() => null),
      ),
    ).state;
    expect(after.phase.name).toBe('minibatch');
  });

  test('asked again show reflection the rollout that counted', () => {
    const start = until('minibatch', createLockstep(config({ populationSize: 1, evaluationSeeds: [0] })));
    const [first] = rolloutsOf(start);
    const flaky = scoring(({ ordinal }) => (ordinal === first!.ordinal ? 'infrastructure' : 0.5));
    const asking = until('proposals', start, flaky);
    const work = gepa.next(asking);
    expect(work.kind === 'proposals' && work.requests[0]!.ordinals).toEqual([4, 2, 3]);
  });

  test('are not asked for again with what is reserved for the first proposal', () => {
    const tight = { ...config({ populationSize: 1, generations: 1 }) };
    const maxRollouts = minimumRollouts(tight) + 1;
    const broken = scoring(({ stage, seed }) => (stage === 'baseline' && seed < 3 ? 'infrastructure' : 0.5));
    const run = drive({ ...tight, maxRollouts }, broken);
    const baseline = run.requests.filter(({ stage }) => stage === 'baseline');
    expect(baseline.map(({ seed }) => seed)).toEqual([0, 1, 2, 3, 4, 5, 0]);
    expect(run.requests.filter(({ stage }) => stage === 'gate')).toHaveLength(3);
  });
});

describe('what is reserved is not spent on asking again', () => {
  const small = config({ populationSize: 1, generations: 1, minibatchSize: 3 });

  test('at the gate: an evaluation', () => {
    const world = scoring(({ stage, ordinal }) =>
      stage !== 'gate' ? 0.2 : ordinal % 3 === 0 ? 'infrastructure' : 0.9,
    );
    const run = drive({ ...small, maxRollouts: minimumRollouts(small) }, world);
    expect(run.requests.filter(({ stage }) => stage === 'gate')).toHaveLength(3);
    expect(gepa.view(run.state).candidates.map(({ status }) => status)).toEqual(['evaluated', 'evaluated']);
  });

  test('in an evaluation: those that wait for the next batch', () => {
    const evaluationSeeds = Array.from({ length: 600 }, (_, seed) => seed);
    const maxRollouts = 600 + 2 * 6 + 2 * 600;
    const world = scoring(({ stage, seed, candidate }) => {
      if (stage === 'gate') return 0.9;
      return stage === 'evaluation' && candidate === 1 && seed < 5 ? 'infrastructure' : 0.2;
    });
    const run = drive({ ...small, populationSize: 2, evaluationSeeds, maxRollouts }, world);
    expect(run.requests.length).toBe(maxRollouts);
    expect(gepa.view(run.state).candidates.map(({ status }) => status)).toEqual(Array(3).fill('evaluated'));
  });
});

describe('the budget', () => {
  const base = config({ populationSize: 4, generations: 50, minibatchSize: 2 });

  test('the least one evaluates the baseline and one child', () => {
    const maxRollouts = minimumRollouts(base);
    const run = drive({ ...base, maxRollouts }, improving);
    expect(maxRollouts).toBe(6 + 2 + 2 + 6);
    expect(run.requests.length).toBe(maxRollouts);
    expect(gepa.view(run.state)).toMatchObject({ bestCandidate: 1, generation: 1, rolloutsPlanned: maxRollouts });
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'max_rollouts' });
  });

  test('less than that is refused, naming the field and the number', () => {
    expect(() => createLockstep({ ...base, maxRollouts: minimumRollouts(base) - 1 })).toThrow(
      'maxRollouts must be an integer of at least 16',
    );
  });

  test('with little left there are fewer slots', () => {
    const run = drive({ ...base, maxRollouts: 6 + 2 * 4 + 6 + 3 }, improving);
    expect(run.proposals).toHaveLength(2);
  });

  test('accepted children are evaluated by gain, greatest first; the others are rejected for the budget', () => {
    const gains = [0, 0.1, 0.4, 0.2, 0.4];
    const world = scoring(({ candidate, stage }) => (stage === 'gate' ? 0.1 + gains[candidate]! : 0.1));
    // The baseline, four slots, and two evaluations.
    const run = drive({ ...base, maxRollouts: 6 + 16 + 12 }, world);
    const ends = run.decisions.flatMap((one) =>
      one.type === 'candidate_evaluated' || one.type === 'candidate_rejected'
        ? [`${one.candidate} ${one.type === 'candidate_rejected' ? one.reason : 'evaluated'}`]
        : [],
    );
    expect(ends).toEqual(['0 evaluated', '1 budget', '3 budget', '2 evaluated', '4 evaluated']);
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'max_rollouts' });
  });

  test('spent exactly with the last generation, it is the generations that end it', () => {
    const one = { ...base, populationSize: 1, generations: 1 };
    const run = drive({ ...one, maxRollouts: minimumRollouts(one) }, improving);
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'generations' });
  });
});

describe('proposals', () => {
  const failing = (outcomes: (candidate: number) => 'proposed' | 'duplicate' | 'failed'): World => ({
    rollout: improving.rollout,
    propose: ({ candidate }) => ({ outcome: outcomes(candidate), reason: `reason ${candidate}` }),
  });

  test('that are duplicates or fail cost nothing more', () => {
    const run = drive(
      config({ populationSize: 3, generations: 1 }),
      failing((candidate) => (['proposed', 'duplicate', 'failed'] as const)[candidate - 1]!),
    );
    expect(run.requests.filter(({ stage }) => stage === 'gate').map(({ candidate }) => candidate)).toEqual([1, 1, 1]);
    const reasons = run.decisions.flatMap((one) => (one.type === 'proposal_failed' ? [one.reason] : []));
    expect(reasons).toEqual([expect.stringContaining('duplicate'), 'reason 3']);
    expect(gepa.view(run.state).candidates.map(({ candidate }) => candidate)).toEqual([0, 1]);
  });

  test('all failed in two generations in a row fail the search, baseline kept', () => {
    const run = drive(
      config({ populationSize: 2, generations: 9 }),
      failing(() => 'failed'),
    );
    expect(run.end).toMatchObject({ kind: 'failed', code: 'proposer_failed' });
    expect(run.end).toMatchObject({ message: expect.stringContaining('reason 4') });
    expect(run.proposals).toHaveLength(4);
    expect(gepa.view(run.state)).toMatchObject({ bestCandidate: 0, bestReward: 0.1, generation: 2 });
  });

  test('all duplicates for ever end by generations', () => {
    const run = drive(
      config({ populationSize: 2, generations: 5 }),
      failing(() => 'duplicate'),
    );
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'generations' });
  });
});

test('another rng seed is another path', () => {
  const seedsOf = (rngSeed: number) => drive(config({ rngSeed }), improving).requests.map(({ seed }) => seed);
  expect(seedsOf(0)).not.toEqual(seedsOf(1));
  expect(seedsOf(0)).toEqual(seedsOf(0));
});
