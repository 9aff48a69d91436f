/** The combinations of instructions and demonstrations that a generation tests. */
import { groupBy } from '../../../util/group.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import { knownFailures } from '../../search/failure-pool.js';
import { rejectedIn } from '../../search/candidates.js';
import { affordableTrials, spareRollouts } from './budget.js';
import type { CandidateSummary } from '../../search/protocol.js';
import { failuresShown, maxLater, miproLimits, trialsAtOnce } from './config.js';
import { expectedReward, leaderOf } from './expected-reward.js';
import { knownCombinations, parentsOf } from './space.js';
import type { MiproState, NewCombination, Trial } from './state.js';
import { hasLabels, raceSeeds } from './races.js';
import { failuresOf } from './candidate-tests.js';
import { suggest } from './tpe.js';

/**
 * Combinations to test: the leader's instructions with sets that were never tried, then the
 * sampler's choices among the most promising instructions and the latest sets.
 */
export function chooseCombinations(before: MiproState): { state: MiproState; combinations: NewCombination[] } {
  const model = rewardModelOf(before);
  const leader = leaderOf(before, model);
  const room = miproLimits.candidates - before.nextCandidate;
  const isAffordable = affordableTrials(before) > 0;
  const count = isAffordable ? Math.min(wantedCombinations(before), room) : 0;
  const failures = knownFailures(before, model, leader);
  if (count <= 0 || failures.length === 0) return { state: before, combinations: [] };
  const live = liveChoices(before, model, leader);
  const space = live.map((choices) => choices.length);
  const isTaken = new Set(knownCombinations(before).map(({ choices }) => choices.join()));
  const own = before.choices[leader]!;
  let state = before;
  const combinations: NewCombination[] = [];
  const add = (choices: number[]) => {
    if (combinations.length >= count || isTaken.has(choices.join())) return;
    isTaken.add(choices.join());
    const hasOwnTexts = before.components.every((_, index) => choices[index] === own[index]);
    const parents = hasOwnTexts ? [leader] : parentsOf(state, choices);
    combinations.push({ candidate: state.nextCandidate, parents, choices });
    state = { ...state, nextCandidate: state.nextCandidate + 1 };
  };
  for (const choices of untriedSets(before, leader)) add(choices);
  const known = knownCombinations(before).flatMap(({ candidate, choices }) => {
    const mapped = choices.map((choice, index) => live[index]!.indexOf(choice));
    const isLive = before.results[candidate] !== undefined && mapped.every((choice) => choice >= 0);
    return isLive ? [{ choices: mapped, value: expectedReward(before, model, candidate) }] : [];
  });
  const pending = combinations
    .map(({ choices }) => choices.map((choice, index) => live[index]!.indexOf(choice)))
    .filter((mapped) => mapped.every((choice) => choice >= 0));
  for (let attempt = combinations.length; attempt < count; attempt++) {
    const [mapped, rng] = suggest(state.rng, space, known, pending);
    state = { ...state, rng };
    pending.push(mapped);
    add(mapped.map((choice, index) => live[index]![choice]!));
  }
  return { state, combinations };
}

/** Tests of an open-ended generation, and the generations whose tests count for their shares. */
const testsAtOnce = 1 + maxLater;
const recentGenerations = 3;
/** Gains before any test, of two: shared answers, such as labels, are learned from examples. */
const priorGains = { instructions: 1.5, demos: 0.5, labels: 1.5, tests: 2 } as const;
/** The most sets of a race, and its rollouts for each set: half of them go on after each round. */
const largestRace = 24;
const rolloutsOfRacer = 12;
/** Known results of the leader that a race is compared with. */
const seedsOfRace = 16;

/** The share of combinations in an open-ended generation: by how often they gained of late. */
export function combinationShare(state: MiproState): number {
  const { candidates, generation, instructions, results } = state;
  const isInstruction = new Set(instructions.flat());
  const tested = candidates.filter((summary) => {
    const isRecent = summary.candidate > 0 && summary.generation >= generation - recentGenerations;
    return isRecent && results[summary.candidate] !== undefined;
  });
  const rateOf = (prior: number, tests: readonly (readonly CandidateSummary[])[]) => {
    const gains = tests.filter((of) => of.some(({ status }) => status !== 'rejected')).length;
    return (gains + prior) / (tests.length + priorGains.tests);
  };
  const written = tested.filter(({ candidate }) => isInstruction.has(candidate));
  const shown = tested.filter((summary) => !isInstruction.has(summary.candidate) && hasOtherDemos(state, summary));
  // A race has one winner at most.
  const races = [...groupBy(shown, (summary) => summary.generation).values()];
  const rates = {
    demos: rateOf(hasLabels(state) ? priorGains.labels : priorGains.demos, races),
    instructions: rateOf(
      priorGains.instructions,
      written.map((summary) => [summary]),
    ),
  };
  const share = Math.round((testsAtOnce * rates.demos) / (rates.demos + rates.instructions));
  return Math.min(maxLater, Math.max(1, share));
}

