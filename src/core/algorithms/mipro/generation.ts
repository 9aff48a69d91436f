/**
 * What follows when a stage is answered in full: each function decides and opens the next stage. The loop is MIPROv2's (arXiv
 * 2406.11695 and DSPy): demonstrations from rollouts that scored well, instructions written from them, then trials of
 * combinations on minibatches, chosen by TPE, the best of them evaluated after every five. What is other:
 * - a part of the instructions is written later, from failures of the most promising candidate so far, and becomes a choice of the
 *   space; so do demonstrations of what turned out to be hard;
 * - trials of a generation run at the same time, on the same seeds, which the sampler counts as bad ones (constant liar);
 * - what a trial is worth is the candidate's expected mean over all evaluation seeds, in which what is known of those that it
 *   was made from counts where it was not run itself (`../search/belief.ts`), not the mean of its minibatch;
 * - a candidate that does not promise more than the best is not evaluated, and no recorded reward is bought again.
 *
 * Invariants: a candidate counts as the best only with its full evaluation, so `history` never falls; decisions come in the
 * order of the candidates' numbers.
 */
import { addPairs, judgeTest, openTest, type RewardPair } from '../../math/sequential-test.js';
import { exceeds, isSolved, largestReward, mean, sum } from '../../math/rewards.js';
import { sampleOf } from '../../math/statistics.js';
import { openBatch, type Batch, type Pair } from '../../search/batch.js';
import type { RewardModel } from '../../search/reward-model.js';
import { remainingRollouts } from '../../search/budget.js';
import { heldoutRollouts } from '../../search/config.js';
import { evaluationPairs, heldoutMeans, heldoutPairs } from '../../search/evaluation.js';
import { knownFailures, unevaluatedSeeds } from '../../search/failure-pool.js';
import { measuredOn } from '../../search/results.js';
import { changeCandidate } from '../../search/search-step.js';
import type { Decision, StoppedBy, DemoAnswer } from '../../search/protocol.js';
import { rewardModelOf, expectedReward } from './reward-model.js';
import { affordableTrials, canSpare, rolloutsOfEvaluation, spareRollouts } from './budget.js';
import { bootstrapSeeds, generationsOf, mayHaveDemos, miproLimits, probes, trialSize, wantedGood } from './config.js';
import { addUsable, firstSets, goodRollouts, hardSet, demoCandidates } from './demos.js';
import type { MiproState, Phase, PhaseOf, NewCombination } from './state.js';
import { candidateOf, isAllRequested, knownCombinations, parentsOf, spaceOf } from './space.js';
import { suggest } from './tpe.js';
import { proposeInstructions } from './instructions.js';

/** Failures that a generation's instructions are to be written from; without as many the candidate is run on further train seeds. */
const enoughFailures = 3;

/** The baseline's evaluation is the first of the history; then each generation from its beginning. */
export function afterBaseline(state: MiproState, decisions: Decision[]): MiproState {
  return finishGeneration(evaluated(state, 0, decisions), null, decisions);
}

/** There is something to learn from, or it is looked for further, twice as far each time: then what of it can be shown? */
export function afterMinibatch(state: MiproState, { batch }: PhaseOf<'minibatch'>, decisions: Decision[]): MiproState {
  return state.generation === 1 ? bootstrap(state, 2 * batch.pairs.length, decisions) : askForDemos(state, decisions);
}

/** Runs the baseline on train seeds until enough of its rollouts scored well, within half of what the search may spend. */
function bootstrap(state: MiproState, size: number, decisions: Decision[]): MiproState {
  const { config, results } = state;
  const own = new Set(bootstrapSeeds(config));
  const unseen = [...own].filter((seed) => measuredOn(results, 0, seed).length === 0);
  const spent = own.size - unseen.length;
  const share = Math.floor((spareRollouts(state) + spent) / 2) - spent;
  const isEnough = goodRollouts(state).length >= wantedGood(config);
  // One trial is always worth more than another look.
  const room = spareRollouts(state) - trialSize(config);
  const more = isEnough ? [] : unseen.slice(0, Math.max(0, Math.min(size, share, room)));
  if (more.length === 0) return askForDemos(state, decisions);
  return ask(
    state,
    more.map((seed): Pair => [0, seed]),
    (batch) => ({ name: 'minibatch', batch }),
  );
}

