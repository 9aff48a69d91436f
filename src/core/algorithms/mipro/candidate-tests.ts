/**
 * The tests of new instructions and combinations, before an evaluation: first on failures of the
 * leader, for an instruction those that it was written from; then, if the candidate gains, on seeds
 * that the leader solves. With noise, leader and candidate repeat the failures for up to
 * `maxRounds`.
 * Invariants: a candidate is accepted only with a measured gain; a merge must only not lose, as its
 * parts have shown their gains.
 */
import { isSolved, solvedReward, sum } from '../../math/rewards.js';
import { sampleOf } from '../../math/statistics.js';
import { pairsOf, type Pair } from '../../search/batch.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { knownFailures } from '../../search/failure-pool.js';
import type { Decision } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { PhaseOf } from '../../search/state.js';
import { comparedSeeds, maxRounds, solvedSeeds, sumsOf, type TestSums } from '../../search/targeted-test.js';
import { reject, rejectedIn } from '../../search/candidates.js';
import { spareRollouts } from './budget.js';
import { failuresShown, regressionSeeds, trialLimit, trialSize } from './config.js';
import { estimateOf } from './estimate.js';
import { expectedReward } from './expected-reward.js';
import { isRace, leaderPairs, mixedSeeds, racersOf, raceSeeds } from './races.js';
import type { MiproState, Tests, Trial } from './state.js';
import { nextMinibatch } from './trials.js';

interface Verdict extends TestSums {
  accepted: boolean;
  tested: number;
  /** The standard error of the gain, by how much the gains on seeds differ. */
  spread: number;
}

/** The shown failures, and others if fewer: good examples teach what these do not ask for. */
function filled(shown: readonly number[], failures: readonly number[]): number[] {
  return [...new Set([...shown, ...failures])].slice(0, Math.max(shown.length, failuresShown));
}

/**
 * The tests with the pairs of their first round, as many as the budget allows. Without a failure
 * to run, a candidate runs on a minibatch of the evaluation seeds.
 */
export function openTests(before: MiproState, planned: Tests) {
  const { trials: wanted, ...tests } = planned;
  const minibatch = nextMinibatch(before);
  // A racer's rollout shows nothing on a seed that the leader did not run.
  const compared = isRace(planned) ? leaderPairs(before, tests.parent, wanted[0]!.shown) : [];
  let left = Math.max(0, spareRollouts(before) - compared.length);
  const trials: Trial[] = [];
  const room = trialLimit(before.config) - before.trials;
  const failures = knownFailures(before, rewardModelOf(before), tests.parent).map(({ seed }) => seed);
  for (const trial of wanted.slice(0, Math.max(0, room))) {
    const chosen = tests.step === 'instructions' ? filled(trial.shown, failures) : trial.shown;
    const shown = (chosen.length > 0 ? chosen : minibatch).slice(0, left);
    if (shown.length === 0) continue;
    left -= shown.length;
    trials.push({ ...trial, shown });
  }
  const usesMinibatch = failures.length === 0;
  const state: MiproState = {
    ...before,
    trials: before.trials + trials.length,
    evaluationOffset: before.evaluationOffset + (usesMinibatch ? minibatch.length : 0),
  };
  const pairs = trials.flatMap(({ candidate, shown }) => pairsOf(candidate, shown));
  return { state, tests: { ...tests, trials }, pairs: trials.length > 0 ? [...compared, ...pairs] : [] };
}

/** The candidates that passed their tests. */
export function acceptedOf({ candidates }: MiproState, trials: readonly Trial[]): number[] {
  const rejected = rejectedIn(candidates);
  return trials.flatMap(({ candidate }) => (rejected.has(candidate) ? [] : [candidate]));
}

/** The test of a merge: a seed that each of its parents gained. */
export function mergeTrials(state: MiproState, merges: readonly Trial[]): Trial[] {
  const model = rewardModelOf(state);
  return merges.map((trial) => {
    const { parents } = state.candidates.find(({ candidate }) => candidate === trial.candidate)!;
    const gained = parents.flatMap((parent) => {
      const own = Object.keys(state.results[parent] ?? {}).map(Number);
      const seed = own.find((seed) => {
        return model.posterior(parent, seed)!.mean > (model.prior(parent, seed)?.mean ?? Infinity) + 1e-9;
      });
      return seed === undefined ? [] : [seed];
    });
    return { ...trial, shown: [...new Set(gained)] };
  });
}

