/**
 * What follows when a stage of a generation is answered in full: each function decides and opens the next stage. The loop is
 * GEPA's (arXiv 2507.19457, algorithm 1) but for what costs it its rollouts: a child is not evaluated when it is accepted, it
 * takes a targeted test (`gate.ts`); the parent is the candidate with the best estimate over everything it or its ancestors
 * were run on; reflection sees failures that are paid for; what several accepted children of a generation changed is
 * combined; and the full evaluation is spent on the most promising candidate alone, at long intervals and at the end.
 *
 * Invariants: a candidate counts as the best only with its full evaluation, so `history` never falls; decisions come in the
 * order of the candidates' numbers.
 */
import { exceeds, largestReward, mean } from '../../math/rewards.js';
import type { Decision, ProposalAnswer, StoppedBy } from '../../search/protocol.js';
import { openBatch, type Batch, type Pair } from '../../search/batch.js';
import { RewardModel } from '../../search/reward-model.js';
import { isCheaper } from '../../search/costs.js';
import { canSpareEvaluation, rolloutsPerProposal } from './budget.js';
import { remainingRollouts, searchRollouts } from '../../search/budget.js';
import { gepaLimits, maxRegressionSeeds } from './config.js';
import { evaluationRollouts, heldoutRollouts, minibatchOf } from '../../search/config.js';
import { evaluationPairs, heldoutMeans, heldoutPairs } from '../../search/evaluation.js';
import { forecast } from './forecast.js';
import { gainedOn, decideAcceptance, decideFromKnownResults } from './acceptance.js';
import { countShown, knownFailures, unevaluatedSeeds } from '../../search/failure-pool.js';
import { recordProposals } from '../../proposals/proposer-failures.js';
import { measuredOn, type Results } from '../../search/results.js';
import type { GepaState, Phase, PhaseOf, Trial } from './state.js';
import { changeCandidate, newCandidates, reportFailedProposals } from '../../search/search-step.js';

/** Equal rollouts with which the noise is looked for before the first proposal. */
const probes = 4;
/** Rollouts between two evaluations on the way, in full evaluations. */
const evaluationInterval = 6;
/** The most failures that reflections of a generation choose from. */
const maxOffered = 60;
/** Rollouts of evaluations on the way, in all: their rewards are the largest part of the state. */
const maxEvaluationRollouts = 15_000;
/** The most candidates that are kept as possible parents. */
const poolSize = 24;

/** The last beliefs that were read from some results: a turn asks for the same ones many times. Not part of any state. */
const lastRead = new WeakMap<Results, { candidates: GepaState['candidates']; beliefs: RewardModel }>();

export function rewardModelOf({ results, candidates }: GepaState): RewardModel {
  const last = lastRead.get(results);
  if (last && haveSameLineage(last.candidates, candidates)) return last.beliefs;
  const parents = new Map(candidates.map((one) => [one.candidate, one.parents]));
  const model = new RewardModel(results, (candidate) => parents.get(candidate) ?? noParents);
  lastRead.set(results, { candidates, beliefs: model });
  return model;
}

function haveSameLineage(left: GepaState['candidates'], right: GepaState['candidates']): boolean {
  return (
    left.length === right.length &&
    left.every(({ candidate, parents }, index) => {
      return right[index]!.candidate === candidate && right[index]!.parents === parents;
    })
  );
}

const noParents: readonly number[] = [];

/** The baseline's evaluation is the first of the history; then each generation from its beginning. */
export function afterBaseline(state: GepaState, decisions: Decision[]): GepaState {
  return endGeneration(evaluated(state, 0, decisions), decisions);
}