/** The components and what can be shown are known: sets of demonstrations are made, then instructions are written. */
export function afterDemos(before: MiproState, { components, slots }: DemoAnswer, decisions: Decision[]): MiproState {
  const isFirst = before.components.length === 0;
  const first = mayHaveDemos(before.config) ? slots.map(({ component }) => component) : [];
  const named = isFirst ? first : before.slots;
  const usable = named.map((component, slot) => {
    const found = slots.find((one) => one.component === component);
    const known = before.usable[slot] ?? { bootstrapped: [], labeled: [] };
    if (!found) return known;
    // Nobody says which of several calls the right answer is of.
    return addUsable(known, named.length > 1 ? { ...found, labeled: [] } : found, before);
  });
  let state: MiproState = { ...before, slots: named, usable, searchedForDemos: before.asked };
  if (isFirst) {
    const choices = { 0: Array.from({ length: components.length + named.length }, () => 0) };
    state = {
      ...state,
      components,
      instructions: components.map(() => [0]),
      requested: components.map(() => 0),
      choices,
    };
    for (const own of usable) {
      const [sets, rng] = firstSets(own, state, state.rng);
      state = { ...state, demoSets: [...state.demoSets, sets], rng };
    }
  } else {
    const demoSets = state.demoSets.map((sets, slot) => {
      const hard = hardSet(usable[slot]!, sets, state);
      return hard ? [...sets, hard] : sets;
    });
    state = { ...state, demoSets };
  }
  return write(state, decisions);
}

/** Opens the writing of this generation's instructions; without any its trials begin. */
function write(state: MiproState, decisions: Decision[]): MiproState {
  return proposeInstructions(state) ?? choose(state, [], decisions);
}

/** Chooses the generation's trials: new instructions that were made from failures first, then what the sampler wants. */
export function choose(before: MiproState, first: readonly number[], decisions: Decision[]): MiproState {
  const model = rewardModelOf(before);
  const space = spaceOf(before);
  const known = knownCombinations(before)
    .filter(({ candidate }) => before.results[candidate] !== undefined)
    .map(({ candidate, choices }) => ({ choices, value: expectedReward(before, model, candidate) }));
  const leader = leaderOf(before, model);
  const count = affordableTrials(before);
  const trying = first.slice(0, count);
  const pending = trying.map((candidate) => before.choices[candidate]!);
  const wanted: NewCombination[] = [];
  let state = before;
  while (pending.length < count && state.nextCandidate < miproLimits.candidates) {
    const [choices, rng] = suggest(state.rng, space, known, pending);
    pending.push(choices);
    const candidate = candidateOf(state, choices);
    state = { ...state, rng };
    if (candidate !== undefined) {
      // Equal rollouts would say nothing new, and others of it are worth it only while it may be the best.
      const isOpen = isNoisy(state) || candidate === leader || state.results[candidate] === undefined;
      if (isOpen && !trying.includes(candidate)) trying.push(candidate);
      continue;
    }
    if (wanted.some((wish) => wish.choices.join() === choices.join())) continue;
    wanted.push({ candidate: state.nextCandidate, parents: parentsOf(state, choices), choices });
    trying.push(state.nextCandidate);
    state = { ...state, nextCandidate: state.nextCandidate + 1 };
  }
  state = { ...state, trials: state.trials + trying.length };
  if (wanted.length > 0) return { ...state, phase: { name: 'combinations', wanted, trying } };
  return runTrials(state, trying, decisions);
}

/**
 * Runs candidates side by side on the generation's minibatch, where they were not run yet, and beside them the one that promised most
 * before, from which the new ones mostly come: what they gain is what they score more than it.
 */
export function runTrials(before: MiproState, trying: readonly number[], decisions: Decision[]): MiproState {
  const { config, evaluationOrder } = before;
  const size = trialSize(config);
  const seeds = Array.from(
    { length: Math.min(size, evaluationOrder.length) },
    (_, index) => evaluationOrder[(before.evaluationOffset + index) % evaluationOrder.length]!,
  );
  const state = { ...before, evaluationOffset: before.evaluationOffset + seeds.length };
  const fresh = isNoisy(state);
  const pairsOf = (candidate: number) =>
    seeds
      .filter((seed) => fresh || measuredOn(state.results, candidate, seed).length === 0)
      .map((seed): Pair => [candidate, seed]);
  const pairs = trying.flatMap(pairsOf);
  const leader = leaderOf(state, rewardModelOf(state));
  const control = trying.length === 0 || trying.includes(leader) || state.traffic === 'unpaired' ? [] : pairsOf(leader);
  if (pairs.length + control.length <= spareRollouts(state)) pairs.push(...control);
  // Nobody is new: all were run there before, and decided then.
  if (pairs.length === 0) return endGeneration(state, 0, decisions);
  return ask(state, pairs, (batch) => ({ name: 'gate', batch, trying: [...trying] }));
}

