/**
 * What a GEPA search keeps, whatever it is answered:
 *  1. it never asks for more rollouts than `maxRollouts`, and it ends and says by what;
 *  2. ordinals are 0..N-1 in the order asked; what is planned is never less than what is done, and
 *     meets it at the end;
 *  3. the same config and answers give the same path, through JSON at every turn and with a batch's
 *     answers in any order; `apply` leaves its argument alone and `next` only reads;
 *  4. `history` has an entry for each generation, the baseline's first, and never falls; the best
 *     is the greatest mean among full evaluations, ties to the earlier;
 *  5. an evaluation is the mean over the evaluation seeds: without noise what was measured before
 *     counts and is not bought again; with noise, or with repeats, all of it is fresh;
 *  6. without noise no candidate runs twice on a seed, but for: evaluations with repeats, which run
 *     each seed that often and count no earlier rollout; and four probes in generation 1, of the
 *     baseline, where there are no repeats;
 *  7. only the baseline and accepted candidates become parents, and a merge combines those accepted
 *     in its generation;
 *  8. a child is accepted only for a gain that was measured, a merge for no loss; a candidate has
 *     at most one verdict;
 *  9. held-out seeds run in the end, on baseline and winner alone;
 * 10. a rollout is asked for at most three times, and only the infrastructure's failures are;
 * 11. a budget warning comes once, and exactly when 80 % is used.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { testCommonInvariants } from '../common-invariants.js';
import { estimateRollouts } from '../../../../src/core/algorithms/gepa/config.js';
import { heldoutRollouts } from '../../../../src/core/search/config.js';
import { createGepa } from '../../../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../../../src/core/algorithms/gepa/step.js';
import { exceeds, mean, sum } from '../../../../src/core/math/rewards.js';
import { casesOf, frozen, measuredIn, of, worldOf, type Case, type Measured, type Of } from './cases.js';
import { config as defaults, drive, type Run } from './driver.js';
import { runs } from '../../../support/runs.js';

/** Whether equal rollouts among these had different rewards; held-out ones are not looked at. */
function differ(measured: readonly Measured[]): boolean {
  const first = new Map<string, number>();
  return measured.some(({ candidate, seed, stage, reward }) => {
    const key = `${candidate} ${seed}`;
    if (!first.has(key)) first.set(key, reward);
    return stage !== 'heldout' && first.get(key) !== reward;
  });
}

const anyCases = casesOf(false);
const steadyCases = casesOf(true);

function check(name: string, property: (run: Run, given: Case) => void, cases = anyCases): void {
  test(name, () => {
    fc.assert(
      fc.property(cases, (given) => property(drive(given.config, worldOf(given)), given)),
      { numRuns: runs(50, 100) },
    );
  });
}

