/** The config of a MIPRO search, its limits and its number of rollouts. */
import {
  checkSearch,
  evaluationRollouts,
  heldoutRollouts,
  isCount,
  searchLimits,
  type Check,
  type ConfigProblem,
  type SearchConfig,
} from '../../search/config.js';
import type { Section, SeedsSection } from '../../../kinds/session/contract/algorithms.js';
import type { CamelCased } from '../../../util/naming.js';
import type { SearchEstimate } from '../estimate.js';

/** The section `mipro` of a request, where each field has its description. */
type MiproFields = CamelCased<Omit<Section<'mipro'>, keyof SeedsSection | 'minibatch_size' | 'num_trials'>>;

export interface MiproConfig extends SearchConfig, MiproFields {
  /** Candidates to try; null: as many as `maxRollouts` and progress allow. */
  numTrials: number | null;
}

export const miproLimits = {
  ...searchLimits,
  numCandidates: 50,
  demos: 32,
  /** Rollouts of all trials together: their rewards are a large part of the state. */
  trialRollouts: 7_000,
  /** Rollouts of all evaluations before the end. */
  evaluationsOnTheWay: 7_000,
  /** Rollouts in the demo sets of all slots together. */
  demoRollouts: 30_000,
  /** Rollouts beside evaluations: rewards are the largest part of the state. */
  learningRollouts: 14_000,
} as const;

/** The most simultaneous trials of a generation (5 in DSPy's MIPROv2). */
export const trialsAtOnce = 5;
/** Repeated rollouts before the first trial, to measure the noise. */
export const noiseProbes = 4;
/** Good rollouts, and failures, that a proposal is shown. */
export const goodShown = 3;
export const failuresShown = 3;
/** Generations in a row without a new candidate that end a search. */
export const maxIdle = 6;
/** The most instructions of a later generation. */
export const maxLater = 3;
/** Solved seeds on which a candidate is tested for losses. */
export const regressionSeeds = 4;
/** The most rollouts spent to find one that scores well. */
const maxBootstrap = 6;
/** Limits of a default minibatch (35 in DSPy's MIPROv2). */
const largestMinibatch = 35;
const smallestMinibatch = 5;

/**
 * An eighth of the evaluation seeds: a few new rewards suffice, because the expected reward
 * includes the parents' rewards; more trials are worth more than larger ones.
 */
export function defaultMinibatch(evaluationSeeds: number): number {
  return Math.min(evaluationSeeds, largestMinibatch, Math.max(smallestMinibatch, Math.ceil(evaluationSeeds / 8)));
}

/** The number of trials of DSPy's MIPROv2 for the same number of choices, within the limits. */
export function defaultTrials(config: Omit<MiproConfig, 'numTrials'>, components: number): number {
  const { numCandidates } = config;
  const variables = components * (mayHaveDemos(config) ? 2 : 1);
  const wanted = Math.ceil(Math.max(2 * variables * Math.log2(numCandidates), 1.5 * numCandidates));
  const room = miproLimits.candidates - 1 - numCandidates;
  return Math.max(1, Math.min(wanted, room, Math.floor(miproLimits.trialRollouts / trialSize(config))));
}

export function trialSize({
  minibatchSize,
  evaluationSeeds,
}: Pick<MiproConfig, 'minibatchSize' | 'evaluationSeeds'>): number {
  return Math.min(minibatchSize, evaluationSeeds.length);
}

/** The most trials: `numTrials`, or the number that the limits and the budget allow. */
export function trialLimit(config: MiproConfig): number {
  if (config.numTrials !== null) return config.numTrials;
  const least = 2 * evaluationRollouts(config) + heldoutRollouts(config);
  const affordable = Math.max(1, (config.maxRollouts ?? Infinity) - least);
  return Math.min(affordable, miproLimits.candidates, Math.floor(miproLimits.trialRollouts / trialSize(config)));
}

/** The most instructions to request for a component. */
export function instructionLimit({ numCandidates, numTrials }: MiproConfig): number {
  return numTrials === null ? miproLimits.candidates : numCandidates - 1;
}

/** The most generations; without `numTrials`, as many as the budget is likely to allow. */
export function generationsOf({ numTrials, maxRollouts }: Pick<MiproConfig, 'numTrials' | 'maxRollouts'>): number {
  if (numTrials !== null) return Math.ceil(numTrials / trialsAtOnce);
  return Math.min(miproLimits.candidates, Math.ceil((maxRollouts ?? Infinity) / rolloutsOfGeneration));
}

/** Rollouts that an open-ended generation is likely to take. */
const rolloutsOfGeneration = 20;
/** The most instructions before the first trial: the trials of two generations. */
const maxInitial = 2 * trialsAtOnce;

/** Instructions of each component before the first trial; the others are written from failures. */
export function initialInstructions(config: MiproConfig): number {
  const written = config.numCandidates - 1;
  return Math.min(maxInitial, generationsOf(config) > 1 ? Math.ceil(written / 2) : written);
}

