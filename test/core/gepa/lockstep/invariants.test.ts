/**
 * What a GEPA search keeps, whatever it is answered:
 *  1. it never asks for more rollouts than `maxRollouts`, and it ends;
 *  2. ordinals are 0..N-1 in the order asked, without gaps, and `view` counts them;
 *  3. the same config and answers give the same path; the order within an answers array does not matter;
 *  4. the state is plain JSON: written and read at every step, nothing changes; `apply` leaves its argument alone and
 *     `next` twice is `next` once;
 *  5. `bestReward` never falls, and it is the best mean over the evaluation seeds, ties to the earlier candidate;
 *  6. every parent was evaluated in an earlier generation: the pool is the one the generation began with;
 *  7. a child is evaluated only if its sum at the gate is strictly better than its parent's on the same seeds, and each
 *     candidate has exactly one ending;
 *  8. a rollout is asked for at most three times, and only the infrastructure's failures are;
 *  9. generations are complete in order, the last one is where `done` says;
 * 10. a budget warning comes once at most, and exactly when 80 % is used.
 */
import { reorder } from '../cases.js';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { minimumRollouts, type GepaConfig } from '../../../../src/core/gepa/config.js';
import { createLockstep, type LockstepState } from '../../../../src/core/gepa/lockstep/state.js';
import { gepa } from '../../../../src/core/gepa/lockstep/step.js';
import { seedRng, uniformInt } from '../../../../src/core/random.js';
import { exceeds, mean, sum } from '../../../../src/core/scores.js';
import type { Decision, RolloutRequest, Stage } from '../../../../src/core/work.js';
import { drive, type Run, type World } from './driver.js';

type Of<Type extends Decision['type']> = Extract<Decision, { type: Type }>;

interface Case {
  config: GepaConfig;
  /** Percent of rollouts that fail, that the infrastructure fails, and of proposals that fail or are duplicates. */
  failing: number;
  infrastructure: number;
  badProposals: number;
  duplicates: number;
  answerSeed: number;
}

const seeds = fc.array(fc.integer({ min: -3, max: 9 }), { minLength: 1, maxLength: 7 });
const cases: fc.Arbitrary<Case> = fc
  .record({
    populationSize: fc.integer({ min: 1, max: 4 }),
    generations: fc.integer({ min: 1, max: 6 }),
    minibatchSize: fc.integer({ min: 1, max: 5 }),
    trainSeeds: seeds,
    evaluationSeeds: seeds,
    rngSeed: fc.maxSafeInteger(),
    spare: fc.option(fc.nat({ max: 120 })),
    failing: fc.constantFrom(0, 20, 100),
    infrastructure: fc.constantFrom(0, 0, 30, 100),
    badProposals: fc.constantFrom(0, 0, 30, 100),
    duplicates: fc.constantFrom(0, 20),
    answerSeed: fc.nat(),
  })
  .map(({ spare, failing, infrastructure, badProposals, duplicates, answerSeed, ...rest }) => {
    const unlimited = { ...rest, maxRollouts: null };
    const maxRollouts = spare === null ? null : minimumRollouts(unlimited) + spare;
    return { config: { ...rest, maxRollouts }, failing, infrastructure, badProposals, duplicates, answerSeed };
  });

/** Answers that depend on what is asked and on the case, not on when. */
function worldOf({ failing, infrastructure, badProposals, duplicates, answerSeed }: Case): World {
  const draw = (stream: number, below: number) => uniformInt(seedRng(answerSeed, stream), below)[0];
  const rewards = [0, 0, 0.1, 0.3, 0.6, 0.7, 1, 1];
  return {
    rollout({ ordinal }) {
      if (draw(ordinal * 4, 100) < infrastructure) return 'infrastructure';
      if (draw(ordinal * 4 + 1, 100) < failing) return null;
      return rewards[draw(ordinal * 4 + 2, rewards.length)]!;
    },
    propose({ candidate }) {
      const drawn = draw(candidate * 4 + 3, 100);
      if (drawn < badProposals) return { outcome: 'failed', reason: 'no closing fence' };
      return { outcome: drawn < badProposals + duplicates ? 'duplicate' : 'proposed' };
    },
  };
}

/** The rewards answered to these requests, without failures: those count 0 and may have been asked again. */
function rewardsOf(run: Run, ordinals: readonly number[]): number[] {
  const given = run.turns.flatMap(({ answers }) => (answers.kind === 'rollouts' ? answers.answers : []));
  return ordinals.map((ordinal) => given[ordinal]!.reward).filter((reward) => reward !== null);
}

