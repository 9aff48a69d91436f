/**
 * Demonstrations in a GEPA search: train rows with their right answers, or, where none is known,
 * good answers of the model, shown as turns of a prompt. A generation tests sets of them in place
 * of reflections while sets gain as often. Rows that the parent fails come first, and where rows
 * share answers, such as labels, each answer gets a turn.
 */
import { groupBy } from '../../../util/group.js';
import { seedRng, shuffle } from '../../math/random.js';
import { sum } from '../../math/rewards.js';
import { pairsOf, type Pair } from '../../search/batch.js';
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import { knownFailures, unevaluatedSeeds } from '../../search/failure-pool.js';
import { fewDemos } from '../../prompts/demos.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { CandidateSummary, Composition } from '../../search/protocol.js';
import { measuredOn, rolloutsOf } from '../../search/results.js';
import type { RewardModel } from '../../search/reward-model.js';
import { comparedSeeds, solvedSeeds } from '../../search/targeted-test.js';
import { confirmedPerDemo, exploredPerDemo, maxRegressionSeeds, roomForCandidates, type GepaConfig } from './config.js';
import { overallGain } from './open-text.js';
import { parentOf } from './parents.js';
import { mostTurns } from './shown-rows.js';
import { isSet, newTrial, type Demonstrations, type GepaState, type Trial } from './state.js';

/** Sets that a generation tests. */
const setsAtOnce = 3;
/** Generations of texts between two of sets: few sets gain on the first that did. */
const textsBetween = 10;
/** Gains before any test, of `priorTests`; equal ones let demonstrations begin. */
const priorGains = 1.5;
/** The same for good answers; lower, because they show the model nothing new. */
const priorGainsUnlabeled = 0.35;
const priorTests = 2;
/** How much larger than another a set is to be tested beside it. */
const clearlyMore = 1.1;
/** The latest tests of each kind that count. */
const recentTests = 8;
/** Failures to find for each demonstration: sets differ only where there are more rows to show. */
const poolPerDemo = 1.5;
/** The share of the rollouts left that find rows. */
const exploredShare = 1 / 4;

/**
 * Whether the generation tests demonstrations, or asks first whether right answers are known;
 * `once`: only sets for the first time.
 */
export function isDemonstrating(state: GepaState, once: boolean): boolean {
  const { config, demonstrations, candidates, pool, results, begun, nextCandidate, approaches } = state;
  if (demonstrations === undefined) return config.editsStructure !== true;
  if (demonstrations === 'none' || mostTurns(config, demonstrations) === 0) return false;
  const hasSet = ({ candidate }: CandidateSummary) => isSet(state, candidate);
  const isShorterSet = (summary: CandidateSummary) => hasSet(summary) && approaches[summary.candidate] === 'compress';
  const isNew = (summary: CandidateSummary) => summary.candidate > 0 && !isShorterSet(summary);
  const tested = candidates.filter((summary) => isNew(summary) && results[summary.candidate] !== undefined);
  const latest = tested.findLast(hasSet);
  if (latest && (once || begun - latest.generation <= textsBetween)) return false;
  // A set that exceeds `max_prompt_tokens` becomes no candidate. Test texts before the next set.
  const lastSet = Math.max(0, ...Object.keys(demonstrations.sets).map(Number));
  const isBarren = lastSet > 0 && candidates.every(({ candidate }) => candidate !== lastSet);
  if (isBarren && (once || nextCandidate - lastSet <= textsBetween)) return false;
  const isGain = ({ candidate }: CandidateSummary) => pool.includes(candidate);
  // The sets of a generation are one test, as they have one winner at most.
  const races = [...groupBy(tested.filter(hasSet), ({ generation }) => generation).values()];
  const reflections = tested.filter((summary) => !hasSet(summary) && summary.parents.length === 1);
  const prior = demonstrations.isLabeled ? priorGains : priorGainsUnlabeled;
  return (
    rateOf(
      races.map((race) => race.some(isGain)),
      prior,
    ) >= rateOf(reflections.map(isGain))
  );
}

function rateOf(tests: readonly boolean[], prior = priorGains): number {
  const recent = tests.slice(-recentTests);
  return (recent.filter(Boolean).length + prior) / (recent.length + priorTests);
}

/** Runs of the parent on train seeds without results, at first, for rows that it fails. */
export function exploreForDemos(state: GepaState): Pair[] {
  const { config, demonstrations, order, best } = state;
  if (typeof demonstrations !== 'object' || demonstrations.isExplored) return [];
  // Good answers come from the rollouts of the search: it runs none to find them.
  if (!demonstrations.isLabeled) return [];
  const model = rewardModelOf(state);
  const parent = parentOf(state, model);
  const failures = knownFailures(state, model, parent).length;
  const failed = Math.max(1 / exploredPerDemo, 1 - (best?.reward ?? 0));
  const ran = order.length - unevaluatedSeeds(state, model, parent).length;
  const turns = mostTurns(config, demonstrations);
  const missing = Math.ceil((poolPerDemo * turns - failures) / failed);
  const most = Math.min(
    exploredPerDemo * turns - ran,
    Math.floor(exploredShare * (searchRollouts(state) - minibatchOf(config))),
  );
  return pairsOf(parent, unevaluatedSeeds(state, model, parent).slice(0, Math.max(0, Math.min(missing, most))));
}