describe('a GEPA search', () => {
  testCommonInvariants(gepa, anyCases, (given, between) => drive(given.config, worldOf(given), between), runs(50, 100));

  check('never overshoots its budget, ends, and says by what', (run, { config }) => {
    const limit = config.maxRollouts ?? Infinity;
    for (const { after } of run.turns) expect(after.asked).toBeLessThanOrEqual(limit);
    expect(run.requests.length).toBe(run.state.asked);
    const { generation, history, best } = run.state;
    if (run.end.kind === 'failed') {
      expect(run.end).toMatchObject({ code: 'proposer_failed', message: expect.stringContaining('no closing fence') });
      expect(best).not.toBeNull();
      return;
    }
    if (run.end.kind !== 'done') throw new Error(`the search ended with ${run.end.kind}`);
    const accepted = new Set(of(run, 'candidate_accepted').map((one) => one.generation));
    const quiet = (count: number) =>
      Array.from({ length: count }, (_, back) => generation - back).every((one) => one >= 1 && !accepted.has(one));
    const { patience, targetReward } = config;
    const isReached = typeof targetReward === 'number' && history.at(-1)! >= targetReward;
    switch (run.end.stoppedBy) {
      case 'generations':
        expect(generation).toBe(config.generations);
        break;
      case 'max_rollouts':
        expect(config.maxRollouts).not.toBeNull();
        break;
      case 'patience':
        expect(patience).not.toBeNull();
        expect(quiet(patience!)).toBe(true);
        break;
      case 'target_reward':
        expect(isReached).toBe(true);
        break;
      case 'solved':
        break;
    }
    expect(isReached).toBe(run.end.stoppedBy === 'target_reward');
    if (typeof patience === 'number') expect(quiet(patience + 1)).toBe(false);
  });

  check('never lets the best reward fall, from the baseline on', (run) => {
    const history = gepa.view(run.state).history;
    expect(history.map(({ generation }) => generation)).toEqual(history.map((_, index) => index));
    const complete = of(run, 'generation_complete');
    expect(complete.map(({ generation, bestReward }) => ({ generation, bestReward }))).toEqual(history);
    const rewards = history.map(({ bestReward }) => bestReward);
    expect(rewards).toEqual([...rewards].sort((left, right) => left - right));
    const evaluated = of(run, 'candidate_evaluated');
    expect(evaluated[0]).toMatchObject({ candidate: 0, generation: 0, reward: rewards[0] });
    if (run.end.kind === 'done') expect(history.at(-1)!.generation).toBe(run.state.generation);
    let best: Of<'candidate_evaluated'> | undefined;
    for (const one of evaluated) if (!best || exceeds(one.reward, best.reward)) best = one;
    expect(run.state.best).toEqual({ candidate: best!.candidate, reward: best!.reward });
  });

  check('evaluates in full, fresh where rewards are noisy or repeated', (run, { config }) => {
    const measured = measuredIn(run);
    const evaluated = of(run, 'candidate_evaluated');
    expect(new Set(evaluated.map(({ candidate }) => candidate)).size).toBe(evaluated.length);
    const { evaluationSeeds, repeats = 1 } = config;
    for (const { candidate, reward } of evaluated) {
      const stage = candidate === 0 ? 'baseline' : 'evaluation';
      const own = measured.filter((one) => one.candidate === candidate);
      const full = own.filter((one) => one.stage === stage);
      // The decision comes with the last answer of the evaluation, or at once if nothing is
      // missing.
      const decidedAt = run.turns.findIndex(({ decisions }) =>
        decisions.some((one) => one.type === 'candidate_evaluated' && one.candidate === candidate),
      );
      const askedUntil = run.turns[decidedAt]!.after.answered;
      const until = full.length > 0 ? full[0]!.ordinal : askedUntil;
      const isNoisy = differ(measured.filter(({ ordinal }) => ordinal < until));
      if (isNoisy || repeats > 1 || candidate === 0) {
        const expected = evaluationSeeds.flatMap((seed) => Array.from({ length: repeats }, () => seed));
        expect(full.map(({ seed }) => seed).sort()).toEqual(expected.sort());
        expect(reward).toBe(mean(full.map((one) => one.reward)));
        continue;
      }
      const before = own.filter(({ ordinal }) => ordinal < askedUntil);
      const missing = evaluationSeeds.filter((seed) => !before.some((one) => one.seed === seed && one.stage !== stage));
      expect(full.map(({ seed }) => seed).sort()).toEqual(missing.sort());
      const counted = evaluationSeeds.map((seed) => before.filter((one) => one.seed === seed).at(-1)!.reward);
      expect(reward).toBe(mean(counted));
    }
    for (const { candidate, status, reward } of gepa.view(run.state).candidates) {
      const found = evaluated.find((one) => one.candidate === candidate);
      expect(reward).toBe(found?.reward ?? null);
      if (found) expect(status).toBe('evaluated');
    }
    expect(evaluated.map(({ candidate }) => candidate)).toContain(run.state.best!.candidate);
  });

  check(
    'without noise buys nothing twice',
    (run, { config }) => {
      const { repeats = 1 } = config;
      const counts = new Map<string, number>();
      const searching = run.requests.filter(({ stage }) => stage !== 'heldout');
      const own = searching.filter(({ stage }) => repeats === 1 || (stage !== 'evaluation' && stage !== 'baseline'));
      for (const { candidate, seed } of own) {
        counts.set(`${candidate} ${seed}`, (counts.get(`${candidate} ${seed}`) ?? 0) + 1);
      }
      const twice = [...counts].filter(([, count]) => count > 1);
      for (const [key] of twice) expect(key).toMatch(/^0 /);
      const extra = sum(twice.map(([, count]) => count - 1));
      expect(extra).toBeLessThanOrEqual(repeats === 1 ? 4 : 0);
      const again = run.requests.filter(({ stage, generation }) => stage === 'minibatch' && generation > 1);
      expect(again.filter(({ candidate, seed }) => counts.get(`${candidate} ${seed}`)! > 1)).toEqual([]);
    },
    steadyCases,
  );

  check(
    'asks no more than estimated',
    (run, { config }) => {
      expect(run.requests.length).toBeLessThanOrEqual(estimateRollouts(config));
    },
    steadyCases,
  );

  check('takes parents only from those accepted before', (run, { config }) => {
    const accepted = new Map([[0, 0]]);
    let last = 0;
    for (const { work, decisions } of run.turns) {
      for (const request of work.kind === 'proposals' ? work.requests : []) {
        const { candidate, parent, merge, generation, ordinals } = request;
        expect(candidate).toBe(++last);
        for (const one of merge ?? [parent]) expect(accepted.has(one)).toBe(true);
        if (!merge) {
          expect(ordinals.length).toBeGreaterThan(0);
          continue;
        }
        expect(config.merge).not.toBe(false);
        expect(merge.length).toBeGreaterThan(1);
        expect(merge.map((one) => accepted.get(one))).toEqual(merge.map(() => generation));
      }
      for (const one of decisions) if (one.type === 'candidate_accepted') accepted.set(one.candidate, one.generation);
    }
    for (const { candidate, parents } of of(run, 'candidate_proposed')) {
      for (const parent of parents) {
        expect(accepted.has(parent)).toBe(true);
        expect(parent).toBeLessThan(candidate);
      }
    }
    const running = run.requests.filter(({ stage }) => stage === 'minibatch');
    for (const { candidate } of running) expect(accepted.has(candidate)).toBe(true);
  });

  check('offers reflection failures of the parent, or of those it comes from, on train seeds', (run, { config }) => {
    const parentsOf = new Map(gepa.view(run.state).candidates.map((one) => [one.candidate, one.parents]));
    const line = (one: number): number[] => [one, ...(parentsOf.get(one) ?? []).flatMap(line)];
    for (const { parent, ordinals, merge } of run.proposals) {
      if (merge) continue;
      const lineage = line(parent);
      const shown = ordinals.map((ordinal) => run.requests[ordinal]!);
      for (const { candidate, seed } of shown) {
        expect(lineage).toContain(candidate);
        expect(config.trainSeeds).toContain(seed);
      }
      expect(new Set(shown.map(({ seed }) => seed)).size).toBe(shown.length);
    }
  });

  check(
    'without noise shows failures only, and accepts for a gain alone',
    (run) => {
      const measured = measuredIn(run).filter(({ stage }) => stage !== 'heldout');
      const rewardOf = new Map(measured.map((one) => [one.ordinal, one.reward]));
      for (const { ordinals } of run.proposals) {
        for (const ordinal of ordinals) expect(rewardOf.get(ordinal)).toBeLessThan(1);
      }
      const parentsOf = new Map(of(run, 'candidate_proposed').map((one) => [one.candidate, one.parents]));
      type Known = { reward: number; age: number } | null;
      const known = (candidate: number, seed: number, upTo: number): Known => {
        const own = measured.find((one) => one.candidate === candidate && one.seed === seed && one.ordinal < upTo);
        return own ? { reward: own.reward, age: 0 } : inherited(candidate, seed, upTo);
      };
      const inherited = (candidate: number, seed: number, upTo: number): Known => {
        const all = (parentsOf.get(candidate) ?? [])
          .map((parent) => known(parent, seed, upTo))
          .filter((one) => one !== null);
        const [best] = all.sort((left, right) => left.age - right.age || right.reward - left.reward);
        return best ? { ...best, age: best.age + 1 } : null;
      };
      for (const { decisions, after } of run.turns) {
        for (const one of decisions) {
          if (one.type !== 'candidate_accepted' && one.type !== 'candidate_rejected') continue;
          if (one.type === 'candidate_rejected' && one.reason === 'budget') continue;
          // What the generation's end asks for comes after the verdict and is not answered yet.
          const upTo = after.answered;
          const own = measured.filter(({ candidate, ordinal }) => candidate === one.candidate && ordinal < upTo);
          const pairs = own.flatMap(({ seed, reward }) => {
            const expected = inherited(one.candidate, seed, upTo);
            return expected ? [{ reward, expected: expected.reward }] : [];
          });
          expect(one.childSum).toBeCloseTo(sum(pairs.map(({ reward }) => reward)), 9);
          expect(one.parentSum).toBeCloseTo(sum(pairs.map(({ expected }) => expected)), 9);
          const gain = one.childSum - one.parentSum;
          const isMerge = parentsOf.get(one.candidate)!.length > 1;
          if (one.type === 'candidate_accepted') expect(gain).toBeGreaterThan(isMerge ? -1e-6 : 1e-10);
          else expect(gain).toBeLessThan(1e-6);
        }
      }
    },
    steadyCases,
  );

  check('accepts only for a gain, and gives each candidate one verdict', (run) => {
    const born = of(run, 'candidate_proposed').map(({ candidate }) => candidate);
    expect(new Set(born).size).toBe(born.length);
    const accepted = of(run, 'candidate_accepted');
    const merged = new Set(run.proposals.flatMap(({ merge, candidate }) => (merge ? [candidate] : [])));
    for (const { candidate, childSum, parentSum } of accepted) {
      if (!merged.has(candidate)) expect(childSum).toBeGreaterThan(parentSum);
    }
    const rejected = of(run, 'candidate_rejected');
    const verdicts = [...accepted, ...rejected].map(({ candidate }) => candidate).sort((left, right) => left - right);
    expect(verdicts).toEqual(born);
    const view = gepa.view(run.state);
    expect(view.candidates.map(({ candidate }) => candidate)).toEqual([0, ...born]);
    const out = view.candidates.filter(({ status }) => status === 'rejected').map(({ candidate }) => candidate);
    expect(out).toEqual(rejected.map(({ candidate }) => candidate).sort((left, right) => left - right));
  });

  check('runs held-out seeds in the end, on baseline and winner alone', (run, { config, infrastructure }) => {
    const { heldoutSeeds = [], repeats = 1 } = config;
    const held = run.requests.filter(({ seed }) => heldoutSeeds.includes(seed));
    expect(held).toEqual(run.requests.filter(({ stage }) => stage === 'heldout'));
    const verdict = gepa.view(run.state).verdict;
    const winner = run.state.best!.candidate;
    if (run.end.kind !== 'done' || winner === 0) {
      expect(held).toEqual([]);
      // A baseline that won is no better than itself.
      expect(verdict?.verdict ?? null).toBe(run.end.kind === 'done' ? 'not_significantly_better' : null);
      return;
    }
    expect(verdict!.basis).toBe(heldoutSeeds.length > 0 ? 'heldout' : 'evaluation');
    if (heldoutSeeds.length === 0) {
      // Where rewards are noisy, seeds that were run again since count by what they had last.
      if (differ(measuredIn(run))) return;
      expect(verdict!.winner).toBeCloseTo(run.state.best!.reward, 9);
      expect(verdict!.baseline).toBeCloseTo(run.state.history[0]!, 9);
      return;
    }
    expect(held).toEqual(run.requests.slice(-held.length));
    if (infrastructure === 0) expect(held).toHaveLength(heldoutRollouts(config));
    const measured = measuredIn(run).filter(({ stage }) => stage === 'heldout');
    for (const [candidate, reward] of [
      [0, verdict!.baseline],
      [winner, verdict!.winner],
    ] as const) {
      const own = measured.filter((one) => one.candidate === candidate);
      for (const seed of heldoutSeeds) expect(own.filter((one) => one.seed === seed)).toHaveLength(repeats);
      expect(reward).toBeCloseTo(mean(own.map((one) => one.reward))!, 9);
    }
  });
});

test('a search over a frozen beginning does not write to its config', () => {
  const given = frozen(defaults({ trainSeeds: [1, 2, 3], evaluationSeeds: [1, 2] }));
  expect(() => createGepa(given)).not.toThrow();
});