/** The trials are answered: who promises more than the best is accepted, and the most promising one is evaluated. */
export function afterGate(before: MiproState, { trying, batch }: PhaseOf<'gate'>, decisions: Decision[]): MiproState {
  const { generation, best } = before;
  const first = Math.min(...batch.ordinals);
  const model = rewardModelOf(before);
  let state = before;
  for (const candidate of [...trying].sort((left, right) => left - right)) {
    const summary = state.candidates.find((one) => one.candidate === candidate)!;
    if (candidate === 0 || summary.status !== 'proposed' || !isFirstTrial(state, candidate, first)) continue;
    const { childSum, parentSum } = sumsOf(state, model, candidate, best!.candidate);
    const estimate = expectedReward(state, model, candidate);
    if (exceeds(estimate, best!.reward)) {
      decisions.push({ type: 'candidate_accepted', candidate, generation, parentSum, childSum, estimate });
      continue;
    }
    decisions.push({ type: 'candidate_rejected', candidate, generation, reason: 'not_better', parentSum, childSum });
    state = { ...state, candidates: changeCandidate(state.candidates, candidate, { status: 'rejected' }) };
  }
  return endGeneration(state, 0, decisions);
}

/** Whether a candidate was never run before the rollout `first`, with which the trials that are answered now began. */
function isFirstTrial({ results }: MiproState, candidate: number, first: number): boolean {
  return Object.values(results[candidate] ?? {}).every((measured) => measured.every(([ordinal]) => ordinal >= first));
}

/** What a candidate scored on the seeds of its trials, and what the best so far is believed to score there. */
function sumsOf(state: MiproState, model: RewardModel, candidate: number, best: number) {
  const seeds = state.evaluationOrder.filter((seed) => measuredOn(state.results, candidate, seed).length > 0);
  const on = (one: number) => sum(seeds.map((seed) => model.posterior(one, seed)?.mean ?? 0));
  return { childSum: on(candidate), parentSum: on(best) };
}

/** A candidate has all its evaluation seeds. */
export function afterEvaluation(
  before: MiproState,
  { candidate, batch }: PhaseOf<'evaluation'>,
  decisions: Decision[],
): MiproState {
  if (before.traffic === 'paired' || passes(before, batch, candidate)) {
    return endGeneration(evaluated(before, candidate, decisions), 1, decisions);
  }
  const { generation, best } = before;
  const sumOf = (wanted: number) =>
    sum(batch.pairs.flatMap(([one], index) => (one === wanted ? [batch.rewards[index]!] : [])));
  decisions.push({
    type: 'candidate_rejected',
    ...{ candidate, generation, reason: 'not_better', parentSum: sumOf(best!.candidate), childSum: sumOf(candidate) },
  });
  const candidates = changeCandidate(before.candidates, candidate, { status: 'rejected' });
  return endGeneration({ ...markEvaluated(before, candidate), candidates }, 1, decisions);
}

/** Whether live traffic shows that a candidate is better than the best so far, by the sequential test. */
function passes({ best }: MiproState, { pairs, rewards }: Batch, candidate: number): boolean {
  const of = (wanted: number) => pairs.flatMap(([one], index) => (one === wanted ? [rewards[index]!] : []));
  const own = of(candidate);
  const control = of(best!.candidate);
  let test = openTest(Math.sqrt(sampleOf(control).variance));
  for (const [index, reward] of own.entries()) {
    test = addPairs(test, [[reward, control[index]!] satisfies RewardPair]);
    if (judgeTest(test, own.length) === 'better') return true;
  }
  return false;
}

/** Baseline and winner have run on what was held out, and all is done. */
export function afterHeldout(
  state: MiproState,
  { stoppedBy }: PhaseOf<'heldout'>,
  rewards: readonly number[],
): MiproState {
  const heldout = heldoutMeans(state.config, rewards);
  return { ...state, heldout, phase: { name: 'done', stoppedBy } };
}

/** The evaluation of a candidate: its latest rollout on each seed until it was over, as many as rollouts are repeated. */
export function evaluationOf({ config, results, evaluatedAt }: MiproState, candidate: number): number[] {
  const over = evaluatedAt[candidate] ?? Infinity;
  return config.evaluationSeeds.flatMap((seed) =>
    measuredOn(results, candidate, seed)
      .filter(([ordinal]) => ordinal < over)
      .slice(-config.repeats)
      .map(([, reward]) => reward),
  );
}

function markEvaluated(state: MiproState, candidate: number): MiproState {
  return { ...state, evaluatedAt: { ...state.evaluatedAt, [candidate]: state.asked } };
}

