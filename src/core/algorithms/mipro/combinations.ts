/** The combinations of instructions and demonstrations that a generation tests. */
import { rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import { knownFailures } from '../../search/failure-pool.js';
import { affordableTrials } from './budget.js';
import type { CandidateSummary } from '../../search/protocol.js';
import { failuresShown, maxLater, miproLimits, trialsAtOnce } from './config.js';
import { expectedReward, leaderOf } from './expected-reward.js';
import { knownCombinations, parentsOf } from './space.js';
import type { MiproState, NewCombination, Trial } from './state.js';
import { failuresOf } from './tests.js';
import { suggest } from './tpe.js';

/**
 * Combinations to test: the leader's instructions with sets that were never tried, then the
 * sampler's choices among the most promising instructions and the latest sets.
 */
export function chooseCombinations(before: MiproState): { state: MiproState; combinations: NewCombination[] } {
  const model = rewardModelOf(before);
  const leader = leaderOf(before, model);
  const room = miproLimits.candidates - before.nextCandidate;
  const count = Math.min(affordableTrials(before), wantedCombinations(before), room);
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
  for (const choices of untriedSets(before, leader, live)) add(choices);
  const known = knownCombinations(before).flatMap(({ candidate, choices }) => {
    const mapped = choices.map((choice, index) => live[index]!.indexOf(choice));
    const isLive = before.results[candidate] !== undefined && mapped.every((choice) => choice >= 0);
    return isLive ? [{ choices: mapped, value: expectedReward(before, model, candidate) }] : [];
  });
  const pending = combinations.map(({ choices }) => choices.map((choice, index) => live[index]!.indexOf(choice)));
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
/** The share of gains before any test, by two tests: feedback usually teaches more. */
const priorGains = { instructions: 1.5, demos: 0.5, tests: 2 } as const;

/** The combinations of an open-ended generation: by how often other demos gained of late. */
export function combinationShare(state: MiproState): number {
  const { candidates, generation, instructions, results } = state;
  const isInstruction = new Set(instructions.flat());
  const rateOf = (prior: number, counts: (summary: CandidateSummary) => boolean) => {
    const tested = candidates.filter((summary) => {
      const isRecent = summary.candidate > 0 && summary.generation >= generation - recentGenerations;
      return isRecent && results[summary.candidate] !== undefined && counts(summary);
    });
    const gains = tested.filter(({ status }) => status !== 'rejected').length;
    return (gains + prior) / (tested.length + priorGains.tests);
  };
  const written = rateOf(priorGains.instructions, ({ candidate }) => isInstruction.has(candidate));
  const shown = rateOf(
    priorGains.demos,
    (summary) => !isInstruction.has(summary.candidate) && hasOtherDemos(state, summary),
  );
  return Math.min(maxLater, Math.max(1, Math.round((testsAtOnce * shown) / (shown + written))));
}

/** Whether a combination has its parent's texts. */
function hasOtherDemos({ choices, components }: MiproState, { candidate, parents }: CandidateSummary): boolean {
  const own = choices[candidate]!;
  return components.every((_, index) => own[index] === choices[parents[0]!]![index]);
}

/** By their share; with `numTrials`, as many as a generation has left. */
function wantedCombinations(state: MiproState): number {
  const { config, candidates, generation } = state;
  if (config.numTrials === null) return combinationShare(state);
  const tested = candidates.filter((summary) => summary.generation === generation).length;
  return Math.max(1, trialsAtOnce - tested);
}

/** The tests of combinations: first on a few failures of the leader. */
export function combinationTrials(state: MiproState, candidates: readonly number[]): Trial[] {
  const model = rewardModelOf(state);
  const shown = failuresOf(state, model, leaderOf(state, model)).slice(0, failuresShown);
  return candidates.map((candidate) => ({ candidate, shown, removed: 0, rounds: 0 }));
}

/**
 * The leader's choices with a set of demonstrations that no candidate has: the latest of the later
 * generations first, then the first ones, the most covering first.
 */
function untriedSets(state: MiproState, leader: number, live: readonly (readonly number[])[]): number[][] {
  const own = state.choices[leader]!;
  const all = knownCombinations(state);
  return state.slots.flatMap((_, slot) => {
    const index = state.components.length + slot;
    const tried = new Set(all.map(({ choices }) => choices[index]!));
    const untried = live[index]!.filter((choice) => !tried.has(choice));
    const isFirst = (choice: number) => choice < Math.max(2, state.config.numCandidates);
    const ordered = [...untried.filter((choice) => !isFirst(choice)).reverse(), ...untried.filter(isFirst)];
    return ordered.map((choice) => own.map((before, at) => (at === index ? choice : before)));
  });
}

/** By dimension, the choices that the sampler sees: `numCandidates`, and the leader's own. */
function liveChoices(state: MiproState, model: RewardModel, leader: number): number[][] {
  const { instructions, demoSets, choices, candidates, config } = state;
  const rejected = new Set(candidates.filter(({ status }) => status === 'rejected').map(({ candidate }) => candidate));
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