/** Continues the tests of a round, or records their verdicts; `open`: the pairs that follow. */
export function judgeTests(
  before: MiproState,
  { tests, trying }: PhaseOf<MiproState, 'gate'> & { tests: Tests },
  decisions: Decision[],
): { state: MiproState; tests: Tests; pairs: Pair[]; open: number[] } {
  const { generation } = before;
  const model = rewardModelOf(before);
  const pairs: Pair[] = [];
  const open: number[] = [];
  const trials = tests.trials.map((trial) =>
    trying.includes(trial.candidate) ? { ...trial, rounds: trial.rounds + 1 } : trial,
  );
  const judged = trials
    .filter(({ candidate }) => trying.includes(candidate))
    .map((trial) => ({ trial, verdict: verdictOf(before, model, tests, trial) }));
  const racers = judged.map(({ trial, verdict }) => ({ candidate: trial.candidate, gain: verdict.gain }));
  let left = spareRollouts(before);
  const promising = isRace(tests) ? racersOf(racers, left) : trying;
  // A race ends between its last candidate and the leader.
  const goesOn = isRace(tests) && promising.length > 1;
  const seeds = goesOn ? raceSeeds(before, model, tests.parent, promising) : [];
  pairs.push(...leaderPairs(before, tests.parent, seeds));
  left -= pairs.length;
  let state = before;
  for (const { trial, verdict } of judged) {
    const { candidate } = trial;
    const isPromising = promising.includes(candidate);
    const further = () =>
      seeds.length > 0 ? pairsOf(candidate, seeds) : furtherPairs(before, model, tests, trial, verdict);
    const ask = isPromising ? further() : [];
    if (ask.length > 0 && ask.length <= left) {
      left -= ask.length;
      pairs.push(...ask);
      open.push(candidate);
      continue;
    }
    const { accepted, expectedSum: parentSum, childSum, tested } = verdict;
    const sums = { parentSum, childSum, tested };
    // Without rollouts for the next round, a gain on failures alone shows little.
    const isUnclear = ask.length > 0 && tests.step === 'combinations';
    if (accepted && isPromising && !isUnclear) {
      state = { ...state, acceptedAt: { ...state.acceptedAt, [candidate]: before.asked } };
      const estimate = estimateOf(before, model, candidate).mean;
      decisions.push({ type: 'candidate_accepted', candidate, generation, ...sums, estimate });
      continue;
    }
    state = reject(state, { candidate, generation, reason: 'not_better', ...sums }, decisions);
  }
  return { state, tests: { ...tests, trials }, pairs, open };
}

function verdictOf(state: MiproState, model: RewardModel, { parent, step }: Tests, { candidate }: Trial): Verdict {
  const isMerge = step === 'merge';
  const expectedOn = isMerge ? undefined : (seed: number) => model.posterior(parent, seed);
  const compared = comparedSeeds(state, model, candidate, expectedOn);
  const sums = sumsOf(compared, model);
  // Failures and the others were chosen apart.
  const spread = sum(
    [true, false].map((isSolvedSeed) => {
      const gains = compared.flatMap(({ own, expected }) =>
        isSolved(expected.mean) === isSolvedSeed ? [own - expected.mean] : [],
      );
      return gains.length * sampleOf(gains).variance;
    }),
  );
  const accepted = isMerge ? sums.isKept : sums.isGain;
  return { ...sums, accepted, tested: compared.length, spread: Math.sqrt(spread) };
}

/**
 * The second round of a combination that gained: so that it ran on failures of the leader about as
 * often as the leader fails.
 */
function secondRound(state: MiproState, model: RewardModel, leader: number, { candidate, shown }: Trial): number[] {
  const missing = 1 - expectedReward(state, model, leader) / solvedReward;
  const wanted = Math.round((failuresShown + regressionSeeds) * missing) - shown.length;
  const count = Math.min(regressionSeeds - 1, Math.max(0, wanted));
  const unshown = failuresOf(state, model, leader).filter((seed) => !shown.includes(seed));
  const failures = unshown.slice(0, count);
  const solved = solvedSeeds(state, model, leader, candidate).filter((seed) => !failures.includes(seed));
  return [...failures, ...solved.slice(0, regressionSeeds - count)];
}

/** The leader's failures, its own results before inherited ones. */
export function failuresOf(state: MiproState, model: RewardModel, leader: number): number[] {
  return knownFailures(state, model, leader)
    .sort((left, right) => left.age - right.age)
    .map(({ seed }) => seed);
}

/** Standard errors of a clear gain. */
const clearGain = 1.5;

/** The rollouts of the next round; empty: the verdict stands. */
function furtherPairs(
  state: MiproState,
  model: RewardModel,
  tests: Tests,
  trial: Trial,
  { accepted, gain, slack, spread }: Verdict,
): Pair[] {
  const { candidate, shown, removed, rounds } = trial;
  if (tests.step === 'merge' || gain <= slack) return [];
  const isNoisy = model.noise.variance > 0;
  if (tests.step === 'combinations') {
    const second = rounds === 1 ? secondRound(state, model, tests.parent, trial) : [];
    const isClear = gain >= clearGain * spread;
    const seeds = second.length > 0 || isClear ? second : mixedSeeds(state, model, tests.parent, candidate);
    if (seeds.length > 0) return pairsOf(candidate, seeds);
  }
  if (rounds === 1 && tests.step === 'instructions') {
    // Without noise a later run of the leader shows any loss, so additions need no further test.
    const count = removed === 0 && !isNoisy ? 0 : Math.min(regressionSeeds, trialSize(state.config));
    const seeds = solvedSeeds(state, model, tests.parent, candidate).slice(0, count);
    if (seeds.length > 0) return pairsOf(candidate, seeds);
  }
  if (accepted || !isNoisy || rounds >= maxRounds) return [];
  return shown.flatMap((seed): Pair[] => [
    [tests.parent, seed],
    [candidate, seed],
  ]);
}