/** Parents were run on seeds of which too little was known. */
export function afterMinibatch(state: GepaState, { batch }: PhaseOf<'minibatch'>, decisions: Decision[]): GepaState {
  const model = rewardModelOf(state);
  const incumbent = incumbentOf(state, model);
  const fresh = knownFailures(state, model, incumbent).some(({ shown }) => shown === 0);
  // A parent that solved all that it was run on is looked for failures further, twice as far each time.
  const more = fresh
    ? []
    : unevaluatedSeeds(state, model, incumbent).slice(0, Math.min(2 * batch.pairs.length, spareRollouts(state)));
  if (more.length === 0) return reflect(state, decisions);
  return ask(
    state,
    more.map((seed): Pair => [incumbent, seed]),
    (next) => ({ name: 'minibatch', batch: next }),
  );
}

/** New texts go to the gate; proposals that came to nothing end here, at no further cost. */
export function afterProposals(
  before: GepaState,
  { trials }: PhaseOf<'proposals'>,
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): GepaState {
  const { generation } = before;
  const isMerge = trials.every((trial) => trial.parents.length > 1);
  const wanted = trials.map((trial, index) => answered(trial, answers[index]!));
  const proposed = wanted.filter((_, index) => answers[index]!.outcome === 'proposed');
  const shown = wanted.flatMap((trial) => trial.offered.filter(({ seed }) => trial.shown.includes(seed)));
  const born = newCandidates(proposed, generation, decisions);
  if (!isMerge) reportFailedProposals(answers, generation, decisions);
  const state = {
    ...before,
    candidates: [...before.candidates, ...born],
    timesShown: isMerge ? before.timesShown : countShown(before.timesShown, shown),
  };
  if (isMerge) {
    if (proposed.length === 0) return endGeneration(state, decisions);
  } else {
    const { record, failure } = recordProposals(before.proposer, answers);
    state.proposer = record;
    if (failure !== null) return { ...state, phase: { name: 'failed', code: 'proposer_failed', message: failure } };
    if (proposed.length === 0) return endGeneration(state, decisions);
  }
  const pairs = proposed.flatMap(({ candidate, shown: seeds }) => seeds.map((seed): Pair => [candidate, seed]));
  const affordable = pairs.slice(0, Math.max(0, searchRollouts(state)));
  const tried = proposed.filter(({ candidate }) => affordable.some(([one]) => one === candidate));
  if (tried.length === 0) return endGeneration(state, decisions);
  return ask(state, affordable, (batch) => ({
    name: 'gate',
    batch,
    trials: tried,
    open: tried.map(({ candidate }) => candidate),
  }));
}

function answered(trial: Trial, { shown, removed, parents }: ProposalAnswer): Trial {
  const seedOf = new Map(trial.offered.map(({ ordinal, seed }) => [ordinal, seed]));
  const seeds = shown === undefined ? trial.shown : shown.map((ordinal) => seedOf.get(ordinal)!);
  return { ...trial, shown: [...new Set(seeds)], removed: removed ?? [], parents: parents ?? trial.parents };
}

/** Each child goes on with its test or has its verdict; accepted ones may be parents from now on. */
export function afterGate(before: GepaState, phase: PhaseOf<'gate'>, decisions: Decision[]): GepaState {
  const { generation } = before;
  const trials = phase.trials.map((trial) =>
    phase.open.includes(trial.candidate) ? { ...trial, rounds: trial.rounds + 1 } : trial,
  );
  const model = rewardModelOf(before);
  const pairs: Pair[] = [];
  const open: number[] = [];
  let state = before;
  let left = Math.max(0, searchRollouts(before));
  for (const trial of trials) {
    if (!phase.open.includes(trial.candidate)) continue;
    const { candidate } = trial;
    const step = decideAcceptance(before, model, trial);
    if ('ask' in step && step.ask.length <= left) {
      left -= step.ask.length;
      pairs.push(...step.ask);
      open.push(candidate);
      continue;
    }
    const verdict = 'ask' in step ? decideFromKnownResults(before, model, trial) : step;
    const { accepted, cheaper, expectedSum: parentSum, childSum } = verdict;
    if (accepted) {
      const estimate = forecast(state, model, candidate).mean;
      const reason = cheaper && ({ reason: 'cheaper' } as const);
      decisions.push({ type: 'candidate_accepted', candidate, generation, parentSum, childSum, estimate, ...reason });
      state = { ...state, pool: [...state.pool, candidate] };
      continue;
    }
    const reason = 'ask' in step ? 'budget' : 'not_better';
    decisions.push({ type: 'candidate_rejected', candidate, generation, reason, parentSum, childSum });
    state = { ...state, candidates: changeCandidate(state.candidates, candidate, { status: 'rejected' }) };
  }
  if (open.length > 0) return ask(state, pairs, (batch) => ({ name: 'gate', batch, trials, open }));
  return combine(state, trials, decisions);
}

