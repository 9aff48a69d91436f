/** Which rollouts are shown as demonstrations, and in which sets. */
import { shuffle, uniformInt, type Rng } from '../../math/random.js';
import { exceeds, solvedReward } from '../../math/rewards.js';
import { readOwn, type Results } from '../../search/results.js';
import type { DemoSlot } from '../../search/protocol.js';
import type { DemoSet, MiproState } from './state.js';

/** How many rollouts are asked about at a time: good ones, and others whose right answer may be known. */
const maxAsked = { good: 100, other: 100 };
/** Rollouts that a description of the task is written from. */
const maxDescribed = 10;
/** How many of a slot are remembered, the latest. */
const maxUsable = 200;

/** A rollout that was paid for. */
export interface RewardedRollout {
  ordinal: number;
  candidate: number;
  seed: number;
  reward: number;
}

/** Each slot of a survey reads all rollouts several times. Not part of any state. */
const read = new WeakMap<Results, readonly RewardedRollout[]>();

/** All rollouts by ascending ordinal. */
export function rolloutsOf(results: Results): readonly RewardedRollout[] {
  let all = read.get(results);
  if (!all) read.set(results, (all = readRollouts(results)));
  return all;
}

function readRollouts(results: Results): RewardedRollout[] {
  const all: RewardedRollout[] = [];
  for (const [key, own] of Object.entries(results)) {
    const candidate = Number(key);
    for (const [seed, measured] of readOwn(own).seeds) {
      for (const [ordinal, reward] of measured) all.push({ ordinal, candidate, seed, reward });
    }
  }
  return all.sort((left, right) => left.ordinal - right.ordinal);
}

/** From which reward on a rollout scored well: four fifths of the way from the worst to the best; where all are equal, that of a solved seed. */
export function goodRewardThreshold(all: readonly RewardedRollout[]): number {
  let best = -Infinity;
  let worst = Infinity;
  for (const { reward } of all) {
    best = Math.max(best, reward);
    worst = Math.min(worst, reward);
  }
  return exceeds(best, worst) ? worst + 0.8 * (best - worst) : solvedReward;
}

/** Rollouts on train seeds that scored well, by ascending ordinal. */
export function goodRollouts({ results, config }: MiproState): RewardedRollout[] {
  const all = rolloutsOf(results);
  const limit = goodRewardThreshold(all) - 1e-9;
  const train = new Set(config.trainSeeds);
  return all.filter(({ reward, seed }) => reward >= limit && train.has(seed));
}

/** The rollouts to ask about: those on train seeds since the last survey that scored well, best first, then others. */
export function demoCandidates({ results, searchedForDemos, config }: MiproState): number[] {
  const all = rolloutsOf(results);
  const limit = goodRewardThreshold(all) - 1e-9;
  const train = new Set(config.trainSeeds);
  const isFresh = ({ ordinal, seed }: RewardedRollout) => ordinal >= searchedForDemos && train.has(seed);
  const fresh = all.filter(isFresh).sort((left, right) => right.reward - left.reward);
  const good = fresh.filter(({ reward }) => reward >= limit).slice(0, maxAsked.good);
  const others = config.maxLabeledDemos > 0 ? fresh.filter(({ reward }) => reward < limit) : [];
  return [...good, ...others.slice(0, maxAsked.other)].map(({ ordinal }) => ordinal);
}

/** Rollouts from which the task is described, before the first instruction is written; none later. */
export function toDescribe({ results, components, config }: MiproState): number[] {
  if (components.length > 0) return [];
  const train = new Set(config.trainSeeds);
  const shown = rolloutsOf(results).filter(({ seed }) => train.has(seed));
  return shown.slice(0, maxDescribed).map(({ ordinal }) => ordinal);
}

/** What can be shown in a slot, with what a survey has found; of a seed the earliest rollout. */
export function addUsable(before: DemoSet, { bootstrapped, labeled }: DemoSlot, state: MiproState): DemoSet {
  const all = rolloutsOf(state.results);
  const limit = goodRewardThreshold(all) - 1e-9;
  const byOrdinal = new Map(all.map((one) => [one.ordinal, one]));
  const distinct = (ordinals: readonly number[]) => {
    const seeds = new Set<number>();
    return ordinals.filter((ordinal) => {
      const seed = byOrdinal.get(ordinal)?.seed;
      if (seed === undefined || seeds.has(seed)) return false;
      seeds.add(seed);
      return true;
    });
  };
  const well = bootstrapped.filter((ordinal) => (byOrdinal.get(ordinal)?.reward ?? -Infinity) >= limit);
  return {
    bootstrapped: distinct([...before.bootstrapped, ...well]).slice(-maxUsable),
    labeled: distinct([...before.labeled, ...labeled]).slice(-maxUsable),
  };
}

