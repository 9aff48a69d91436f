/**
 * Invariants of every search algorithm:
 *  1. it requests at most `maxRollouts` rollouts, ends, and reports why;
 *  2. ordinals are 0..N-1 in the order of the requests;
 *  3. the planned number is never below the requested number and equals it at the end;
 *  4. the same config and answers give the same path, through JSON at every turn and with the
 *     answers of a batch in any order; `apply` and `next` do not modify their arguments;
 *  5. `history` has an entry for each generation, the baseline's first, and never falls;
 *  6. only infrastructure failures are requested again, at most twice;
 *  7. one budget warning, when 80 % of the budget is used;
 *  8. its phase is that of its open round: the baseline's first, then search and evaluations, and
 *     held-out rows last.
 * Of every search by seeds:
 *  9. proposals are offered rollouts of the parent or its ancestors on train seeds, one a seed;
 * 10. held-out seeds run at the end, on baseline and winner only, and give the verdict.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mean } from '../../../src/core/math/rewards.js';
import { heldoutRollouts, type SearchConfig } from '../../../src/core/search/config.js';
import { rolloutAnswersIn, rolloutsIn } from '../../../src/core/search/parts.js';
import type { RolloutRequest, SearchAlgorithm } from '../../../src/core/search/protocol.js';
import type { SearchState, SeededState } from '../../../src/core/search/state.js';
import { frozen, measuredIn, of, reorder, repeatedBatches } from './gepa/cases.js';
import type { Run } from './gepa/driver.js';

interface Given {
  config: SearchConfig;
  infrastructure: number;
  answerSeed: number;
}

/** A search with arbitrary cases. */
export interface Subject<State, Case> {
  search: SearchAlgorithm<State>;
  cases: fc.Arbitrary<Case>;
  drive: (given: Case, between?: (state: State) => State) => Run<State>;
  numRuns: number;
  /** The generations with progress, which patience counts from. */
  progressIn: (run: Run<State>) => number[];
}

function checks<State, Case>({ cases, drive, numRuns }: Subject<State, Case>) {
  return (name: string, property: (run: Run<State>, given: Case) => void) =>
    test(name, () => {
      fc.assert(
        fc.property(cases, (given) => property(drive(given), given)),
        { numRuns },
      );
    });
}

export function testCommonInvariants<State extends SearchState, Case extends Given>(subject: Subject<State, Case>) {
  const { search, drive, progressIn } = subject;
  const check = checks(subject);

  check('stays within its budget, ends, and reports why', (run, { config }) => {
    const { maxRollouts, patience, targetReward } = config;
    for (const { after } of run.turns) expect(after.asked).toBeLessThanOrEqual(maxRollouts ?? Infinity);
    expect(run.requests.length).toBe(run.state.asked);
    if (run.end.kind === 'failed') {
      expect(run.end).toMatchObject({ code: 'proposer_failed', message: expect.stringContaining('no closing fence') });
      expect(search.view(run.state).bestCandidate).not.toBeNull();
      return;
    }
    if (run.end.kind !== 'done') throw new Error(`the search ended with ${run.end.kind}`);
    const { generation, history } = run.state;
    const { stoppedBy } = run.end;
    const quiet = generation - Math.max(0, ...progressIn(run));
    expect(targetReward !== null && history.at(-1)! >= targetReward).toBe(stoppedBy === 'target_reward');
    if (patience !== null) expect(quiet).toBeLessThanOrEqual(patience);
    if (stoppedBy === 'patience') expect(quiet).toBe(patience);
    if (stoppedBy === 'max_rollouts') expect(maxRollouts).not.toBeNull();
  });

  check('never lowers the best reward', (run) => {
    const { history } = search.view(run.state);
    expect(history.map(({ generation }) => generation)).toEqual(history.map((_, index) => index));
    const complete = of(run, 'generation_complete');
    expect(complete.map(({ generation, bestReward }) => ({ generation, bestReward }))).toEqual(history);
    const rewards = history.map(({ bestReward }) => bestReward);
    expect(rewards).toEqual([...rewards].sort((left, right) => left - right));
    expect(of(run, 'candidate_evaluated')[0]).toMatchObject({ candidate: 0, generation: 0, reward: rewards[0] });
    if (run.end.kind !== 'done') return;
    expect(history.at(-1)!.generation).toBe(run.state.generation);
    expect(search.view(run.state)).toMatchObject({
      bestCandidate: complete.at(-1)!.bestCandidate,
      bestReward: rewards.at(-1),
    });
  });

  check('numbers requests 0..N-1 in their order', (run) => {
    expect(run.requests.map(({ ordinal }) => ordinal)).toEqual(run.requests.map((_, index) => index));
    expect(search.view(run.state).rolloutsCompleted).toBe(run.requests.length);
  });

  check('plans at least as many rollouts as it requests, within the budget', (run, { config }) => {
    for (const { after } of run.turns) {
      const { rolloutsPlanned, rolloutsCompleted } = search.view(after);
      expect(rolloutsPlanned).toBeGreaterThanOrEqual(Math.max(after.asked, rolloutsCompleted));
      expect(rolloutsPlanned).toBeLessThanOrEqual(config.maxRollouts ?? Infinity);
    }
    const { rolloutsPlanned, rolloutsCompleted } = search.view(run.state);
    expect(rolloutsPlanned).toBe(rolloutsCompleted);
  });

  check('goes through its phases forward, and counts the rollouts of the open round', (run) => {
    const order = { baseline: 0, search: 1, evaluation: 1, heldout: 2 };
    let last = 0;
    run.turns.forEach(({ before, work, after }, turn) => {
      const { name, rollouts, answered, rewardSum } = search.view(before).phase!;
      if (turn === 0) expect({ name, answered, rewardSum }).toEqual({ name: 'baseline', answered: 0, rewardSum: 0 });
      expect(order[name]).toBeGreaterThanOrEqual(last);
      last = order[name];
      const asked = rolloutsIn(work);
      expect(rollouts - answered).toBe(asked.length);
      const stages = new Set(asked.map(({ stage }) => stage));
      if (name !== 'search') expect([...stages]).toEqual([name]);
      expect(search.view(after).phase === null).toBe(turn === run.turns.length - 1);
    });
  });

  check('repeats its path through JSON and with answers in any order', (run, given) => {
    expect(drive(given, (state) => frozen(JSON.parse(JSON.stringify(state)) as State))).toEqual(run);
    for (const { before, answers, after } of run.turns) {
      expect(search.next(before)).toEqual(search.next(before));
      expect(search.apply(before, reorder(answers, given.answerSeed)).state).toEqual(after);
      const view = search.view(after);
      expect(JSON.parse(JSON.stringify(view))).toEqual(view);
    }
  });

  check('requests infrastructure failures again, at most twice', (run, { config }) => {
    for (const { work, answers, after } of run.turns) {
      const next = search.next(after);
      const repeated = repeatedBatches(after);
      if (next.kind !== 'rollouts' || repeated.length === 0) continue;
      const given = rolloutAnswersIn(answers);
      const faulty = rolloutsIn(work).filter((_, index) => given[index]!.infrastructure);
      const pairOf = ({ candidate, seed, generation }: RolloutRequest) => [candidate, seed, generation];
      const ofStage = (requests: RolloutRequest[], stage: string) =>
        requests.filter((request) => request.stage === stage).map(pairOf);
      for (const [stage, { repeats }] of repeated) {
        expect(repeats).toBeLessThanOrEqual(2);
        const expected = ofStage(faulty, stage);
        const requested = ofStage(next.requests, stage);
        expect(requested).toEqual(config.maxRollouts === null ? expected : expected.slice(0, requested.length));
      }
    }
  });

  check('warns once when 80 % of the budget is used', (run, { config }) => {
    const warnings = of(run, 'budget_warning');
    const limit = config.maxRollouts;
    expect(warnings).toHaveLength(limit !== null && run.state.asked >= 0.8 * limit ? 1 : 0);
    for (const { rolloutsUsed } of warnings) expect(rolloutsUsed).toBeGreaterThanOrEqual(0.8 * limit!);
  });
}