/** Plans the sets that the generation tests on the same rows; empty: none is new. */
export function planDemonstrations(state: GepaState): Trial[] {
  const { config, demonstrations, nextCandidate, begun } = state;
  if (demonstrations === undefined || demonstrations === 'none') return [];
  const model = rewardModelOf(state);
  const parent = parentOf(state, model);
  // An inherited result may be out of date: its repair would count as a gain of the turns.
  const isOwn = (seed: number) => model.posterior(parent, seed)?.age === 0;
  const failed = knownFailures(state, model, parent).flatMap(({ seed }) => (isOwn(seed) ? [seed] : []));
  if (failed.length === 0) return [];
  // Turns change every answer, so solved rows count as much as failures.
  const tested = testedRows(config);
  const solved = solvedSeeds(state, model, parent, nextCandidate)
    .filter(isOwn)
    .slice(0, Math.floor(tested / 2));
  const shown = [...new Set([...failed.slice(0, tested - solved.length), ...solved])];
  const most = Math.min(setsAtOnce, Math.floor(searchRollouts(state) / shown.length), roomForCandidates(state));
  const inOrder = turnOrder(state, model, parent, shown);
  return newSets(state, model, parent, demonstrations)
    .slice(0, Math.max(0, most))
    .map((rows, index): Trial => ({
      ...newTrial(nextCandidate + index, begun, [parent]),
      shown,
      compose: withTurns(demonstrations, parent, inOrder(rows)),
    }));
}

/**
 * Orders the turns of a large set: the parent's failures come late, and tested rows last. A row is
 * asked without its own turn, so the prompts of a test then share a long beginning.
 */
export function turnOrder(
  state: GepaState,
  model: RewardModel,
  parent: number,
  tested: readonly number[],
): (rows: readonly number[]) => number[] {
  const seedOf = seedsByOrdinal(state);
  const failing = new Set(knownFailures(state, model, parent).map(({ seed }) => seed));
  const rankOf = (ordinal: number) => {
    const seed = seedOf.get(ordinal)!;
    return tested.includes(seed) ? 2 : failing.has(seed) ? 1 : 0;
  };
  return (rows) => (rows.length <= fewDemos ? [...rows] : rows.toSorted((left, right) => rankOf(left) - rankOf(right)));
}

/** A candidate's texts with other turns. */
export function withTurns(known: Demonstrations, candidate: number, rows: number[]): Composition {
  const turns = known.isLabeled ? { bootstrapped: [], labeled: rows } : { bootstrapped: rows, labeled: [] };
  return {
    texts: Array.from({ length: known.components }, () => candidate),
    demos: known.slots.map((component) => ({ component, ...turns })),
    parents: [candidate],
  };
}

/** A set's gain over all rows that its parent ran: its test has as many solved rows as failures. */
export function raceGain(
  state: GepaState,
  model: RewardModel,
  { candidate, parents }: Pick<Trial, 'candidate' | 'parents'>,
): number {
  return overallGain(state, model, parents[0]!, comparedSeeds(state, model, candidate)).gain;
}

/** Whether no other set of the generation has gained more on the rows that all ran. */
export function wonRace(state: GepaState, model: RewardModel, { candidate, generation, parents }: Trial): boolean {
  const gainOf = (set: number) => raceGain(state, model, { candidate: set, parents });
  const rivals = state.candidates.filter((other) => other.generation === generation && isSet(state, other.candidate));
  const own = gainOf(candidate);
  return rivals.every((other) => {
    const gain = other.candidate === candidate ? -Infinity : gainOf(other.candidate);
    return gain < own || (gain === own && other.candidate > candidate);
  });
}

/** Further rows that the parent ran, on which a set that gained is compared: its share. */
export function confirmingSeeds(state: GepaState, model: RewardModel, { candidate, parents }: Trial): number[] {
  const { config, results, demonstrations, order } = state;
  if (demonstrations === undefined || demonstrations === 'none') return [];
  const ran = (set: string) => Object.keys(results[set] ?? {}).length;
  const confirmed = Object.keys(demonstrations.sets).map((set) => Math.max(0, ran(set) - testedRows(config)));
  const turns = Math.min(fewDemos, mostTurns(config, demonstrations));
  const left = confirmedPerDemo * turns - sum(confirmed);
  const known = order.filter((seed) => model.posterior(parents[0]!, seed)?.age === 0);
  return known
    .filter((seed) => measuredOn(results, candidate, seed).length === 0)
    .slice(0, Math.max(0, Math.min(Math.floor(left / setsAtOnce), Math.floor(searchRollouts(state) / setsAtOnce))));
}