/**
 * The first sets of a slot, after MIPROv2: none; the best; labelled ones alone; then random ones of random sizes. Fewer where
 * there is not enough to make different ones of.
 */
export function firstSets(usable: DemoSet, state: MiproState, start: Rng): [sets: DemoSet[], next: Rng] {
  const { maxBootstrappedDemos: maxGood, maxLabeledDemos: maxLabeled, numCandidates } = state.config;
  const seedOf = new Map(rolloutsOf(state.results).map(({ ordinal, seed }) => [ordinal, seed]));
  const sets: DemoSet[] = [{ bootstrapped: [], labeled: [] }];
  const known = new Set(sets.map(keyOf));
  let rng = start;
  const add = (set: DemoSet) => {
    const key = keyOf(set);
    if (known.has(key) || sets.length >= Math.max(2, numCandidates)) return;
    known.add(key);
    sets.push(set);
  };
  const filled = (good: number[], labeled: readonly number[]) => {
    const seeds = new Set(good.map((ordinal) => seedOf.get(ordinal)));
    const others = labeled.filter((ordinal) => !seeds.has(seedOf.get(ordinal)));
    return { bootstrapped: good, labeled: others.slice(0, Math.max(0, maxLabeled - good.length)) };
  };
  add(filled(usable.bootstrapped.slice(0, maxGood), usable.labeled));
  add({ bootstrapped: [], labeled: usable.labeled.slice(0, maxLabeled) });
  const most = Math.min(maxGood, usable.bootstrapped.length);
  for (let attempt = 0; attempt < 4 * numCandidates; attempt++) {
    const [good, afterGood] = shuffle(rng, usable.bootstrapped);
    const [labeled, afterLabeled] = shuffle(afterGood, usable.labeled);
    const [size, next] = uniformInt(afterLabeled, Math.max(1, most));
    rng = next;
    add(filled(good.slice(0, most === 0 ? 0 : size + 1), labeled));
  }
  return [sets, rng];
}

/**
 * A set of what is hardest: instances on which the candidates so far scored least, where one scored well or the right answer
 * is known. Null: it would be one that there is.
 */
export function hardSet(usable: DemoSet, sets: readonly DemoSet[], state: MiproState): DemoSet | null {
  const { maxBootstrappedDemos: maxGood, maxLabeledDemos: maxLabeled } = state.config;
  const all = rolloutsOf(state.results);
  const seedOf = new Map(all.map(({ ordinal, seed }) => [ordinal, seed]));
  const rewards = new Map<number, { sum: number; count: number }>();
  for (const { seed, reward } of all) {
    const { sum, count } = rewards.get(seed) ?? { sum: 0, count: 0 };
    rewards.set(seed, { sum: sum + reward, count: count + 1 });
  }
  const ease = (ordinal: number) => {
    const { sum, count } = rewards.get(seedOf.get(ordinal)!) ?? { sum: 0, count: 1 };
    return sum / count;
  };
  const hardest = (ordinals: readonly number[], most: number) =>
    [...ordinals].sort((left, right) => ease(left) - ease(right) || left - right).slice(0, most);
  const bootstrapped = hardest(usable.bootstrapped, maxGood);
  const seeds = new Set(bootstrapped.map((ordinal) => seedOf.get(ordinal)));
  const others = usable.labeled.filter((ordinal) => !seeds.has(seedOf.get(ordinal)));
  const set = { bootstrapped, labeled: hardest(others, Math.max(0, maxLabeled - bootstrapped.length)) };
  return sets.some((one) => keyOf(one) === keyOf(set)) ? null : set;
}

/** The same for the same set. */
function keyOf({ bootstrapped, labeled }: DemoSet): string {
  return `${bootstrapped.join()} ${labeled.join()}`;
}
