/**
 * The step after each complete phase, except the test of children (`acceptance.ts`).
 * Invariant: an accepted child becomes the incumbent whatever its evaluation is: its test compares
 * both over the same calls, the evaluation does not.
 */
import { sampleOf } from '../../math/statistics.js';
import { recordEvaluation } from '../../search/evaluation.js';
import { done } from '../../search/lifecycle.js';
import { addProposals } from '../../search/proposing.js';
import type { Decision } from '../../search/protocol.js';
import { measuredIn, type Measured, type RoundAnswers } from '../../search/round.js';
import type { PhaseOf, Round } from '../../search/state.js';
import { beginTest } from './acceptance.js';
import { addFailures, countShown, maxKept } from './failure-pool.js';
import { endGeneration, seekFailures } from './generation.js';
import type { UnpairedState } from './state.js';

export function afterBaseline(state: UnpairedState, round: Round, decisions: Decision[]): UnpairedState {
  const after = evaluated(state, 0, measuredIn(round), decisions);
  return endGeneration({ ...after, baseline: after.incumbent!.sample }, decisions);
}

export function afterMinibatch(
  state: UnpairedState,
  round: PhaseOf<UnpairedState, 'minibatch'>,
  decisions: Decision[],
): UnpairedState {
  const failures = addFailures(state.failures, measuredIn(round), maxKept);
  return seekFailures({ ...state, failures }, round.sought, decisions);
}

/** Tests the proposed children. */
export function afterProposals(
  before: UnpairedState,
  _: Round,
  decisions: Decision[],
  { proposals: answers }: RoundAnswers,
): UnpairedState {
  const parents = [before.incumbent!.candidate];
  const proposed = answers.flatMap(({ candidate, outcome }) =>
    outcome === 'proposed' ? [{ candidate, parents }] : [],
  );
  const shown = new Set(answers.flatMap((answer) => answer.shown ?? []));
  const state = {
    ...addProposals(before, proposed, answers, decisions),
    failures: countShown(before.failures, shown),
  };
  if (state.phase.name === 'failed') return state;
  if (proposed.length === 0) return endGeneration(state, decisions);
  const children = proposed.map(({ candidate }) => candidate);
  return beginTest(state, children, decisions);
}

export function afterEvaluation(
  before: UnpairedState,
  round: PhaseOf<UnpairedState, 'evaluation'>,
  decisions: Decision[],
): UnpairedState {
  const { candidate, failures } = round;
  return endGeneration(evaluated({ ...before, failures }, candidate, measuredIn(round), decisions), decisions);
}

export function afterHeldout(state: UnpairedState, round: PhaseOf<UnpairedState, 'heldout'>): UnpairedState {
  const measured = measuredIn(round);
  const sampleFor = (wanted: number) =>
    sampleOf(measured.filter(({ candidate }) => candidate === wanted).map(({ reward }) => reward));
  const heldout = { baseline: sampleFor(0), winner: sampleFor(state.incumbent!.candidate) };
  return done({ ...state, heldout }, round.stoppedBy);
}

function evaluated(
  before: UnpairedState,
  candidate: number,
  measured: readonly Measured[],
  decisions: Decision[],
): UnpairedState {
  const sample = sampleOf(measured.map(({ reward }) => reward));
  const { mean: reward } = sample;
  const state = recordEvaluation(before, { candidate, reward }, sample, decisions);
  return {
    ...state,
    incumbent: { candidate, sample },
    bestReward: Math.max(state.bestReward ?? reward, reward),
    failures: addFailures(state.failures, measured, maxKept),
  };
}