export function mayHaveDemos({
  maxBootstrappedDemos,
  maxLabeledDemos,
}: Pick<MiproConfig, 'maxBootstrappedDemos' | 'maxLabeledDemos'>): boolean {
  return maxBootstrappedDemos + maxLabeledDemos > 0;
}

/** Good rollouts for the first proposals: one and a half times a prompt's demonstrations. */
export function wantedGood({ maxBootstrappedDemos }: MiproConfig): number {
  return Math.max(goodShown, Math.ceil(1.5 * maxBootstrappedDemos));
}

/** Rollouts with a right answer for the first proposals, if the container reports any. */
export function wantedLabeled({ maxLabeledDemos }: MiproConfig): number {
  return Math.ceil(1.5 * maxLabeledDemos);
}

/** Train seeds without a baseline evaluation, for the search for good rollouts. */
export function bootstrapSeeds(config: MiproConfig): number[] {
  const known = new Set(config.evaluationSeeds);
  const others = [...new Set(config.trainSeeds)].filter((seed) => !known.has(seed));
  return others.slice(0, Math.max(maxBootstrap * wantedGood(config), wantedLabeled(config)));
}

/**
 * The least `maxRollouts`: evaluations of baseline and winner, one trial, the held-out comparison;
 * live calls may name no instances, then the best runs beside the winner.
 */
export function minimumRollouts(config: MiproConfig, isLive = false): number {
  return (isLive ? 3 : 2) * evaluationRollouts(config) + trialSize(config) + heldoutRollouts(config);
}

/** The estimate of a search that plans `maxRollouts`. */
export function estimateSearch(config: MiproConfig, components: number, maxRollouts: number): SearchEstimate {
  const rollouts = trialLimit(config) * trialSize(config);
  const shown = failuresShown + goodShown;
  const written = config.numTrials === null ? 3 * generationsOf(config) : components * (config.numCandidates - 1);
  return {
    maxRollouts,
    generations: generationsOf(config),
    // One proposal describes the task.
    proposals: 1 + written,
    testRollouts: { low: rollouts, likely: rollouts, high: rollouts },
    shownRollouts: { low: shown, likely: shown, high: shown },
    maxDemos: Math.max(config.maxBootstrappedDemos, config.maxLabeledDemos),
  };
}

export function configProblems(config: MiproConfig, isLive = false): ConfigProblem<keyof MiproConfig>[] {
  const problems: ConfigProblem<keyof MiproConfig>[] = [];
  const check: Check<keyof MiproConfig> = (holds, field, message) => {
    if (!holds) problems.push({ field, message });
  };
  const { numCandidates, numTrials, maxBootstrappedDemos, maxLabeledDemos, maxRollouts } = config;
  const isInRange = isCount(numCandidates) && numCandidates <= miproLimits.numCandidates;
  check(isInRange, 'numCandidates', `must be an integer from 1 to ${miproLimits.numCandidates}`);
  check(
    numCandidates !== 1 || mayHaveDemos(config),
    'numCandidates',
    'must be at least 2 where max_bootstrapped_demos and max_labeled_demos are 0: there is nothing to choose from',
  );
  check(numTrials === null || isCount(numTrials), 'numTrials', 'must be an integer of at least 1');
  check(numTrials !== null || maxRollouts !== null, 'numTrials', 'is required without max_rollouts');
  for (const [field, count] of Object.entries({ maxBootstrappedDemos, maxLabeledDemos })) {
    const isInRange = Number.isSafeInteger(count) && count >= 0 && count <= miproLimits.demos;
    check(isInRange, field as keyof MiproConfig, `must be an integer from 0 to ${miproLimits.demos}`);
  }
  checkSearch(config, check);
  if (problems.length > 0) return problems;
  const candidates = numTrials === null ? 0 : numTrials + numCandidates;
  check(
    candidates < miproLimits.candidates,
    'numTrials',
    `and num_candidates may make ${miproLimits.candidates - 1} candidates together, and are ${candidates}`,
  );
  const rollouts = trialLimit(config) * trialSize(config);
  check(
    rollouts <= miproLimits.trialRollouts,
    'numTrials',
    `times minibatch_size makes ${rollouts} rollouts; at most ${miproLimits.trialRollouts} are allowed`,
  );
  const atOnce = Math.min(trialLimit(config), trialsAtOnce) * trialSize(config);
  check(
    atOnce <= miproLimits.minibatchRollouts * trialsAtOnce,
    'minibatchSize',
    `makes ${atOnce} rollouts of ${trialsAtOnce} trials; at most ${miproLimits.minibatchRollouts * trialsAtOnce} are allowed`,
  );
  const least = minimumRollouts(config, isLive);
  check(
    maxRollouts === null || (Number.isSafeInteger(maxRollouts) && maxRollouts >= least),
    'maxRollouts',
    `must be an integer of at least ${least}: ${isLive ? 'three' : 'two'} evaluations and one trial need that many rollouts`,
  );
  return problems;
}