/** `isCompared`: whether the verdict without held-out seeds has the rewards of the evaluations. */
export function testSeededInvariants<State extends SeededState, Case extends Given>(
  subject: Subject<State, Case>,
  isCompared: (run: Run<State>) => boolean,
) {
  const { search } = subject;
  const check = checks(subject);

  check('offers the proposer rollouts of the parent or its ancestors, on train seeds', (run, { config }) => {
    const parentsOf = new Map(run.state.candidates.map(({ candidate, parents }) => [candidate, parents]));
    const lineageOf = (candidate: number): number[] => [
      candidate,
      ...(parentsOf.get(candidate) ?? []).flatMap(lineageOf),
    ];
    for (const { parent, ordinals, kind } of run.proposals) {
      const lineage = new Set(lineageOf(parent));
      const shown = ordinals.map((ordinal) => run.requests[ordinal]!);
      for (const { candidate, seed } of shown) {
        expect(lineage).toContain(candidate);
        expect(config.trainSeeds).toContain(seed);
      }
      expect(new Set(shown.map(({ seed }) => seed)).size).toBe(shown.length);
      if (kind !== 'rewrite') expect(ordinals).toEqual([]);
    }
  });

  check('runs held-out seeds at the end, on baseline and winner only', (run, { config, infrastructure }) => {
    const { heldoutSeeds, repeats } = config;
    const heldout = run.requests.filter(({ seed }) => heldoutSeeds.includes(seed));
    expect(heldout).toEqual(run.requests.filter(({ stage }) => stage === 'heldout'));
    const { verdict } = search.view(run.state);
    const winner = run.state.best!.candidate;
    if (run.end.kind !== 'done' || winner === 0) {
      expect(heldout).toEqual([]);
      // A winning baseline is not better than itself.
      expect(verdict?.verdict ?? null).toBe(run.end.kind === 'done' ? 'inconclusive' : null);
      return;
    }
    expect(verdict!.basis).toBe(heldoutSeeds.length > 0 ? 'heldout' : 'evaluation');
    if (heldoutSeeds.length === 0) {
      if (!isCompared(run)) return;
      const { reward } = run.state.candidates.find(({ candidate }) => candidate === winner)!;
      expect(verdict!.winner).toBeCloseTo(reward!, 9);
      expect(verdict!.baseline).toBeCloseTo(run.state.history[0]!, 9);
      return;
    }
    expect(heldout).toEqual(run.requests.slice(-heldout.length));
    if (infrastructure === 0) expect(heldout).toHaveLength(heldoutRollouts(config));
    const measured = measuredIn(run).filter(({ stage }) => stage === 'heldout');
    for (const [candidate, reward] of [
      [0, verdict!.baseline],
      [winner, verdict!.winner],
    ] as const) {
      const own = measured.filter((rollout) => rollout.candidate === candidate);
      for (const seed of heldoutSeeds) expect(own.filter((rollout) => rollout.seed === seed)).toHaveLength(repeats);
      expect(reward).toBeCloseTo(mean(own.map((rollout) => rollout.reward))!, 9);
    }
  });
}