/** Combines what the accepted children of one parent changed; without two of them the generation ends. */
function combine(state: GepaState, trials: readonly Trial[], decisions: Decision[]): GepaState {
  const model = rewardModelOf(state);
  const gains = ({ candidate, shown: seeds }: Trial) => seeds.filter((seed) => gainedOn(state, model, candidate, seed));
  // One that is cheaper and gains nothing has nothing to bring in.
  const accepted = trials.filter((trial) => {
    return state.pool.includes(trial.candidate) && (!state.costs || gains(trial).length > 0);
  });
  const isMerge = trials.some(({ parents }) => parents.length > 1);
  const full = state.nextCandidate >= gepaLimits.candidates;
  if (isMerge || accepted.length < 2 || full || !state.config.merge) return endGeneration(state, decisions);
  const shown = accepted.flatMap((trial) => gains(trial).slice(0, 1));
  const trial: Trial = {
    candidate: state.nextCandidate,
    parents: accepted.map(({ candidate }) => candidate),
    offered: [],
    shown: [...new Set(shown)],
    removed: [],
    rounds: 0,
  };
  if (trial.shown.length > searchRollouts(state)) return endGeneration(state, decisions);
  return { ...state, nextCandidate: state.nextCandidate + 1, phase: { name: 'proposals', trials: [trial] } };
}

/** A candidate has all its evaluation seeds. */
export function afterEvaluation(
  state: GepaState,
  { candidate }: PhaseOf<'evaluation'>,
  decisions: Decision[],
): GepaState {
  return endGeneration(evaluated(state, candidate, decisions), decisions);
}

/** Baseline and winner have run on what was held out, and all is done. */
export function afterHeldout(
  state: GepaState,
  { stoppedBy }: PhaseOf<'heldout'>,
  rewards: readonly number[],
): GepaState {
  const heldout = heldoutMeans(state.config, rewards);
  return { ...state, heldout, phase: { name: 'done', stoppedBy } };
}

function evaluated(state: GepaState, candidate: number, decisions: Decision[]): GepaState {
  const { generation, best, config } = state;
  const rewards = config.evaluationSeeds.flatMap((seed) =>
    measuredOn(state.results, candidate, seed)
      .slice(-config.repeats)
      .map(([, reward]) => reward),
  );
  const reward = mean(rewards)!;
  const seedsEvaluated = config.evaluationSeeds.length;
  decisions.push({ type: 'candidate_evaluated', candidate, generation, reward, seedsEvaluated });
  return {
    ...state,
    candidates: changeCandidate(state.candidates, candidate, { status: 'evaluated', reward }),
    evaluatedAt: state.asked,
    best: best === null || isBetter(state, { candidate, reward }, best) ? { candidate, reward } : best,
  };
}

/** The candidate with the best estimate on the train seeds; of equals the cheaper, then the earliest. */
export function incumbentOf(state: GepaState, model: RewardModel): number {
  let best = { candidate: 0, reward: model.mean(0, state.order)?.mean ?? -largestReward };
  for (const candidate of state.pool) {
    const one = { candidate, reward: model.mean(candidate, state.order)?.mean ?? -largestReward };
    if (isBetter(state, one, best)) best = one;
  }
  return best.candidate;
}

type Rated = NonNullable<GepaState['best']>;