function requestsFor(run: Run, candidate: number, stage: Stage): RolloutRequest[] {
  return run.requests.filter((request) => request.candidate === candidate && request.stage === stage);
}

function ordinalsOf(requests: readonly RolloutRequest[]): number[] {
  return requests.map(({ ordinal }) => ordinal);
}

function of<Type extends Decision['type']>(run: Run, type: Type): Of<Type>[] {
  return run.decisions.filter((decision): decision is Of<Type> => decision.type === type);
}

function check(name: string, property: (run: Run, given: Case) => void): void {
  test(name, () => {
    fc.assert(
      fc.property(cases, (given) => property(drive(given.config, worldOf(given)), given)),
      { numRuns: 300 },
    );
  });
}

describe('a GEPA search', () => {
  check('never overshoots its budget, ends, and says by what', (run, { config }) => {
    const limit = config.maxRollouts ?? Infinity;
    for (const { after } of run.turns) expect(after.asked).toBeLessThanOrEqual(limit);
    expect(run.requests.length).toBeLessThanOrEqual(limit);
    const { generation } = run.state;
    if (run.end.kind === 'done') {
      expect(run.end.stoppedBy).toBe(generation === config.generations ? 'generations' : 'max_rollouts');
      if (config.maxRollouts === null) expect(run.end.stoppedBy).toBe('generations');
    } else {
      expect(run.end).toMatchObject({ kind: 'failed', code: 'proposer_failed' });
      expect(run.end.kind === 'failed' && run.end.message).toContain('no closing fence');
    }
  });

  check('asks no more than it plans before it begins, and never plans less than it asks', (run, given) => {
    const { config, infrastructure } = given;
    const states = [createLockstep(config), ...run.turns.map(({ after }) => after)];
    const planned = states.map((state) => gepa.view(state).rolloutsPlanned);
    if (infrastructure === 0) expect(planned).toEqual([...planned].sort((left, right) => right - left));
    for (const amount of planned) expect(amount).toBeLessThanOrEqual(config.maxRollouts ?? Infinity);
    expect(planned.at(-1)).toBe(run.requests.length);
  });

  check('numbers its requests 0..N-1 in the order asked', (run) => {
    expect(run.requests.map(({ ordinal }) => ordinal)).toEqual(run.requests.map((_, index) => index));
    const view = gepa.view(run.state);
    expect(view.rolloutsCompleted).toBe(run.requests.length);
    for (const { candidate, rolloutCount } of view.candidates) {
      expect(rolloutCount).toBe(run.requests.filter((request) => request.candidate === candidate).length);
    }
  });

  check('takes the same path again, through JSON at every step and with answers in any order', (run, given) => {
    const again = drive(given.config, worldOf(given), (state) => JSON.parse(JSON.stringify(state)) as LockstepState);
    expect(again).toEqual(run);
    for (const { before, answers, after } of run.turns) {
      const copy = JSON.stringify(before);
      expect(gepa.next(before)).toEqual(gepa.next(before));
      expect(gepa.apply(before, reorder(answers, given.answerSeed)).state).toEqual(after);
      expect(JSON.stringify(before)).toBe(copy);
    }
  });

  check('never lets the best reward fall', (run) => {
    const bests = run.turns.map(({ after }) => after.best?.reward ?? -Infinity);
    expect(bests).toEqual([...bests].sort((left, right) => left - right));
    const history = gepa.view(run.state).history.map(({ bestReward }) => bestReward);
    expect(history).toEqual([...history].sort((left, right) => left - right));
    let best: Of<'candidate_evaluated'> | undefined;
    for (const one of of(run, 'candidate_evaluated')) if (!best || exceeds(one.reward, best.reward)) best = one;
    expect(run.state.best).toEqual({ candidate: best!.candidate, reward: best!.reward });
  });

  check('takes parents only from the pool with which the generation began', (run) => {
    const evaluatedIn = new Map(of(run, 'candidate_evaluated').map((one) => [one.candidate, one.generation]));
    const proposed = of(run, 'candidate_proposed');
    for (const { candidate, parents, generation } of proposed) {
      expect(parents).toHaveLength(1);
      for (const parent of parents) {
        expect(parent).toBeLessThan(candidate);
        expect(evaluatedIn.get(parent)).toBeLessThan(generation);
      }
    }
    for (const { stage, candidate, generation } of run.requests) {
      if (stage === 'minibatch') expect(evaluatedIn.get(candidate)).toBeLessThan(generation);
    }
    const numbers = run.proposals.map(({ candidate }) => candidate);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  check('shows reflection the rollouts of the parent that it names', (run, { config }) => {
    for (const { parent, ordinals, generation } of run.proposals) {
      expect(ordinals).toHaveLength(Math.min(config.minibatchSize, config.trainSeeds.length));
      for (const ordinal of ordinals) {
        expect(run.requests[ordinal]).toMatchObject({ candidate: parent, stage: 'minibatch', generation });
      }
    }
  });

  check('ends every candidate once, and evaluates only what was strictly better', (run, { config }) => {
    const evaluated = of(run, 'candidate_evaluated');
    const rejected = of(run, 'candidate_rejected');
    const endings = [...evaluated, ...rejected].map(({ candidate }) => candidate).sort((a, b) => a - b);
    const born = [0, ...of(run, 'candidate_proposed').map(({ candidate }) => candidate)];
    expect(endings).toEqual(born);
    for (const { candidate } of of(run, 'candidate_proposed')) {
      const { ordinals } = run.proposals.find((one) => one.candidate === candidate)!;
      const parentSum = sum(rewardsOf(run, ordinals));
      const childSum = sum(rewardsOf(run, ordinalsOf(requestsFor(run, candidate, 'gate'))));
      const rejection = rejected.find((one) => one.candidate === candidate);
      if (!exceeds(childSum, parentSum)) expect(rejection).toMatchObject({ reason: 'not_better', childSum, parentSum });
      else if (rejection) expect(rejection).toMatchObject({ reason: 'budget', childSum, parentSum });
    }
    for (const { candidate, reward, seedsEvaluated } of evaluated) {
      const requests = requestsFor(run, candidate, candidate === 0 ? 'baseline' : 'evaluation');
      expect(requests.slice(0, config.evaluationSeeds.length).map(({ seed }) => seed)).toEqual(config.evaluationSeeds);
      expect(seedsEvaluated).toBe(config.evaluationSeeds.length);
      const rewards = rewardsOf(run, ordinalsOf(requests));
      const zeros = Array.from({ length: seedsEvaluated - rewards.length }, () => 0);
      expect(reward).toBe(mean([...rewards, ...zeros]));
    }
    for (const { candidate, status, reward } of gepa.view(run.state).candidates) {
      const found = evaluated.find((one) => one.candidate === candidate);
      expect({ status, reward }).toEqual(
        found ? { status: 'evaluated', reward: found.reward } : { status: 'rejected', reward: null },
      );
    }
  });

  check('asks again for what the infrastructure failed, at most twice', (run, { infrastructure, config }) => {
    for (const { work, answers, after } of run.turns) {
      if (work.kind !== 'rollouts' || answers.kind !== 'rollouts') continue;
      const next = gepa.next(after);
      const repeats = 'batch' in after.phase ? after.phase.batch.repeats : 0;
      expect(repeats).toBeLessThanOrEqual(2);
      if (next.kind !== 'rollouts' || repeats === 0) continue;
      const faulty = work.requests.filter((_, index) => answers.answers[index]!.infrastructure);
      const pairOf = ({ candidate, seed, stage, generation }: RolloutRequest) => [candidate, seed, stage, generation];
      const expected = faulty.map(pairOf);
      const asked = next.requests.map(pairOf);
      expect(asked).toEqual(config.maxRollouts === null ? expected : expected.slice(0, asked.length));
    }
    if (infrastructure === 0) expect(run.requests.length).toBe(run.state.asked);
  });

  check('completes generations in order', (run, { config }) => {
    const complete = of(run, 'generation_complete');
    expect(complete.map(({ generation }) => generation)).toEqual(complete.map((_, index) => index));
    expect(complete.map(({ generation, bestReward }) => ({ generation, bestReward }))).toEqual(
      gepa.view(run.state).history,
    );
    if (run.end.kind === 'done') expect(complete.at(-1)!.generation).toBe(run.state.generation);
    expect(run.state.generation).toBeLessThanOrEqual(config.generations);
  });

  check('warns once when 80 % of the budget is used', (run, { config }) => {
    const warnings = of(run, 'budget_warning');
    const limit = config.maxRollouts;
    expect(warnings).toHaveLength(limit !== null && run.state.asked >= 0.8 * limit ? 1 : 0);
    for (const { rolloutsUsed } of warnings) expect(rolloutsUsed).toBeGreaterThanOrEqual(0.8 * limit!);
  });
});
