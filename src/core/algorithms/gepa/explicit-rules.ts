/**
 * Questions of a search on explicit rules, where a new text fixes the failures that it was written
 * for and rarely breaks other rows. Each question shows failures of one cause; failures that no
 * question has shown come first. A proposer answers the same question in the same way, so later
 * questions show other failures, and ask for a revision, a new text or, in a stalled search, a
 * shorter text.
 */
import { seedRng, shuffle, uniformInt } from '../../math/random.js';
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import { knownFailures, type Failure } from '../../search/failure-pool.js';
import type { Approach } from '../../proposals/approach.js';
import type { RewardModel } from '../../search/reward-model.js';
import { solvedSeeds } from '../../search/targeted-test.js';
import { ablationSeeds, firstSeeds } from './ablation.js';
import { areProposalsScarce, cohortSize } from './budget.js';
import type { GepaConfig } from './config.js';
import { parentOf } from './parents.js';
import { incumbentOf } from './pool.js';
import { isStalled } from './stall.js';
import { newTrial, type GepaState, type Trial } from './state.js';

/** The most failures that the reflections of a generation choose from. */
const maxOffered = 60;

/** In turn; with noise revisions alone, as no test of a few seeds shows what the others lose. */
const approaches: readonly Approach[] = ['revise', 'restart', 'compress'];
/** Questions and generations in a row without a new candidate that end a stalled search. */
const maxIdle = { questions: 24, generations: 6 };
/** The most of the rollouts left that the test of a compression may cost. */
const compressionShare = 1 / 4;

/** Questions at once of a wide search that is not stalled. */
const variedAtOnce = 4;
/** The most questions about a failure before the parent looks further for others. */
const maxShown = 4;

/** At most `most` questions on the parent's failures, without those on `taken` seeds. */
export function ruleTrials(state: GepaState, model: RewardModel, most: number, taken: ReadonlySet<number>): Trial[] {
  return isVaried(state, model) ? variedTrials(state, model, most) : reflections(state, model, most, taken);
}

/** At most `most` reflections on the parent's failures, without those on `taken` seeds. */
function reflections(state: GepaState, model: RewardModel, most: number, taken: ReadonlySet<number>): Trial[] {
  const { config, nextCandidate, begun } = state;
  const size = minibatchOf(config);
  const parent = parentOf(state, model);
  const failures = failuresToShow(state, model, parent).filter(({ seed }) => !taken.has(seed));
  const offered = failures
    .slice(0, Math.min(4 * size * cohortSize(state, begun), maxOffered))
    .map(({ ordinal, seed }) => ({ ordinal, seed }));
  if (offered.length === 0) return [];
  const neverShown = Math.max(1, failures.filter(({ shown }) => shown === 0).length);
  const affordable = Math.min(most, neverShown);
  const isShared = config.slots > 1 || areProposalsScarce(state);
  const share = isShared ? Math.min(size, Math.ceil(offered.length / affordable)) : size;
  // No two proposals get the same failures, so no question is asked twice.
  const count = Math.max(0, Math.min(affordable, Math.ceil(offered.length / share)));
  return Array.from({ length: count }, (_, index): Trial => {
    return { ...newTrial(nextCandidate + index, begun, [parent]), offered };
  });
}

/** The parent's failures that no reflection was shown; all with noise or scarce proposals. */
function failuresToShow(state: GepaState, model: RewardModel, parent: number): Failure[] {
  const failures = knownFailures(state, model, parent);
  if (model.noise.variance > 0 || areProposalsScarce(state)) return failures;
  const chosen = failures.filter(({ shown }) => shown === 0);
  return chosen.length > 0 ? chosen : failures;
}

/** Whether the next questions vary: the search is stalled, or asks again about known failures. */
function isVaried(state: GepaState, model: RewardModel): boolean {
  return isStalled(state, model) || asksAgain(state, model);
}

/**
 * Whether the parent's failures were all shown, and one of them fewer times than is allowed. Graphs
 * have two kinds of questions about each failure.
 */
export function asksAgain(state: GepaState, model: RewardModel): boolean {
  const isGraph = state.config.editsStructure === true;
  if (isGraph || model.noise.variance > 0 || areProposalsScarce(state)) return false;
  const shown = knownFailures(state, model, parentOf(state, model)).map((failure) => failure.shown);
  return shown.length > 0 && Math.min(...shown) > 0 && Math.min(...shown) < maxShown;
}

/** Whether a search has nothing left to ask. */
export function isExhausted({ idle, config }: GepaState): boolean {
  return idle >= idleLimit(config);
}

/** Generations in a row without a new candidate that show that none will come. */
export function idleLimit({ populationSize }: GepaConfig): number {
  return Math.max(maxIdle.generations, Math.ceil(maxIdle.questions / populationSize));
}

/**
 * At most `most` questions on the parent, and one if the search is not stalled; none if the parent
 * has no failures.
 */
function variedTrials(state: GepaState, model: RewardModel, most: number): Trial[] {
  const stalled = isStalled(state, model);
  const count = stalled || state.config.slots > 1 ? Math.min(most, stalled ? most : variedAtOnce) : Math.min(1, most);
  const parent = parentOf(state, model);
  const incumbent = incumbentOf(state, model);
  const open = new Set(knownFailures(state, model, incumbent).map(({ seed }) => seed));
  const known = knownFailures(state, model, parent);
  const shared = known.filter(({ seed }) => open.has(seed));
  const failures = shared.length > 0 ? shared : known;
  if (failures.length === 0) return [];
  const turnOf = (candidate: number): Approach =>
    model.noise.variance > 0 ? 'revise' : approaches[candidate % approaches.length]!;
  const candidates = Array.from({ length: count }, (_, index) => state.nextCandidate + index);
  const solved = stalled && parent === incumbent ? compressible(state, model, incumbent) : [];
  const compression = solved.length > 0 ? candidates.find((candidate) => turnOf(candidate) === 'compress') : undefined;
  return candidates.map((candidate): Trial => {
    const planned = newTrial(candidate, state.begun, [parent]);
    if (candidate === compression) return { ...planned, shown: solved, approach: 'compress' };
    const approach = turnOf(candidate) === 'restart' ? 'restart' : 'revise';
    return { ...planned, offered: drawFailures(state, candidate, failures), approach };
  });
}

/** First seeds on which a compression must not lose; none: requested before, or too expensive. */
function compressible(state: GepaState, model: RewardModel, incumbent: number): number[] {
  const isAffordable = firstSeeds + ablationSeeds(state) <= compressionShare * searchRollouts(state);
  if (state.compressed[incumbent] !== undefined || !isAffordable) return [];
  return solvedSeeds(state, model, incumbent, state.nextCandidate).slice(0, firstSeeds);
}

/** One failure or more, at most a minibatch. */
function drawFailures({ config }: GepaState, candidate: number, failures: readonly Failure[]): Trial['offered'] {
  const most = Math.min(minibatchOf(config), failures.length);
  // Lower streams belong to the search and to the draws of parents.
  const [fewer, rng] = uniformInt(seedRng(config.rngSeed, 1_000_000 + candidate), most);
  const [drawn] = shuffle(rng, [...failures]);
  return drawn.slice(0, 1 + fewer).map(({ ordinal, seed }) => ({ ordinal, seed }));
}
