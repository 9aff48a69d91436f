/**
 * Invariants of a MIPRO search, for any answers, beside those of every search:
 *  1. it reserves the rollouts that its end needs;
 *  2. an evaluation is the mean over the evaluation seeds, and the best candidate has one;
 *  3. without noise no candidate runs twice on a seed, except in evaluations with repeats and four
 *     noise probes of the baseline;
 *  4. candidate numbers ascend; combinations are in the space, and a component has at most
 *     `numCandidates` texts if `numTrials` is given;
 *  5. demonstrations are of train seeds, at most one per seed and set, within the maxima;
 *     bootstrapped ones have good rewards;
 *  6. a candidate is proposed once, and accepted and rejected at most once each;
 *  7. on live traffic without seeds only the sequential test replaces the best candidate.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { testCommonInvariants, testSeededInvariants, type Subject } from '../common-invariants.js';
import {
  generationsOf,
  instructionLimit,
  maxIdle,
  mayHaveDemos,
  miproLimits,
  trialLimit,
} from '../../../../src/core/algorithms/mipro/config.js';
import { goodRewardThreshold } from '../../../../src/core/algorithms/mipro/good-rollouts.js';
import { rolloutsOf } from '../../../../src/core/search/results.js';
import { leaderOf } from '../../../../src/core/algorithms/mipro/expected-reward.js';
import { spaceOf } from '../../../../src/core/algorithms/mipro/space.js';
import type { MiproState } from '../../../../src/core/algorithms/mipro/state.js';
import { mipro } from '../../../../src/core/algorithms/mipro.js';
import { isSolved, mean, sum } from '../../../../src/core/math/rewards.js';
import { rewardModelOf } from '../../../../src/core/search/model-cache.js';
import { endRollouts } from '../../../../src/core/search/budget.js';
import { evaluationRollouts, heldoutRollouts } from '../../../../src/core/search/config.js';
import { addPairs, judgeTest, openTest } from '../../../../src/core/math/sequential-test.js';
import { sampleOf } from '../../../../src/core/math/statistics.js';
import { measuredIn, of } from '../gepa/cases.js';
import type { Run } from '../gepa/driver.js';
import { casesOf, miproWorldOf, startOf, type Case } from './cases.js';
import { drive } from './driver.js';
import { pureRuns } from '../../../support/runs.js';

const anyCases = casesOf(false);
const subject: Subject<MiproState, Case> = {
  search: mipro,
  cases: anyCases,
  drive: (given, between) => drive(startOf(given), miproWorldOf(given), between),
  numRuns: pureRuns(40, 1_000),
  progressIn: (run) =>
    run.turns.flatMap(({ before, after }) =>
      before.best && after.best!.candidate !== before.best.candidate ? [before.generation] : [],
    ),
};
const steadyCases = casesOf(true);

function check(name: string, property: (run: Run<MiproState>, given: Case) => void, cases = anyCases): void {
  test(name, () => {
    fc.assert(
      fc.property(cases, (given) => property(subject.drive(given), given)),
      { numRuns: subject.numRuns },
    );
  });
}

/** Whether every combination was run. */
function isAllTried(state: MiproState): boolean {
  const tried = Object.keys(state.choices).filter((candidate) => state.results[candidate]);
  return tried.length === spaceOf(state).reduce((product, count) => product * count, 1);
}

/** Whether the leader solves every train seed by its own results. */
function isTrainSolved(state: MiproState): boolean {
  const model = rewardModelOf(state);
  const leader = leaderOf(state, model);
  return state.order.every((seed) => {
    const posterior = model.posterior(leader, seed);
    return posterior?.age === 0 && (isSolved(posterior.mean) || isSolved(posterior.latest));
  });
}

/** Whether the last generations have no new candidate. */
function isIdle({ candidates, generation }: MiproState): boolean {
  return generation - candidates.at(-1)!.generation >= maxIdle;
}