/** More reward, or as much for less. */
function isBetter({ costs }: GepaState, one: Rated, than: Rated): boolean {
  if (exceeds(one.reward, than.reward)) return true;
  return !exceeds(than.reward, one.reward) && isCheaper(costs, one.candidate, than.candidate);
}

/** The generation is over unless the most promising candidate is to be evaluated first. */
function endGeneration(before: GepaState, decisions: Decision[]): GepaState {
  const state = trimPool(before);
  const model = rewardModelOf(state);
  const incumbent = incumbentOf(state, model);
  const stop = whyStop(state, model, incumbent);
  const isMeasured = state.candidates.some(({ candidate, reward }) => candidate === incumbent && reward !== null);
  const { targetReward } = state.config;
  const promising = targetReward !== null && forecast(state, model, incumbent).mean >= targetReward;
  const inFull = evaluationRollouts(state.config);
  const due = state.asked - state.evaluatedAt >= evaluationInterval * inFull;
  const isRoom = inFull * state.candidates.filter(({ reward }) => reward !== null).length < maxEvaluationRollouts;
  const isSpare = canSpareEvaluation(state) || (due && searchRollouts(state) >= inFull);
  const isWanted = stop !== null || (isRoom && (promising || isSpare));
  if (!isMeasured && isWanted) {
    const missing = missingOf(state, model, incumbent);
    if (missing.length === 0) return endGeneration(evaluated(state, incumbent, decisions), decisions);
    // An evaluation may show that another candidate is the most promising one: what is reserved pays for one of them.
    if (missing.length <= remainingRollouts(state) - heldoutRollouts(state.config)) {
      return ask(state, missing, (batch) => ({ name: 'evaluation', batch, candidate: incumbent }));
    }
  }
  return finishGeneration(state, stop, decisions);
}

/** What is missing of a candidate's evaluation. Where rewards are noisy what was measured in its test does not count. */
function missingOf(state: GepaState, model: RewardModel, candidate: number): Pair[] {
  const { config } = state;
  const pairs = evaluationPairs(config, candidate, config.evaluationSeeds);
  if (model.noise.variance > 0 || config.repeats > 1) return pairs;
  return pairs.filter(([, seed]) => measuredOn(state.results, candidate, seed).length === 0);
}

function finishGeneration(before: GepaState, stop: StoppedBy | null, decisions: Decision[]): GepaState {
  const { generation, config } = before;
  const { candidate, reward } = before.best!;
  decisions.push({ type: 'generation_complete', generation, bestReward: reward, bestCandidate: candidate });
  const isQuiet = !before.candidates.some(
    (one) => one.generation === generation && before.pool.includes(one.candidate),
  );
  const state = { ...before, history: [...before.history, reward], quiet: isQuiet ? before.quiet + 1 : 0 };
  const { patience, targetReward } = config;
  if (targetReward !== null && reward >= targetReward) return finish(state, 'target_reward');
  if (stop !== null) return finish(state, stop);
  if (patience !== null && state.quiet >= patience) return finish(state, 'patience');
  return beginGeneration({ ...state, generation: generation + 1 }, decisions);
}

/** Why no further generation follows, or null. */
function whyStop(state: GepaState, model: RewardModel, incumbent: number): StoppedBy | null {
  const full = state.nextCandidate >= gepaLimits.candidates;
  if (state.generation >= state.config.generations || full) return 'generations';
  if (searchRollouts(state) < 2 * minibatchOf(state.config)) return 'max_rollouts';
  const nothing =
    knownFailures(state, model, incumbent).length === 0 && unevaluatedSeeds(state, model, incumbent).length === 0;
  return nothing ? 'solved' : null;
}

function finish(state: GepaState, stoppedBy: StoppedBy): GepaState {
  const pairs = heldoutPairs(state, state.best!.candidate);
  if (pairs.length === 0) return { ...state, phase: { name: 'done', stoppedBy } };
  return ask(state, pairs, (batch) => ({ name: 'heldout', batch, stoppedBy }));
}

