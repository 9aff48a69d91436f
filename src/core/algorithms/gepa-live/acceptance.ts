/**
 * The test of a generation's children: waves in which each child that has no verdict yet, and the incumbent as the control
 * of all, have the same number of calls; after each wave every child is judged by the sequential test. The first that is
 * accepted ends the test for all: the others were tried against what is no longer the incumbent, and what they would still
 * cost is better spent on children of the new one. Of several accepted in one wave the one with the greatest mean gain wins.
 *
 * Invariant: a child that is no better than the incumbent is accepted with a chance of at most `errorRates.accept`, however
 * many waves there are; of several such children the chance that any is accepted is at most the sum.
 */
import { addPairs, judgeTest, openTest, type RewardPair, type TestVerdict } from '../../math/sequential-test.js';
import { sum } from '../../math/rewards.js';
import type { Decision } from '../../search/protocol.js';
import { evaluationRollouts } from '../../search/config.js';
import { changeCandidate } from '../../search/search-step.js';
import { affordableChildren } from './budget.js';
import { ask, endGeneration } from './generation.js';
import { addFailures, maxKept, maxOffered, type Answered } from './failure-pool.js';
import type { Arm, PhaseOf, UnpairedState } from './state.js';
import { horizonOf, inRounds, timesAlone, roundSize } from './test-rounds.js';

/** Opens the test of new children. */
export function beginTest(state: UnpairedState, children: readonly number[], decisions: Decision[]): UnpairedState {
  const deviation = Math.sqrt(state.incumbent!.sample.variance);
  const arms = children.map((candidate): Arm => ({ candidate, test: openTest(deviation), sum: 0, failures: [] }));
  return goOn(state, arms, new Map(), 0, decisions);
}

/** A wave is answered: each child goes on or has its verdict. */
export function afterGate(
  before: UnpairedState,
  phase: PhaseOf<'gate'>,
  answered: readonly Answered[],
  decisions: Decision[],
): UnpairedState {
  const { config, incumbent } = before;
  const byCandidate = new Map<number, Answered[]>();
  for (const one of answered) {
    const own = byCandidate.get(one.candidate);
    if (own) own.push(one);
    else byCandidate.set(one.candidate, [one]);
  }
  const of = (candidate: number) => byCandidate.get(candidate)!;
  const control = of(incumbent!.candidate);
  const controlSum = sum([phase.controlSum, ...control.map(({ reward }) => reward)]);
  const arms = phase.arms.map((arm) => addWave(arm, of(arm.candidate), control));
  const verdicts = new Map(arms.map(({ candidate, test }) => [candidate, judgeTest(test, horizonOf(config))]));
  const state = { ...before, failures: addFailures(before.failures, control, maxKept) };
  return goOn(state, arms, verdicts, controlSum, decisions);
}

/** Says what has become of each child, then evaluates the winner, or has another wave of those that are left. */
function goOn(
  before: UnpairedState,
  arms: readonly Arm[],
  verdicts: ReadonlyMap<number, TestVerdict>,
  controlSum: number,
  decisions: Decision[],
): UnpairedState {
  const { config, generation } = before;
  const verdictOf = ({ candidate }: Arm) => verdicts.get(candidate) ?? null;
  const winner = greatest(arms.filter((arm) => verdictOf(arm) === 'better'));
  const undecided = arms.filter((arm) => verdictOf(arm) === null);
  const open = winner === undefined ? affordable(before, undecided) : [];
  let { candidates } = before;
  for (const arm of arms) {
    const { candidate, test, sum: childSum } = arm;
    const sums = { parentSum: controlSum, childSum };
    if (arm === winner) {
      decisions.push({ type: 'candidate_accepted', candidate, generation, ...sums, estimate: childSum / test.pairs });
    } else if (!open.includes(arm)) {
      const verdict = verdictOf(arm);
      const lost = winner === undefined ? 'budget' : 'overtaken';
      const reason = verdict === 'worse' || verdict === 'not_better' ? verdict : lost;
      decisions.push({ type: 'candidate_rejected', candidate, generation, reason, ...sums });
      candidates = changeCandidate(candidates, candidate, { status: 'rejected' });
    }
  }
  const state = { ...before, candidates };
  if (winner !== undefined) {
    const { candidate, failures } = winner;
    const pairs = timesAlone(candidate, evaluationRollouts(config));
    return ask(state, pairs, (batch) => ({ name: 'evaluation', batch, candidate, failures }));
  }
  if (open.length === 0) return endGeneration(state, decisions);
  const running = [...open.map(({ candidate }) => candidate), state.incumbent!.candidate];
  const [pairs, rng] = inRounds(state.rng, running, roundSize(config, open.length, open[0]!.test.pairs));
  return ask({ ...state, rng }, pairs, (batch) => ({ name: 'gate', batch, arms: open, controlSum }));
}

function addWave(arm: Arm, own: readonly Answered[], control: readonly Answered[]): Arm {
  const pairs = own.map(({ reward }, index): RewardPair => [reward, control[index]!.reward]);
  return {
    candidate: arm.candidate,
    test: addPairs(arm.test, pairs),
    sum: sum([arm.sum, ...own.map(({ reward }) => reward)]),
    failures: addFailures(arm.failures, own, maxOffered),
  };
}

/** The one with the greatest mean gain: all have as many rewards, and one control. Of equals the earliest. */
function greatest(arms: readonly Arm[]): Arm | undefined {
  return [...arms].sort((left, right) => right.sum - left.sum)[0];
}

/** The open children that the budget has another wave for: the most promising ones, in the order of their numbers. */
function affordable(state: UnpairedState, open: readonly Arm[]): Arm[] {
  const indexes = affordableChildren(state, open.length, open[0]?.test.pairs ?? 0);
  const kept = new Set([...open].sort((left, right) => right.sum - left.sum).slice(0, indexes));
  return open.filter((arm) => kept.has(arm));
}
