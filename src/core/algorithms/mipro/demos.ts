/** Selection of rollouts as demonstrations, and their sets. */
import type { Rng } from '../../math/random.js';
import type { UsableSlot } from '../../search/protocol.js';
import { drawSet, type Draw } from './demo-draws.js';
import { firstOfSeeds, rolloutsOf } from '../../search/results.js';
import { goodRewardThreshold } from './good-rollouts.js';
import type { DemoSet, MiproState, UsableDemos } from './state.js';

/** The most rollouts of one demo request: good ones, and others that may have a labeled answer. */
const maxRequested = { good: 100, other: 100 };
/** The most rollouts for the description of the task. */
const maxDescribed = 10;

/** The kinds of draws, in turn. */
const draws: readonly Draw[] = ['balanced', 'replaced', 'balanced', 'reordered'];

/**
 * The rollouts that may be demonstrations: of each train seed the earliest good rollout, the best
 * first, then others that may have a labeled answer; empty: none is new since the last request.
 */
export function demoCandidates({ results, searchedForDemos, config }: MiproState): number[] {
  const all = rolloutsOf(results);
  const limit = goodRewardThreshold(all) - 1e-9;
  const train = new Set(config.trainSeeds);
  const known = all.filter(({ seed }) => train.has(seed));
  const good = firstOfSeeds(known.filter(({ reward }) => reward >= limit));
  const others = config.maxLabeledDemos > 0 ? firstOfSeeds(known.filter(({ reward }) => reward < limit)) : [];
  if (![...good, ...others].some(({ ordinal }) => ordinal >= searchedForDemos)) return [];
  return [
    ...good.sort((left, right) => right.reward - left.reward).slice(0, maxRequested.good),
    ...others.slice(0, maxRequested.other),
  ].map(({ ordinal }) => ordinal);
}

/** Rollouts for the description of the task; none after the first request. */
export function toDescribe({ results, components, config }: MiproState): number[] {
  if (components.length > 0) return [];
  const train = new Set(config.trainSeeds);
  const shown = rolloutsOf(results).filter(({ seed }) => train.has(seed));
  return shown.slice(0, maxDescribed).map(({ ordinal }) => ordinal);
}

/**
 * The usable rollouts of a slot, in the order of the answer; each seed once. A rollout with a
 * shared answer, such as a label, shows that answer rather than the model's words.
 */
export function usableOf({ bootstrapped, labeled, sameAnswer }: UsableSlot, state: MiproState): UsableDemos {
  const all = rolloutsOf(state.results);
  const limit = goodRewardThreshold(all) - 1e-9;
  const byOrdinal = new Map(all.map((rollout) => [rollout.ordinal, rollout]));
  const distinct = (ordinals: readonly number[]) => {
    const known = ordinals.flatMap((ordinal) => byOrdinal.get(ordinal) ?? []);
    return firstOfSeeds(known).map(({ ordinal }) => ordinal);
  };
  const shared = new Set(sameAnswer.flat());
  const good = bootstrapped.filter((ordinal) => {
    return !shared.has(ordinal) && (byOrdinal.get(ordinal)?.reward ?? -Infinity) >= limit;
  });
  return { bootstrapped: distinct(good), labeled: distinct(labeled), sameAnswer };
}

const emptySet: DemoSet = { bootstrapped: [], labeled: [] };