/** Runs the parent on further seeds where too few of its failures are known, else reflects on what there is. */
function beginGeneration(state: GepaState, decisions: Decision[]): GepaState {
  const { config } = state;
  const model = rewardModelOf(state);
  const incumbent = incumbentOf(state, model);
  const size = minibatchOf(config);
  const fresh = knownFailures(state, model, incumbent).filter(({ shown }) => shown === 0).length;
  const spare = spareRollouts(state);
  const isFirst = state.generation === 1;
  // Where rollouts are scarce one new failure is enough to go on with; where proposals are, each is to have its own.
  const each = Math.min(size, rolloutsPerProposal(state) - size - maxRegressionSeeds(config));
  const wanted = Math.max(isFirst ? size : 1, Math.floor(each * config.populationSize));
  const unseen = unevaluatedSeeds(state, model, incumbent);
  const more = unseen.slice(0, Math.min(Math.max(0, wanted - fresh), spare));
  const again = isFirst && config.repeats === 1 ? probeSeeds(state, model, more).slice(0, spare - more.length) : [];
  const pairs = [...more, ...again].map((seed): Pair => [incumbent, seed]);
  if (pairs.length === 0) return reflect(state, decisions);
  return ask(state, pairs, (batch) => ({ name: 'minibatch', batch }));
}

/** What may be spent on running a parent on further seeds. */
function spareRollouts(state: GepaState): number {
  const beyondOne = searchRollouts(state) - minibatchOf(state.config);
  // One rollout of the parent is always worth a child: without it the least budget buys no proposal.
  return Math.max(Math.min(1, beyondOne), Math.floor(beyondOne / 2), 0);
}

/** Where equal rollouts are to show the noise: on seeds that are run anyway. */
function probeSeeds(state: GepaState, model: RewardModel, running: readonly number[]): number[] {
  const known = state.order.filter((seed) => running.includes(seed) || model.posterior(0, seed) !== null);
  return Array.from({ length: probes }, (_, index) => known[index % known.length]!);
}

/** Opens a proposal for each of the generation's places, from failures that are known. */
function reflect(state: GepaState, decisions: Decision[]): GepaState {
  const { config } = state;
  const model = rewardModelOf(state);
  const size = minibatchOf(config);
  const affordable = Math.floor(searchRollouts(state) / size);
  const incumbent = incumbentOf(state, model);
  const failures = knownFailures(state, model, incumbent).slice(
    0,
    Math.min(4 * size * config.populationSize, maxOffered),
  );
  const indexes = Math.min(
    config.populationSize,
    affordable,
    failures.length,
    gepaLimits.candidates - state.nextCandidate,
  );
  if (indexes <= 0) return endGeneration(state, decisions);
  const offered = failures.map(({ ordinal, seed }) => ({ ordinal, seed }));
  const trials = Array.from({ length: indexes }, (_, index): Trial => {
    const candidate = state.nextCandidate + index;
    return { candidate, parents: [incumbent], offered, shown: [], removed: [], rounds: 0 };
  });
  return { ...state, nextCandidate: state.nextCandidate + indexes, phase: { name: 'proposals', trials } };
}

function trimPool(state: GepaState): GepaState {
  if (state.pool.length <= poolSize) return state;
  const model = rewardModelOf(state);
  const promise = new Map(
    state.pool.map((candidate) => [candidate, model.mean(candidate, state.order)?.mean ?? -Infinity]),
  );
  const kept = new Set(
    [...state.pool].sort((left, right) => promise.get(right)! - promise.get(left)! || left - right).slice(0, poolSize),
  );
  return { ...state, pool: state.pool.filter((candidate) => kept.has(candidate) || candidate === 0) };
}

function ask(state: GepaState, pairs: Pair[], toPhase: (batch: Batch) => Phase): GepaState {
  return { ...state, asked: state.asked + pairs.length, phase: toPhase(openBatch(pairs, state.asked)) };
}
