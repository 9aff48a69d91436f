/**
 * The sequential test of a generation's children. In each round all undecided children and the
 * incumbent, their common control, have the same number of calls. The first accepted child ends the
 * test (of several, the greatest mean gain wins): the others were compared with a former incumbent.
 * Invariant: a child that is no better than the incumbent is accepted with a probability of at most
 * `errorRates.accept`, for any number of rounds; the probabilities of several children add up.
 */
import { groupBy } from '../../../util/group.js';
import { sum } from '../../math/rewards.js';
import { addPairs, judgeTest, openTest, type RewardPair, type TestVerdict } from '../../math/sequential-test.js';
import { evaluationRollouts } from '../../search/config.js';
import type { Decision } from '../../search/protocol.js';
import { measuredIn, openRound, type Measured } from '../../search/round.js';
import type { PhaseOf } from '../../search/state.js';
import { reject } from '../../search/candidates.js';
import { affordableChildren } from './budget.js';
import { addFailures, maxKept, maxOffered } from './failure-pool.js';
import { endGeneration } from './generation.js';
import type { Arm, UnpairedState } from './state.js';
import { maxTestPairs, repeatCandidate, roundSize, scheduleRounds } from './test-rounds.js';

export function beginTest(state: UnpairedState, children: readonly number[], decisions: Decision[]): UnpairedState {
  const deviation = Math.sqrt(state.incumbent!.sample.variance);
  const arms = children.map((candidate): Arm => ({ candidate, test: openTest(deviation), sum: 0, failures: [] }));
  return continueTest(state, arms, new Map(), 0, decisions);
}

export function afterTestRound(
  before: UnpairedState,
  phase: PhaseOf<UnpairedState, 'gate'>,
  decisions: Decision[],
): UnpairedState {
  const { config, incumbent } = before;
  const byCandidate = groupBy(measuredIn(phase), ({ candidate }) => candidate);
  const control = byCandidate.get(incumbent!.candidate)!;
  const controlSum = sum([phase.controlSum, ...control.map(({ reward }) => reward)]);
  const arms = phase.arms.map((arm) => addRound(arm, byCandidate.get(arm.candidate)!, control));
  const verdicts = new Map(arms.map(({ candidate, test }) => [candidate, judgeTest(test, maxTestPairs(config))]));
  const state = { ...before, failures: addFailures(before.failures, control, maxKept) };
  return continueTest(state, arms, verdicts, controlSum, decisions);
}

/** Records the verdicts, then evaluates the winner or runs a further round of the undecided. */
function continueTest(
  before: UnpairedState,
  arms: readonly Arm[],
  verdicts: ReadonlyMap<number, TestVerdict>,
  controlSum: number,
  decisions: Decision[],
): UnpairedState {
  const { config, generation } = before;
  const verdictOf = ({ candidate }: Arm) => verdicts.get(candidate) ?? null;
  const [winner] = byGain(arms.filter((arm) => verdictOf(arm) === 'better'));
  const undecided = arms.filter((arm) => verdictOf(arm) === null);
  const open = winner === undefined ? affordable(before, undecided) : [];
  let state = before;
  for (const arm of arms) {
    const { candidate, test, sum: childSum } = arm;
    const sums = { parentSum: controlSum, childSum, tested: test.pairs };
    if (arm === winner) {
      decisions.push({ type: 'candidate_accepted', candidate, generation, ...sums, estimate: childSum / test.pairs });
    } else if (!open.includes(arm)) {
      const verdict = verdictOf(arm);
      const undecidedReason = winner === undefined ? 'budget' : 'overtaken';
      const reason = verdict === 'worse' || verdict === 'not_better' ? verdict : undecidedReason;
      state = reject(state, { candidate, generation, reason, ...sums }, decisions);
    }
  }
  if (winner !== undefined) {
    const { candidate, failures } = winner;
    const evaluation = repeatCandidate(candidate, evaluationRollouts(config));
    return openRound(state, { evaluation }, (round) => ({ ...round, name: 'evaluation', candidate, failures }));
  }
  if (open.length === 0) return endGeneration(state, decisions);
  const running = [...open.map(({ candidate }) => candidate), state.incumbent!.candidate];
  const size = roundSize(config, open.length, open[0]!.test.pairs);
  const [gate, rng] = scheduleRounds(state.rng, running, size);
  return openRound({ ...state, rng }, { gate }, (round) => ({ ...round, name: 'gate', arms: open, controlSum }));
}

function addRound(arm: Arm, own: readonly Measured[], control: readonly Measured[]): Arm {
  const pairs = own.map(({ reward }, index): RewardPair => [reward, control[index]!.reward]);
  return {
    candidate: arm.candidate,
    test: addPairs(arm.test, pairs),
    sum: sum([arm.sum, ...own.map(({ reward }) => reward)]),
    failures: addFailures(arm.failures, own, maxOffered),
  };
}

/** By descending mean gain (equally many rewards, the same control); ties keep order. */
function byGain(arms: readonly Arm[]): Arm[] {
  return [...arms].sort((left, right) => right.sum - left.sum);
}

/** The most promising open children whose next round the budget allows, by ascending number. */
function affordable(state: UnpairedState, open: readonly Arm[]): Arm[] {
  const count = affordableChildren(state, open.length, open[0]?.test.pairs ?? 0);
  const kept = new Set(byGain(open).slice(0, count));
  return open.filter((arm) => kept.has(arm));
}
