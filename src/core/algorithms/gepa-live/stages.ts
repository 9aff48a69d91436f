/**
 * What follows when a stage is answered in full, but for the test of children (`gate.ts`).
 *
 * Invariant: an accepted child becomes the incumbent in any case, whatever its evaluation is, because its test saw both at
 * the same time and the evaluation does not.
 */
import { sampleOf } from '../../math/statistics.js';
import type { Decision, ProposalAnswer } from '../../search/protocol.js';
import { recordProposals } from '../../proposals/proposer-failures.js';
import {
  changeCandidate,
  newCandidates,
  reportFailedProposals,
  type PlannedProposal,
} from '../../search/search-step.js';
import { beginTest } from './acceptance.js';
import { endGeneration, seek } from './generation.js';
import { addFailures, countShown, maxKept, type Answered } from './failure-pool.js';
import type { PhaseOf, UnpairedState } from './state.js';

/** The baseline is evaluated. */
export function afterBaseline(
  state: UnpairedState,
  answered: readonly Answered[],
  decisions: Decision[],
): UnpairedState {
  const after = evaluated(state, 0, answered, decisions);
  return endGeneration({ ...after, baseline: after.incumbent!.sample }, decisions);
}

/** The incumbent was looked at for failures. */
export function afterMinibatch(
  state: UnpairedState,
  { sought }: PhaseOf<'minibatch'>,
  answered: readonly Answered[],
  decisions: Decision[],
): UnpairedState {
  const failures = addFailures(state.failures, answered, maxKept);
  return seek({ ...state, failures }, sought, decisions);
}

/** What the proposals of a generation are asked for. */
export function wantedOf(incumbent: number, { wanted, offered }: PhaseOf<'proposals'>): PlannedProposal[] {
  const ordinals = offered.map((ordinal) => ({ ordinal }));
  return wanted.map((candidate) => ({ candidate, parents: [incumbent], offered: ordinals }));
}

/** New texts go to their test; `answers` are in the order asked. */
export function afterProposals(
  before: UnpairedState,
  wanted: readonly PlannedProposal[],
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): UnpairedState {
  const { generation } = before;
  const proposed = wanted.filter((_, index) => answers[index]!.outcome === 'proposed');
  const born = newCandidates(proposed, generation, decisions);
  reportFailedProposals(answers, generation, decisions);
  const { record, failure } = recordProposals(before.proposer, answers);
  const state = {
    ...before,
    candidates: [...before.candidates, ...born],
    failures: countShown(before.failures, new Set(answers.flatMap(({ shown }) => shown ?? []))),
    proposer: record,
  };
  if (failure !== null) return { ...state, phase: { name: 'failed', code: 'proposer_failed', message: failure } };
  if (proposed.length === 0) return endGeneration(state, decisions);
  return beginTest(
    state,
    proposed.map(({ candidate }) => candidate),
    decisions,
  );
}

/** The accepted child is evaluated: it is the incumbent from now on. */
export function afterEvaluation(
  before: UnpairedState,
  { candidate, failures }: PhaseOf<'evaluation'>,
  answered: readonly Answered[],
  decisions: Decision[],
): UnpairedState {
  return endGeneration(evaluated({ ...before, failures }, candidate, answered, decisions), decisions);
}

/** Baseline and winner have run side by side, and all is done. */
export function afterHeldout(
  state: UnpairedState,
  { stoppedBy }: PhaseOf<'heldout'>,
  answered: readonly Answered[],
): UnpairedState {
  const of = (wanted: number) =>
    sampleOf(answered.filter(({ candidate }) => candidate === wanted).map(({ reward }) => reward));
  const heldout = { baseline: of(0), winner: of(state.incumbent!.candidate) };
  return { ...state, heldout, phase: { name: 'done', stoppedBy } };
}

function evaluated(
  state: UnpairedState,
  candidate: number,
  answered: readonly Answered[],
  decisions: Decision[],
): UnpairedState {
  const { generation } = state;
  const sample = sampleOf(answered.map(({ reward }) => reward));
  const { mean: reward, count: seedsEvaluated } = sample;
  decisions.push({ type: 'candidate_evaluated', candidate, generation, reward, seedsEvaluated });
  return {
    ...state,
    candidates: changeCandidate(state.candidates, candidate, { status: 'evaluated', reward }),
    incumbent: { candidate, sample },
    bestReward: Math.max(state.bestReward ?? reward, reward),
    failures: addFailures(state.failures, answered, maxKept),
  };
}