/** Adds the first usable rollouts to those `kept`, within the maxima, each seed once. */
function filledSet(
  usable: UsableDemos,
  kept: DemoSet,
  { results }: MiproState,
  [maxGood, maxLabeled]: readonly [good: number, labeled: number],
): DemoSet {
  const seedOf = new Map(rolloutsOf(results).map(({ ordinal, seed }) => [ordinal, seed]));
  const set = { bootstrapped: [...kept.bootstrapped], labeled: [...kept.labeled] };
  const seeds = new Set([...set.bootstrapped, ...set.labeled].map((ordinal) => seedOf.get(ordinal)));
  const add = (to: number[], from: readonly number[], count: () => number) => {
    for (const ordinal of from) {
      const seed = seedOf.get(ordinal);
      if (count() <= 0 || seeds.has(seed)) continue;
      to.push(ordinal);
      seeds.add(seed);
    }
  };
  const room = (most: number) => most - set.bootstrapped.length - set.labeled.length;
  const most = Math.max(maxGood, maxLabeled);
  add(set.bootstrapped, usable.bootstrapped, () => Math.min(maxGood - set.bootstrapped.length, room(most)));
  add(set.labeled, usable.labeled, () => room(maxLabeled));
  return set;
}

/** The first sets of a slot: empty, the most covering, labeled only, half of these, drawn ones. */
export function firstSets(usable: UsableDemos, state: MiproState, start: Rng): [sets: DemoSet[], next: Rng] {
  const { maxBootstrappedDemos: maxGood, maxLabeledDemos: maxLabeled, numCandidates } = state.config;
  const half = Math.ceil(Math.max(maxGood, maxLabeled) / 2);
  const sets: DemoSet[] = [emptySet];
  const known = new Set(sets.map(keyOf));
  let rng = start;
  const add = (set: DemoSet) => {
    const key = keyOf(set);
    if (known.has(key) || sets.length >= Math.max(2, numCandidates)) return;
    known.add(key);
    sets.push(set);
  };
  add(filledSet(usable, emptySet, state, [maxGood, maxLabeled]));
  add(filledSet(usable, emptySet, state, [0, maxLabeled]));
  add(filledSet(usable, emptySet, state, [Math.min(half, maxGood), Math.min(half, maxLabeled)]));
  for (let attempt = 0; attempt < 4 * numCandidates; attempt++) {
    const [set, next] = drawSet(state, usable, emptySet, 'balanced', rng);
    rng = next;
    add(set);
  }
  return [sets, rng];
}

/**
 * New sets for the leader's open failures: those that cover most of them alone, and half of these
 * with half of the leader's own; without those that exist.
 */
export function coveringSets(
  usable: UsableDemos,
  sets: readonly DemoSet[],
  own: DemoSet,
  state: MiproState,
): DemoSet[] {
  const { maxBootstrappedDemos, maxLabeledDemos } = state.config;
  const half = Math.floor(Math.max(maxBootstrappedDemos, maxLabeledDemos) / 2);
  const halfOwn = {
    bootstrapped: own.bootstrapped.slice(0, half),
    labeled: own.labeled.slice(0, Math.max(0, half - own.bootstrapped.length)),
  };
  const known = new Set(sets.map(keyOf));
  const maxima = [maxBootstrappedDemos, maxLabeledDemos] as const;
  const filled = [emptySet, own, halfOwn].map((kept) => filledSet(usable, kept, state, maxima));
  return filled.filter((set) => {
    const key = keyOf(set);
    return !known.has(key) && known.add(key);
  });
}

/** Up to `count` new sets: drawn anew, or changes of `own`, in turn. */
export function drawnSets(
  usable: UsableDemos,
  sets: readonly DemoSet[],
  own: DemoSet,
  state: MiproState,
  count: number,
): [drawn: DemoSet[], next: Rng] {
  const known = new Set(sets.map(keyOf));
  const drawn: DemoSet[] = [];
  let { rng } = state;
  for (let attempt = 0; drawn.length < count && attempt < 4 * count; attempt++) {
    const draw =
      own.bootstrapped.length + own.labeled.length > 1
        ? draws[(state.generation + attempt) % draws.length]!
        : 'balanced';
    const [set, next] = drawSet(state, usable, own, draw, rng);
    rng = next;
    const key = keyOf(set);
    if (known.has(key)) continue;
    known.add(key);
    drawn.push(set);
  }
  return [drawn, rng];
}

function keyOf({ bootstrapped, labeled }: DemoSet): string {
  return `${bootstrapped.join()} ${labeled.join()}`;
}