/** The combinations of an open-ended generation: few, or with labels a race. */
export function raceSize(state: MiproState): number {
  const share = combinationShare(state);
  if (share === 1 || !hasLabels(state)) return share;
  const model = rewardModelOf(state);
  const leader = leaderOf(state, model);
  const known = state.order.filter((seed) => model.posterior(leader, seed) !== null).length;
  if (known < seedsOfRace) return share;
  return Math.max(share, Math.min(largestRace, Math.floor(spareRollouts(state) / rolloutsOfRacer)));
}

/** Whether a combination has its parent's texts. */
function hasOtherDemos({ choices, components }: MiproState, { candidate, parents }: CandidateSummary): boolean {
  const own = choices[candidate]!;
  return components.every((_, index) => own[index] === choices[parents[0]!]![index]);
}

/** By their share; with `numTrials`, as many as a generation has left. */
function wantedCombinations(state: MiproState): number {
  const { config, candidates, generation } = state;
  if (config.numTrials === null) return raceSize(state);
  const tested = candidates.filter((summary) => summary.generation === generation).length;
  return Math.max(1, trialsAtOnce - tested);
}

/** The tests of combinations: one on failures of the leader, a race on a mixture of seeds. */
export function combinationTrials(state: MiproState, candidates: readonly number[]): Trial[] {
  const model = rewardModelOf(state);
  const leader = leaderOf(state, model);
  const shown =
    candidates.length > 1
      ? raceSeeds(state, model, leader, candidates)
      : failuresOf(state, model, leader).slice(0, failuresShown);
  return candidates.map((candidate) => ({ candidate, shown, removed: 0, rounds: 0 }));
}

/**
 * The leader's choices with a set of demonstrations that no candidate has: the latest of the later
 * generations first, then the first ones, the most covering first.
 */
function untriedSets(state: MiproState, leader: number): number[][] {
  const own = state.choices[leader]!;
  const all = knownCombinations(state);
  return state.slots.flatMap((_, slot) => {
    const index = state.components.length + slot;
    const tried = new Set(all.map(({ choices }) => choices[index]!));
    const untried = [...state.demoSets[slot]!.keys()].filter((choice) => !tried.has(choice));
    const isFirst = (choice: number) => choice < Math.max(2, state.config.numCandidates);
    const ordered = [...untried.filter((choice) => !isFirst(choice)).reverse(), ...untried.filter(isFirst)];
    return ordered.map((choice) => own.map((before, at) => (at === index ? choice : before)));
  });
}

/** By dimension, the choices that the sampler sees: `numCandidates`, and the leader's own. */
function liveChoices(state: MiproState, model: RewardModel, leader: number): number[][] {
  const { instructions, demoSets, choices, candidates, config } = state;
  const rejected = rejectedIn(candidates);
  const own = choices[leader]!;
  const components = instructions.map((sources, component) => {
    const ranked = [...sources.keys()]
      .filter((choice) => !rejected.has(sources[choice]!) && state.results[sources[choice]!] !== undefined)
      .sort((left, right) => {
        const gain = expectedReward(state, model, sources[right]!) - expectedReward(state, model, sources[left]!);
        return gain || left - right;
      });
    return withOwn(ranked.slice(0, config.numCandidates), own[component]!);
  });
  const slots = demoSets.map((sets, slot) => {
    const latest = [...sets.keys()].slice(1).slice(-Math.max(1, config.numCandidates - 1));
    return withOwn([0, ...latest], own[instructions.length + slot]!);
  });
  return [...components, ...slots];
}

function withOwn(choices: readonly number[], own: number): number[] {
  return [...new Set([...choices, own])].sort((left, right) => left - right);
}