/** Rows of the first test of a set: as many as the tests of a text may have at most. */
function testedRows(config: GepaConfig): number {
  return 2 * minibatchOf(config) + maxRegressionSeeds(config);
}

/** The state with the sets of planned candidates. */
export function withSets(state: GepaState, trials: readonly Trial[]): GepaState {
  const added = trials.flatMap(({ candidate, compose }) => {
    const [turns] = compose?.demos ?? [];
    return turns ? [[candidate, [...turns.labeled, ...turns.bootstrapped]]] : [];
  });
  if (added.length === 0) return state;
  return changed(state, ({ sets }) => ({ sets: { ...sets, ...Object.fromEntries(added) } }));
}

/** The state once the search has looked for rows that the baseline fails. */
export function withExploration(state: GepaState): GepaState {
  return changed(state, () => ({ isExplored: true }));
}

function changed(state: GepaState, change: (known: Demonstrations) => Partial<Demonstrations>): GepaState {
  const { demonstrations } = state;
  if (demonstrations === undefined || demonstrations === 'none') return state;
  return { ...state, demonstrations: { ...demonstrations, ...change(demonstrations) } };
}

/**
 * New sets, in this order: the few rows that the parent fails and that cover most; all that it
 * fails; all known rows. A set that is hardly larger than one before it gives way to a drawn one.
 */
function newSets(state: GepaState, model: RewardModel, parent: number, known: Demonstrations): number[][] {
  const { config, nextCandidate } = state;
  const most = mostTurns(config, known);
  const few = Math.min(fewDemos, most);
  const failing = new Set(knownFailures(state, model, parent).map(({ seed }) => seed));
  const seedOf = seedsByOrdinal(state);
  const own = ownSet(state, parent, known);
  const failed = (ordinals: readonly number[]) => ordinals.filter((ordinal) => failing.has(seedOf.get(ordinal)!));
  const failedFirst = (ordinals: readonly number[], then: readonly number[] = []) =>
    inTurns([...failed(ordinals), ...then, ...ordinals], known.sameAnswer);
  const all = failedFirst(known.rows).slice(0, most);
  const allFailed = inTurns(failed(known.rows), known.sameAnswer).slice(0, most);
  const isClearlyMore = (set: readonly number[], than: number) => set.length >= clearlyMore * than;
  const larger = isClearlyMore(allFailed, few) ? allFailed.length : few;
  // Lower streams belong to the search, to the draws of parents and to those of failures.
  const [first, rng] = shuffle(seedRng(config.rngSeed, 2_000_000 + nextCandidate), known.rows);
  const [second] = shuffle(rng, known.rows);
  const candidates = [
    failedFirst(known.rows, own).slice(0, few),
    larger > few ? allFailed : failedFirst(first).slice(0, Math.ceil((3 * few) / 4)),
    isClearlyMore(all, larger) ? all : failedFirst(second).slice(0, Math.ceil(larger / 2)),
  ];
  const drawn = new Set<string>();
  return candidates.filter((set) => {
    const key = keyOf(set);
    return set.length > 0 && !isTested(known, set) && !drawn.has(key) && drawn.add(key);
  });
}

export function isTested({ sets }: Demonstrations, set: readonly number[]): boolean {
  return Object.values(sets).some((tested) => keyOf(tested) === keyOf(set));
}

/** The set of the nearest ancestor that has one. */
export function ownSet(
  { candidates }: GepaState,
  parent: number,
  { sets, isLabeled, rows }: Demonstrations,
): readonly number[] {
  const byNumber = new Map(candidates.map((summary) => [summary.candidate, summary]));
  for (let at: number | undefined = parent; at !== undefined; at = byNumber.get(at)?.parents[0]) {
    const own = sets[at];
    // The least reward of a good answer rises with the best one: drop rows that fell below it.
    if (own !== undefined) return isLabeled ? own : own.filter((ordinal) => rows.includes(ordinal));
  }
  return [];
}

/** Each once; of shared answers every beginning has each as often, or once more. */
export function inTurns(ordinals: readonly number[], sameAnswer: readonly number[][]): number[] {
  const answerOf = new Map(sameAnswer.flatMap((group, answer) => group.map((ordinal) => [ordinal, answer] as const)));
  const counts = new Map<number, number>();
  const ranked = [...new Set(ordinals)].map((ordinal) => {
    const answer = answerOf.get(ordinal);
    const rank = answer === undefined ? 0 : (counts.get(answer) ?? 0);
    if (answer !== undefined) counts.set(answer, rank + 1);
    return { ordinal, rank };
  });
  return ranked.sort((left, right) => left.rank - right.rank).map(({ ordinal }) => ordinal);
}

/** Identifies a set by its rows; their order does not matter. */
function keyOf(set: readonly number[]): string {
  return set.toSorted((left, right) => left - right).join();
}

export function seedsByOrdinal({ results }: GepaState): Map<number, number> {
  return new Map(rolloutsOf(results).map(({ ordinal, seed }) => [ordinal, seed]));
}
