/**
 * What a search on open text tries next. Forms of the question and an exchange of turns are the
 * arms of a bandit: the next has the most gains so far for the rollouts of its tests.
 */
import { seedRng, shuffle, uniformInt } from '../../math/random.js';
import { isSolved } from '../../math/rewards.js';
import { minibatchOf } from '../../search/config.js';
import { knownFailures, seedsToRun, type Failure } from '../../search/failure-pool.js';
import { showsMany, type Approach } from '../../proposals/approach.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import { pairsOf, seedsOf, type Pair } from '../../search/batch.js';
import { spareRollouts } from './exploration.js';
import { parentOf } from './parents.js';
import { comparedSeeds } from '../../search/targeted-test.js';
import { shownOfMany } from './config.js';
import { canExchange, exchangedTurns } from './exchange.js';
import { overallGain } from './open-text.js';
import { newTrial, type GepaState, type Trial } from './state.js';

/** The first of equal ones first. */
const arms = ['contrast', 'revise', 'exchange', 'causes', 'restart'] as const satisfies readonly (
  Approach | 'exchange'
)[];
type Arm = (typeof arms)[number];

/** Failures that the parent itself had, before it is asked about. */
const leastFailures = 4;
/** Seeds at once for a parent with fewer. */
const exploredAtOnce = 6;
/** What an arm is worth before any test: a gain of the mean reward, for so many rollouts. */
const prior = { gain: 1 / 3, rollouts: 10 };
/** What a question costs beside its test, in rollouts. */
const questionCost = 2;
/** Lower streams belong to the search, to the draws of parents and to those of variations. */
const stream = 3_000_000;
const questions = arms.filter((arm) => arm !== 'exchange');

/** At most `most` trials: sets of turns, then questions on failures not on `taken` seeds. */
export function textTrials(state: GepaState, model: RewardModel, most: number, taken: ReadonlySet<number>): Trial[] {
  const { nextCandidate, begun, config } = state;
  const parent = parentOf(state, model);
  const size = minibatchOf(config);
  const failures = ownFailures(state, model, parent).filter(({ seed }) => !taken.has(seed));
  if (failures.length === 0) return [];
  const chosen = chooseArms(state, model, most);
  const drawn = chosen.map((_, index) => {
    const [ranked, rng] = shuffle(seedRng(config.rngSeed, stream + nextCandidate + index), failures);
    return { ranked, rng, tested: telling(state, ranked).slice(0, size) };
  });
  const sets = chosen
    .filter((arm) => arm === 'exchange')
    .flatMap((_, index) => exchangedTurns(state, model, parent, nextCandidate + index, drawn[index]!.tested) ?? []);
  const asked = chosen.filter((arm) => arm !== 'exchange');
  // No set that was drawn is new.
  while (sets.length + asked.length < chosen.length) asked.push(questions[asked.length % questions.length]!);
  return [...sets, ...asked].map((next, index): Trial => {
    const planned = newTrial(nextCandidate + index, begun, [parent]);
    const { ranked, rng, tested } = drawn[index]!;
    if (typeof next !== 'string') return { ...planned, shown: tested, compose: next, exchanges: true };
    const isBroad = showsMany(next);
    const [fewer] = isBroad ? [shownOfMany.failures - 1] : uniformInt(rng, Math.min(size, failures.length));
    const offered = ranked.slice(0, 1 + fewer).map(({ ordinal, seed }) => ({ ordinal, seed }));
    return { ...planned, offered, shown: isBroad ? tested : [], approach: next };
  });
}

/** The arms of the next `count` trials: they differ if none is far ahead. */
function chooseArms(state: GepaState, model: RewardModel, count: number): Arm[] {
  const tallies = talliesOf(state, model);
  const known = canExchange(state) ? arms : questions;
  return Array.from({ length: Math.max(0, count) }, () => {
    const arm = bestArm(tallies, known);
    tallies[arm].rollouts += minibatchOf(state.config) + costBeside(arm);
    return arm;
  });
}

/** Further seeds for a parent with few failures of its own: answers of its ancestors say little. */
export function exploreForText(state: GepaState, running: readonly Pair[] = []): Pair[] {
  const model = rewardModelOf(state);
  const parent = parentOf(state, model);
  const failures = knownFailures(state, model, parent).filter(({ age }) => age === 0).length;
  if (failures >= leastFailures) return [];
  const own = seedsOf(running, parent);
  const seeds = seedsToRun(state, model, parent).filter((seed) => !own.has(seed));
  const count = Math.max(0, Math.min(exploredAtOnce - own.size, spareRollouts(state)));
  return pairsOf(parent, seeds.slice(0, count));
}

/** Failures of the candidate's own rollouts; without any, those that it inherits. */
function ownFailures(state: GepaState, model: RewardModel, candidate: number): Failure[] {
  const failures = knownFailures(state, model, candidate);
  const own = failures.filter(({ age }) => age === 0);
  return own.length > 0 ? own : failures;
}

type Tallies = Record<Arm, { gain: number; rollouts: number }>;

function talliesOf(state: GepaState, model: RewardModel): Tallies {
  const parents = new Map(state.candidates.map(({ candidate, parents: [parent] }) => [candidate, parent]));
  const tallies = Object.fromEntries(arms.map((arm) => [arm, { ...prior }])) as Tallies;
  for (const [candidate, approach] of Object.entries(state.approaches)) {
    const arm = arms.find((known) => known === approach);
    if (arm === undefined) continue;
    const compared = comparedSeeds(state, model, Number(candidate));
    tallies[arm].rollouts += compared.length + costBeside(arm);
    const parent = parents.get(Number(candidate));
    const hasGained = compared.some(({ own, expected }) => own > expected.mean);
    if (parent === undefined || !hasGained) continue;
    const { gain, rows } = overallGain(state, model, parent, compared);
    if (rows > 0) tallies[arm].gain += Math.max(0, gain / rows);
  }
  return tallies;
}

function bestArm(tallies: Tallies, among: readonly Arm[]): Arm {
  const worth = (arm: Arm) => tallies[arm].gain / tallies[arm].rollouts;
  return among.reduce((best, arm) => (worth(arm) > worth(best) ? arm : best));
}

function costBeside(arm: Arm): number {
  return arm === 'exchange' ? 0 : questionCost;
}

/** The seeds of failures, those first that about half of the candidates solve. */
function telling({ results }: GepaState, failures: readonly Failure[]): number[] {
  const known = Object.values(results);
  const doubtOf = (seed: number) => {
    const runs = known.flatMap((own) => own[seed] ?? []);
    const solved = runs.filter(([, reward]) => isSolved(reward)).length;
    return Math.abs((solved + 1) / (runs.length + 2) - 1 / 2);
  };
  return failures
    .map(({ seed }) => ({ seed, doubt: doubtOf(seed) }))
    .sort((left, right) => left.doubt - right.doubt)
    .map(({ seed }) => seed);
}