function evaluated(before: MiproState, candidate: number, decisions: Decision[]): MiproState {
  const state = markEvaluated(before, candidate);
  const { generation, best, config, traffic } = state;
  const reward = mean(evaluationOf(state, candidate))!;
  const seedsEvaluated = config.evaluationSeeds.length;
  decisions.push({ type: 'candidate_evaluated', candidate, generation, reward, seedsEvaluated });
  // Of live traffic the test has decided: both ran at the same time, the best's own evaluation did not.
  const isBest = best === null || traffic === 'unpaired' || exceeds(reward, best.reward);
  return {
    ...state,
    candidates: changeCandidate(state.candidates, candidate, { status: 'evaluated', reward }),
    best: isBest ? { candidate, reward: best === null ? reward : Math.max(reward, best.reward) } : best,
    quiet: isBest ? 0 : state.quiet,
  };
}

/** Whether equal rollouts may answer otherwise: then what was measured in a trial does not count for an evaluation. */
function isNoisy(state: MiproState): boolean {
  return state.traffic === 'unpaired' || state.config.repeats > 1 || rewardModelOf(state).noise.variance > 0;
}

/** The candidate that promises most and is not evaluated, where it promises more than the best; of equals the earliest. */
function maxPromising(state: MiproState): number | null {
  const model = rewardModelOf(state);
  let found: { candidate: number; promise: number } | null = null;
  for (const { candidate } of knownCombinations(state)) {
    const summary = state.candidates.find((one) => one.candidate === candidate);
    if (!summary || summary.reward !== null || state.results[candidate] === undefined) continue;
    if (state.traffic === 'unpaired' && summary.status === 'rejected') continue;
    const promise = expectedReward(state, model, candidate);
    if (exceeds(promise, found?.promise ?? state.best!.reward)) found = { candidate, promise };
  }
  return found?.candidate ?? null;
}

/** The generation is over unless the most promising candidate is to be evaluated first; `evaluations`: how many it had. */
function endGeneration(state: MiproState, evaluations: number, decisions: Decision[]): MiproState {
  const stop = whyStop(state) ?? (isQuiet(state) ? 'patience' : null);
  const candidate = maxPromising(state);
  if (candidate !== null) {
    const missing = missingOf(state, candidate);
    const inAll = Object.keys(state.evaluatedAt).length;
    const isRoom = rolloutsOfEvaluation(state) * inAll < miproLimits.evaluationsOnTheWay;
    // One for each generation and one at the end: each more is a chance to win by luck.
    const mayFollow = state.traffic === 'paired' && isRoom && inAll <= state.generation;
    const isAffordable = missing.length === 0 || (isRoom && canSpare(state, missing.length));
    const wanted = evaluations === 0 ? stop !== null || isAffordable : stop !== null && mayFollow;
    if (wanted && missing.length === 0) return endGeneration(evaluated(state, candidate, decisions), 1, decisions);
    if (wanted && missing.length <= remainingRollouts(state) - heldoutRollouts(state.config)) {
      return ask(state, missing, (batch) => ({ name: 'evaluation', batch, candidate }));
    }
  }
  return finishGeneration(state, stop, decisions);
}

/** What is missing of a candidate's evaluation. Where rewards are noisy what was measured in its trials does not count. */
function missingOf(state: MiproState, candidate: number): Pair[] {
  const { config, best, results, traffic } = state;
  const own = evaluationPairs(config, candidate, config.evaluationSeeds);
  if (traffic === 'unpaired') return own.flatMap((pair): Pair[] => [pair, [best!.candidate, pair[1]]]);
  if (isNoisy(state)) return own;
  return own.filter(([, seed]) => measuredOn(results, candidate, seed).length === 0);
}

function finishGeneration(before: MiproState, stop: StoppedBy | null, decisions: Decision[]): MiproState {
  const { generation, config, history } = before;
  const { candidate, reward } = before.best!;
  decisions.push({ type: 'generation_complete', generation, bestReward: reward, bestCandidate: candidate });
  const state = { ...before, history: [...history, reward] };
  const { targetReward } = config;
  if (targetReward !== null && reward >= targetReward) return finish(state, 'target_reward');
  const stopped = stop ?? whyStop(state);
  if (stopped !== null) return finish(state, stopped);
  if (isQuiet(state)) return finish(state, 'patience');
  return beginGeneration({ ...state, generation: generation + 1, quiet: state.quiet + 1 }, decisions);
}

/** Whether as many generations as are waited for brought no new best. */
function isQuiet({ config: { patience }, quiet }: MiproState): boolean {
  return patience !== null && quiet >= patience;
}

