/**
 * What follows when a stage of a generation is answered in full: each function takes the rewards in the order asked,
 * decides, and opens the next stage (GEPA, arXiv 2507.19457, algorithm 1, one function for each part of its loop).
 *
 * Invariants: a candidate joins the pool only with its full evaluation; the best only ever changes for a better one, so
 * `history` never falls; decisions come in the order of the candidates' numbers.
 */
import { addToFront } from '../../front.js';
import { exceeds, mean, sum } from '../../scores.js';
import type { CandidateSummary, Decision, ProposalAnswer } from '../../work.js';
import { gate } from './accept.js';
import { openBatch, type Batch, type Pair } from '../../search/batch.js';
import { affordableEvaluations, affordableSlots } from './budget.js';
import { gepaLimits } from '../config.js';
import { minibatchOf } from '../../search/config.js';
import { sharePairs } from './minibatch.js';
import { recordProposals } from '../../search/proposer.js';
import { sampleMinibatch } from './sample.js';
import { pickParent, removeDominated } from '../select.js';
import type { LockstepState, Phase, PhaseOf, Slot, Trial } from './state.js';

/** The baseline's rewards on all evaluation seeds make it the pool. */
export function afterBaseline(state: LockstepState, rewards: number[], decisions: Decision[]): LockstepState {
  return finishGeneration(enterPool(state, 0, rewards, decisions), decisions);
}

/** Each slot whose parent left something to improve becomes a trial with a candidate number. */
export function afterMinibatch(
  state: LockstepState,
  { slots }: PhaseOf<'minibatch'>,
  { ordinals, rewards }: { ordinals: number[]; rewards: number[] },
  decisions: Decision[],
): LockstepState {
  const perfect = state.config.perfectScore ?? 1;
  const { places } = sharePairs(slots);
  let nextCandidate = state.nextCandidate;
  const trials: Trial[] = [];
  for (const [index, slot] of slots.entries()) {
    const own = places[index]!;
    const scores = own.map((place) => rewards[place]!);
    if (scores.every((score) => score >= perfect)) continue;
    const shown = own.map((place) => ordinals[place]!);
    trials.push({ ...slot, candidate: nextCandidate++, parentSum: sum(scores), ordinals: shown });
  }
  if (trials.length === 0) return finishGeneration(state, decisions);
  return { ...state, nextCandidate, phase: { name: 'proposals', trials } };
}

/** Trials with a new text go to the gate; the others end here, at no further cost. */
export function afterProposals(
  before: LockstepState,
  { trials }: PhaseOf<'proposals'>,
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): LockstepState {
  const { generation } = before;
  const proposed = trials.filter((_, index) => answers[index]!.outcome === 'proposed');
  for (const { candidate, parent } of proposed) {
    decisions.push({ type: 'candidate_proposed', candidate, parents: [parent], generation });
  }
  for (const { candidate, outcome, reason } of answers) {
    if (outcome === 'proposed') continue;
    const why = outcome === 'duplicate' ? 'duplicate: the proposed text is that of a known candidate' : undefined;
    decisions.push({ type: 'proposal_failed', candidate, generation, reason: why ?? reason ?? 'no reason was given' });
  }
  const { record, failure } = recordProposals(before.proposer, answers);
  const born = proposed.map(({ candidate, parent }): CandidateSummary => {
    return { candidate, parents: [parent], generation, status: 'proposed', reward: null, rolloutCount: 0 };
  });
  const state = { ...before, proposer: record, candidates: [...before.candidates, ...born] };
  if (failure !== null) return { ...state, phase: { name: 'failed', code: 'proposer_failed', message: failure } };
  if (proposed.length === 0) return finishGeneration(state, decisions);
  const pairs = proposed.flatMap(({ candidate, seeds }) => seeds.map((seed): Pair => [candidate, seed]));
  return ask(state, pairs, (batch) => ({ name: 'gate', batch, trials: proposed }));
}