describe('a MIPRO search', () => {
  testCommonInvariants(subject);
  testSeededInvariants(subject, () => true);

  check('reserves the rollouts of its end, and ends by generations only where it must', (run, given) => {
    const { config, infrastructure } = given;
    const limit = config.maxRollouts ?? Infinity;
    for (const { before, after } of run.turns) {
      // An evaluation may use the rollouts reserved for the end.
      const { name } = after.phase;
      if (name === 'minibatch' || name === 'gate')
        expect(limit - after.asked).toBeGreaterThanOrEqual(endRollouts(after));
      if (name !== 'heldout' && name !== 'done') {
        expect(limit - after.asked).toBeGreaterThanOrEqual(heldoutRollouts(config));
      }
      if (name === 'evaluation' && before.phase.name !== 'evaluation' && infrastructure === 0) {
        const isEnd = after.trials >= trialLimit(config);
        const needed = isEnd ? heldoutRollouts(config) : 0;
        expect(limit - after.asked).toBeGreaterThanOrEqual(needed);
      }
    }
    const { generation, trials, nextCandidate } = run.state;
    expect(trials).toBeLessThanOrEqual(trialLimit(config));
    if (config.numTrials !== null) expect(generation).toBeLessThanOrEqual(generationsOf(config));
    if (run.end.kind !== 'done') return;
    if (run.end.stoppedBy === 'train_solved') {
      expect(config.numTrials).toBeNull();
      expect(isTrainSolved(run.state)).toBe(true);
    }
    if (run.end.stoppedBy !== 'generations') return;
    const isOver = trials >= trialLimit(config) || generation === generationsOf(config);
    const isFull = nextCandidate >= miproLimits.candidates;
    expect(isOver || isFull || isAllTried(run.state) || isIdle(run.state)).toBe(true);
  });

  check('the best candidate is evaluated on all seeds, and its reward is the measured mean', (run, given) => {
    const { config, traffic } = given;
    const evaluated = of(run, 'candidate_evaluated');
    expect(new Set(evaluated.map(({ candidate }) => candidate)).size).toBe(evaluated.length);
    const { repeats = 1, evaluationSeeds } = config;
    const measured = measuredIn(run).filter(({ stage }) => stage !== 'heldout');
    for (const { candidate, reward, seedsEvaluated } of evaluated) {
      expect(seedsEvaluated).toBe(evaluationSeeds.length);
      const { after } = run.turns.find(({ decisions }) =>
        decisions.some((decision) => decision.type === 'candidate_evaluated' && decision.candidate === candidate),
      )!;
      const own = measured.filter((rollout) => rollout.candidate === candidate && rollout.ordinal < after.answered);
      const counted = evaluationSeeds.flatMap((seed) => own.filter((rollout) => rollout.seed === seed).slice(-repeats));
      expect(counted).toHaveLength(evaluationRollouts(config));
      expect(reward).toBe(mean(counted.map((rollout) => rollout.reward)));
    }
    const { best, candidates } = run.state;
    const found = evaluated.find(({ candidate }) => candidate === best!.candidate)!;
    if (traffic === 'paired') {
      expect(best!.reward).toBe(found.reward);
      expect(best!.reward).toBeGreaterThanOrEqual(Math.max(...evaluated.map(({ reward }) => reward)) - 1e-9);
    } else expect(found).toBe(evaluated.at(-1));
    for (const { candidate, status, reward } of candidates) {
      const evaluation = evaluated.find((event) => event.candidate === candidate);
      expect(reward).toBe(evaluation?.reward ?? null);
      expect(status === 'evaluated').toBe(evaluation !== undefined);
    }
  });

  check(
    'runs no candidate twice on a seed without noise',
    (run, { config }) => {
      const { repeats = 1 } = config;
      if (repeats > 1) return;
      const counts = new Map<string, number>();
      for (const { candidate, seed, stage } of run.requests) {
        if (stage !== 'heldout') counts.set(`${candidate} ${seed}`, (counts.get(`${candidate} ${seed}`) ?? 0) + 1);
      }
      const repeated = [...counts].filter(([, count]) => count > 1);
      for (const [key] of repeated) expect(key).toMatch(/^0 /);
      expect(sum(repeated.map(([, count]) => count - 1))).toBeLessThanOrEqual(4);
    },
    steadyCases,
  );

  check(
    'combines known texts and demonstration sets, numbers candidates in order, and limits texts',
    (run, { config }) => {
      let last = 0;
      const proposed = of(run, 'candidate_proposed');
      for (const { work, before } of run.turns) {
        for (const request of work.kind === 'proposals' ? work.requests : []) {
          expect(request.candidate).toBe(++last);
          const known = before.candidates.map(({ candidate }) => candidate);
          for (const source of [request.parent, ...(request.merge ?? [])]) expect(known).toContain(source);
          if (!request.compose) continue;
          const { texts, demos } = request.compose;
          expect(texts).toHaveLength(before.components.length);
          for (const [component, text] of texts.entries()) expect(before.instructions[component]).toContain(text);
          expect(demos.map(({ component }) => component)).toEqual(before.slots);
          for (const [slot, { bootstrapped, labeled }] of demos.entries()) {
            expect(before.demoSets[slot]).toContainEqual({ bootstrapped, labeled });
          }
        }
      }
      const numbers = proposed.map(({ candidate }) => candidate);
      expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
      expect(run.state.candidates.map(({ candidate }) => candidate)).toEqual([0, ...numbers]);
      const { instructions, choices, components } = run.state;
      const space = spaceOf(run.state);
      for (const texts of instructions) {
        expect(texts[0]).toBe(0);
        expect(texts.length).toBeLessThanOrEqual(1 + instructionLimit(config));
        for (const text of texts) expect([0, ...numbers]).toContain(text);
      }
      if (components.length > 0) {
        expect(
          Object.keys(choices)
            .map(Number)
            .sort((left, right) => left - right),
        ).toEqual([0, ...numbers]);
      }
      for (const combination of Object.values(choices)) {
        expect(combination).toHaveLength(space.length);
        for (const [index, choice] of combination.entries()) {
          expect(choice).toBeGreaterThanOrEqual(0);
          expect(choice).toBeLessThan(space[index]!);
        }
      }
    },
  );

  check('demonstrates good rollouts on train seeds, one per seed', (run, { config }) => {
    const { maxBootstrappedDemos, maxLabeledDemos } = config;
    for (const { work, before, after } of run.turns) {
      if (work.kind !== 'demos') continue;
      const all = rolloutsOf(before.results);
      const byOrdinal = new Map(all.map((rollout) => [rollout.ordinal, rollout]));
      const limit = goodRewardThreshold(all) - 1e-9;
      for (const ordinal of [...work.request.ordinals, ...work.request.describe]) {
        expect(config.trainSeeds).toContain(byOrdinal.get(ordinal)!.seed);
      }
      if (!mayHaveDemos(config)) expect(work.request.ordinals).toEqual([]);
      for (const [slot, sets] of after.demoSets.entries()) {
        expect(sets[0]).toEqual({ bootstrapped: [], labeled: [] });
        const keys = sets.map((set) => JSON.stringify(set));
        expect(new Set(keys).size).toBe(keys.length);
        for (const { bootstrapped, labeled } of sets) {
          const shown = [...bootstrapped, ...labeled].map((ordinal) => byOrdinal.get(ordinal)!.seed);
          expect(new Set(shown).size).toBe(shown.length);
          for (const seed of shown) expect(config.trainSeeds).toContain(seed);
          expect(bootstrapped.length).toBeLessThanOrEqual(maxBootstrappedDemos);
          expect(labeled.length).toBeLessThanOrEqual(maxLabeledDemos);
          expect(shown.length).toBeLessThanOrEqual(Math.max(maxBootstrappedDemos, maxLabeledDemos));
        }
        const known = new Set(before.usable[slot]?.bootstrapped ?? []);
        const found = after.usable[slot]!.bootstrapped.filter((ordinal) => !known.has(ordinal));
        for (const ordinal of found) expect(byOrdinal.get(ordinal)!.reward).toBeGreaterThanOrEqual(limit);
        const usable = new Set(after.usable[slot]!.bootstrapped);
        const earlier = new Set((before.demoSets[slot] ?? []).flatMap(({ bootstrapped }) => bootstrapped));
        const fresh = sets.slice(before.demoSets[slot]?.length ?? 0).flatMap(({ bootstrapped }) => bootstrapped);
        for (const ordinal of fresh) expect(usable.has(ordinal) || earlier.has(ordinal)).toBe(true);
      }
    }
  });

  check('shows a rewrite good rollouts on train seeds, and asks for one kind of proposal', (run, { config }) => {
    for (const { rewrite, merge, compose } of run.proposals) {
      expect([rewrite, merge, compose].filter((kind) => kind !== undefined)).toHaveLength(1);
      for (const ordinal of rewrite?.examples ?? []) expect(config.trainSeeds).toContain(run.requests[ordinal]!.seed);
    }
  });

  check('proposes a candidate once, accepts and rejects it at most once each', (run) => {
    const proposed = of(run, 'candidate_proposed').map(({ candidate }) => candidate);
    for (const type of ['candidate_accepted', 'candidate_rejected'] as const) {
      const numbers = of(run, type).map(({ candidate }) => candidate);
      expect(new Set(numbers).size).toBe(numbers.length);
      for (const candidate of numbers) expect(proposed).toContain(candidate);
    }
    for (const { before, work, after, decisions } of run.turns) {
      if (before.phase.name !== 'gate' || work.kind !== 'rollouts' || after.phase === before.phase) continue;
      if (after.phase.name === 'gate' && after.generation === before.generation) continue;
      // A candidate's first trial decides it, in any generation.
      const { trying } = before.phase;
      const first = Math.min(...before.phase.batches.gate!.ordinals);
      const earlier = new Set(run.requests.filter(({ ordinal }) => ordinal < first).map(({ candidate }) => candidate));
      const fresh = run.requests.filter(({ candidate, stage }) => stage === 'gate' && trying.includes(candidate));
      for (const { candidate } of fresh) {
        if (candidate === 0 || earlier.has(candidate)) continue;
        const verdicts = decisions.filter(({ type }) => type === 'candidate_accepted' || type === 'candidate_rejected');
        expect(verdicts).toContainEqual(expect.objectContaining({ candidate }));
      }
    }
    const failed = of(run, 'proposal_failed').map(({ candidate }) => candidate);
    for (const candidate of failed) expect(proposed).not.toContain(candidate);
    const ran = new Set(run.requests.map(({ candidate }) => candidate));
    for (const candidate of ran) expect([0, ...proposed]).toContain(candidate);
    for (const { decisions } of run.turns) {
      for (const type of ['candidate_proposed', 'candidate_accepted', 'candidate_rejected'] as const) {
        const numbers = decisions.flatMap((decision) => (decision.type === type ? [decision.candidate] : []));
        if (type !== 'candidate_rejected') expect(numbers).toEqual([...numbers].sort((left, right) => left - right));
      }
    }
  });

  check(
    'replaces the best candidate by the sequential test on traffic without seeds',
    (run, { config }) => {
      for (const { before, after, decisions } of run.turns) {
        if (before.phase.name !== 'evaluation' || after.answered === before.answered) continue;
        const { candidate, batches } = before.phase;
        const { pairs, rewards: answered, ordinals } = batches.evaluation!;
        const evaluated = decisions.find((decision) => decision.type === 'candidate_evaluated');
        const rejected = decisions.find((decision) => decision.type === 'candidate_rejected');
        if (!evaluated && !rejected) continue;
        expect(pairs).toHaveLength(2 * evaluationRollouts(config));
        const rewards = pairs.map(([compared, seed], index) => {
          // The rewards of the last answers are in the results only.
          return answered[index] ?? after.results[compared]![seed]!.find(([at]) => at === ordinals[index])![1];
        });
        const own = rewards.filter((_, index) => pairs[index]![0] === candidate);
        const control = rewards.filter((_, index) => pairs[index]![0] === before.best!.candidate);
        expect(own).toHaveLength(control.length);
        let open = openTest(Math.sqrt(sampleOf(control).variance));
        const isBetter = own.some((reward, index) => {
          open = addPairs(open, [[reward, control[index]!]]);
          return judgeTest(open, own.length) === 'better';
        });
        expect(after.best!.candidate).toBe(isBetter ? candidate : before.best!.candidate);
        expect(evaluated?.candidate ?? rejected?.candidate).toBe(candidate);
      }
    },
    anyCases.filter(({ traffic }) => traffic === 'unpaired'),
  );
});