/** Why no further generation follows but for want of progress, or null. */
function whyStop(state: MiproState): StoppedBy | null {
  const { config, best } = state;
  const full = state.nextCandidate >= miproLimits.candidates;
  if (state.trials >= config.numTrials || state.generation >= generationsOf(config) || full) return 'generations';
  if (affordableTrials(state) === 0) return 'max_rollouts';
  if (state.traffic === 'paired' && evaluationOf(state, best!.candidate).every(isSolved)) return 'solved';
  return isExhausted(state) ? 'generations' : null;
}

/** Whether nothing is left to try: every instruction was asked for, every combination has run, and nobody promises more than the best. */
function isExhausted(state: MiproState): boolean {
  if (state.generation === 0 || mayHaveDemos(state.config) || isNoisy(state) || !isAllRequested(state)) return false;
  const tried = knownCombinations(state).filter(({ candidate }) => state.results[candidate] !== undefined).length;
  const all = spaceOf(state).reduce((product, count) => product * count, 1);
  return tried >= all && maxPromising(state) === null;
}

function finish(state: MiproState, stoppedBy: StoppedBy): MiproState {
  const pairs = heldoutPairs(state, state.best!.candidate);
  if (pairs.length === 0) return { ...state, phase: { name: 'done', stoppedBy } };
  return ask(state, pairs, (batch) => ({ name: 'heldout', batch, stoppedBy }));
}

/** Runs the most promising candidate on train seeds where too little is known to learn from, else asks what there is. */
function beginGeneration(state: MiproState, decisions: Decision[]): MiproState {
  const { config } = state;
  const model = rewardModelOf(state);
  const isFirst = state.generation === 1;
  const from = isFirst ? 0 : leaderOf(state, model);
  const spare = Math.max(0, spareRollouts(state) - trialSize(config));
  const pairs = lookedAt(state, model, from, spare).map((seed): Pair => [from, seed]);
  if (isFirst && state.traffic === 'paired' && config.repeats === 1) {
    const known = [...config.evaluationSeeds.slice(0, probes).map((seed): Pair => [0, seed])];
    pairs.push(...known.slice(0, Math.max(0, spare - pairs.length)));
  }
  if (pairs.length === 0) return askForDemos(state, decisions);
  return ask(state, pairs, (batch) => ({ name: 'minibatch', batch }));
}

/** Train seeds on which a candidate is run to learn from; of those that its forebears never ran on in later generations. */
function lookedAt(state: MiproState, model: RewardModel, candidate: number, spare: number): number[] {
  const { config, generation, results } = state;
  if (generation === 1) {
    const seeds = bootstrapSeeds(config).filter((seed) => measuredOn(results, 0, seed).length === 0);
    return seeds.slice(0, Math.min(wantedGood(config), Math.floor(spare / 2)));
  }
  const fresh = knownFailures(state, model, candidate).filter(({ shown }) => shown === 0).length;
  if (isAllRequested(state) && !mayHaveDemos(config)) return [];
  const unseen = unevaluatedSeeds(state, model, candidate);
  const isUnseen = new Set(unseen);
  const unrun = state.order.filter((seed) => measuredOn(results, candidate, seed).length === 0);
  // What nobody has seen teaches most; without any, what others were run on.
  const wanted =
    unseen.length > 0 ? trialSize(config) : Math.max(enoughFailures - fresh, mayHaveDemos(config) ? enoughFailures : 0);
  return [...unseen, ...unrun.filter((seed) => !isUnseen.has(seed))].slice(0, Math.max(0, Math.min(wanted, spare)));
}

/** Asks what of the rollouts since the last survey can be shown. */
function askForDemos(state: MiproState, decisions: Decision[]): MiproState {
  const isFirst = state.components.length === 0;
  const ordinals = mayHaveDemos(state.config) ? demoCandidates(state) : [];
  if (!isFirst && ordinals.length === 0) return write(state, decisions);
  return { ...state, phase: { name: 'demos', ordinals } };
}

/** The candidate that promises most, evaluated or not; of equals the earliest. */
export function leaderOf(state: MiproState, model: RewardModel): number {
  let leader = { candidate: 0, promise: -largestReward };
  for (const { candidate } of knownCombinations(state)) {
    if (state.results[candidate] === undefined) continue;
    const promise = expectedReward(state, model, candidate);
    if (exceeds(promise, leader.promise)) leader = { candidate, promise };
  }
  return leader.candidate;
}

function ask(state: MiproState, pairs: Pair[], toPhase: (batch: Batch) => Phase): MiproState {
  return { ...state, asked: state.asked + pairs.length, phase: toPhase(openBatch(pairs, state.asked)) };
}