/** Children that beat their parents on the same minibatch go on to their evaluation, as far as the budget reaches. */
export function afterGate(
  state: LockstepState,
  { trials }: PhaseOf<'gate'>,
  rewards: number[],
  decisions: Decision[],
): LockstepState {
  const size = minibatchOf(state.config);
  const children = trials.map(({ candidate, parentSum }, index) => {
    return { candidate, parentSum, childSum: sum(rewards.slice(index * size, (index + 1) * size)) };
  });
  const verdicts = gate(children, affordableEvaluations(state));
  const rejected = children.filter(({ candidate }) => verdicts.get(candidate) !== null);
  for (const child of rejected) {
    const reason = verdicts.get(child.candidate)!;
    decisions.push({ type: 'candidate_rejected', generation: state.generation, reason, ...child });
  }
  const after = rejected.reduce((result, { candidate }) => change(result, candidate, { status: 'rejected' }), state);
  const accepted = children.filter((child) => !rejected.includes(child)).map(({ candidate }) => candidate);
  return evaluate(after, accepted, decisions);
}

/** The evaluated children join the pool; those waiting come next. */
export function afterEvaluation(
  state: LockstepState,
  { evaluating, waiting }: PhaseOf<'evaluation'>,
  rewards: number[],
  decisions: Decision[],
): LockstepState {
  const size = state.config.evaluationSeeds.length;
  const after = evaluating.reduce(
    (result, candidate, index) =>
      enterPool(result, candidate, rewards.slice(index * size, (index + 1) * size), decisions),
    state,
  );
  return evaluate(after, waiting, decisions);
}

/** Evaluates whole children, as many at once as one batch takes, before the generation ends. */
function evaluate(state: LockstepState, accepted: number[], decisions: Decision[]): LockstepState {
  if (accepted.length === 0) return finishGeneration(state, decisions);
  const { evaluationSeeds } = state.config;
  const together = Math.floor(gepaLimits.batchRollouts / evaluationSeeds.length);
  const evaluating = accepted.slice(0, together);
  const pairs = evaluating.flatMap((candidate) => evaluationSeeds.map((seed): Pair => [candidate, seed]));
  const waiting = accepted.slice(together);
  return ask(state, pairs, (batch) => ({ name: 'evaluation', batch, evaluating, waiting }));
}

function enterPool(state: LockstepState, candidate: number, rewards: number[], decisions: Decision[]): LockstepState {
  const reward = mean(rewards)!;
  const { generation, best } = state;
  decisions.push({ type: 'candidate_evaluated', candidate, generation, reward, seedsEvaluated: rewards.length });
  return {
    ...change(state, candidate, { status: 'evaluated', reward }),
    front: addToFront(state.front, candidate, rewards),
    best: best === null || exceeds(reward, best.reward) ? { candidate, reward } : best,
  };
}

function finishGeneration(before: LockstepState, decisions: Decision[]): LockstepState {
  const { generation, config } = before;
  const { candidate, reward } = before.best!;
  decisions.push({ type: 'generation_complete', generation, bestReward: reward, bestCandidate: candidate });
  const state = { ...before, history: [...before.history, reward] };
  if (generation === config.generations) return { ...state, phase: { name: 'done', stoppedBy: 'generations' } };
  return beginGeneration(state);
}

function beginGeneration(state: LockstepState): LockstepState {
  const count = affordableSlots(state);
  if (count === 0) return { ...state, phase: { name: 'done', stoppedBy: 'max_rollouts' } };
  const { config } = state;
  const rewards = new Map(state.candidates.map(({ candidate, reward }) => [candidate, reward]));
  const parents = removeDominated(state.front, (candidate) => rewards.get(candidate)!);
  const slots: Slot[] = [];
  let { parentRng, sampler } = state;
  for (let slot = 0; slot < count; slot++) {
    const [parent, nextRng] = pickParent(parentRng, parents);
    const [seeds, nextSampler] = sampleMinibatch(sampler, config.trainSeeds, minibatchOf(config));
    slots.push({ parent, seeds });
    parentRng = nextRng;
    sampler = nextSampler;
  }
  const begun = { ...state, generation: state.generation + 1, parentRng, sampler };
  return ask(begun, sharePairs(slots).pairs, (batch) => ({ name: 'minibatch', batch, slots }));
}

function ask(state: LockstepState, pairs: Pair[], toPhase: (batch: Batch) => Phase): LockstepState {
  return { ...state, asked: state.asked + pairs.length, phase: toPhase(openBatch(pairs, state.asked)) };
}

function change(state: LockstepState, candidate: number, changes: Partial<CandidateSummary>): LockstepState {
  const candidates = state.candidates.map((one) => (one.candidate === candidate ? { ...one, ...changes } : one));
  return { ...state, candidates };
}
