/** Selection of rollouts as demonstrations, and their sets. */
import { shuffle, uniformInt, type Rng } from '../../math/random.js';
import { exceeds, solvedReward } from '../../math/rewards.js';
import { readOwn, type Results } from '../../search/results.js';
import type { DemoSlot } from '../../search/protocol.js';
import type { DemoSet, MiproState } from './state.js';

/** The most rollouts of one demo request: good ones, and others that may have a labeled answer. */
const maxRequested = { good: 100, other: 100 };
/** The most rollouts for the description of the task. */
const maxDescribed = 10;
/** The most rollouts kept for a slot: the latest. */
const maxUsable = 200;

/** A completed rollout with its reward. */
export interface RewardedRollout {
  ordinal: number;
  candidate: number;
  seed: number;
  reward: number;
}

/** All slots of a request read the same rollouts. Not part of any state. */
const read = new WeakMap<Results, readonly RewardedRollout[]>();

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

/** The least reward of a good rollout; `solvedReward` if all rewards are equal. */
export function goodRewardThreshold(all: readonly RewardedRollout[]): number {
  let best = -Infinity;
  let worst = Infinity;
  for (const { reward } of all) {
    best = Math.max(best, reward);
    worst = Math.min(worst, reward);
  }
  return exceeds(best, worst) ? worst + 0.8 * (best - worst) : solvedReward;
}

/** Good rollouts on train seeds, by ascending ordinal. */
export function goodRollouts({ results, config }: MiproState): RewardedRollout[] {
  const all = rolloutsOf(results);
  const limit = goodRewardThreshold(all) - 1e-9;
  const train = new Set(config.trainSeeds);
  return all.filter(({ reward, seed }) => reward >= limit && train.has(seed));
}

/** Rollouts on train seeds since the last request: good ones with the best first, then others. */
export function demoCandidates({ results, searchedForDemos, config }: MiproState): number[] {
  const all = rolloutsOf(results);
  const limit = goodRewardThreshold(all) - 1e-9;
  const train = new Set(config.trainSeeds);
  const isFresh = ({ ordinal, seed }: RewardedRollout) => ordinal >= searchedForDemos && train.has(seed);
  const fresh = all.filter(isFresh).sort((left, right) => right.reward - left.reward);
  const good = fresh.filter(({ reward }) => reward >= limit).slice(0, maxRequested.good);
  const others = config.maxLabeledDemos > 0 ? fresh.filter(({ reward }) => reward < limit) : [];
  return [...good, ...others.slice(0, maxRequested.other)].map(({ ordinal }) => ordinal);
}

/** Rollouts for the description of the task; none after the first request. */
export function toDescribe({ results, components, config }: MiproState): number[] {
  if (components.length > 0) return [];
  const train = new Set(config.trainSeeds);
  const shown = rolloutsOf(results).filter(({ seed }) => train.has(seed));
  return shown.slice(0, maxDescribed).map(({ ordinal }) => ordinal);
}

/** The usable rollouts of a slot with new ones; of each seed the earliest rollout. */
export function addUsable(before: DemoSet, { bootstrapped, labeled }: DemoSlot, state: MiproState): DemoSet {
  const all = rolloutsOf(state.results);
  const limit = goodRewardThreshold(all) - 1e-9;
  const byOrdinal = new Map(all.map((rollout) => [rollout.ordinal, rollout]));
  const distinct = (ordinals: readonly number[]) => {
    const seeds = new Set<number>();
    return ordinals.filter((ordinal) => {
      const seed = byOrdinal.get(ordinal)?.seed;
      if (seed === undefined || seeds.has(seed)) return false;
      seeds.add(seed);
      return true;
    });
  };
  const good = bootstrapped.filter((ordinal) => (byOrdinal.get(ordinal)?.reward ?? -Infinity) >= limit);
  return {
    bootstrapped: distinct([...before.bootstrapped, ...good]).slice(-maxUsable),
    labeled: distinct([...before.labeled, ...labeled]).slice(-maxUsable),
  };
}

/** The first sets of a slot (as MIPROv2): empty, the best, labeled only, then random ones. */
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

/** The usable rollouts of the seeds with the lowest mean rewards; null: the set exists. */
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
  return sets.some((known) => keyOf(known) === keyOf(set)) ? null : set;
}

function keyOf({ bootstrapped, labeled }: DemoSet): string {
  return `${bootstrapped.join()} ${labeled.join()}`;
}
