/** What a MIPRO search is told, and what it will cost. */
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

export interface MiproConfig extends SearchConfig {
  /** Instructions of each component, the original included; also how many sets of demonstrations there are at first. */
  numCandidates: number;
  /** How many combinations are tried, each on one minibatch. */
  numTrials: number;
  /** Demonstrations in a prompt, at most: what was answered well, and what the container told was right. */
  maxBootstrappedDemos: number;
  maxLabeledDemos: number;
}

export const miproLimits = {
  ...searchLimits,
  numCandidates: 50,
  demos: 32,
  /** Rollouts of all trials together: their rewards are a large part of the state. */
  trialRollouts: 7_000,
  /** Rollouts of evaluations on the way, in all. */
  evaluationsOnTheWay: 7_000,
} as const;

/** Trials between two evaluations, which run at the same time: a generation (5 in DSPy's MIPROv2). */
export const trialsAtOnce = 5;
/** Equal rollouts with which the noise is looked for before the first trial. */
export const noiseProbes = 4;
/** Good rollouts that a writer of instructions is shown. */
export const goodShown = 3;
/** Rollouts that are spent on finding one that scores well, at most. */
const maxBootstrap = 6;
/** Of a minibatch that nobody named, at most (35 in DSPy's MIPROv2). */
const largestMinibatch = 35;
const smallestMinibatch = 5;

/**
 * An eighth of the evaluation seeds, between 5 and 35: what is believed of a candidate has its parents' rewards in it, so few new ones
 * tell which combinations deserve an evaluation, and more combinations are worth more.
 */
export function defaultMinibatch(evaluationSeeds: number): number {
  return Math.min(evaluationSeeds, largestMinibatch, Math.max(smallestMinibatch, Math.ceil(evaluationSeeds / 8)));
}

/**
 * As many trials as DSPy's MIPROv2 takes for as many choices: an instruction and demonstrations for each component; fewer where
 * the limits have no room for so many.
 */
export function defaultTrials(config: Omit<MiproConfig, 'numTrials'>, components: number): number {
  const { numCandidates } = config;
  const variables = components * (mayHaveDemos(config) ? 2 : 1);
  const wanted = Math.ceil(Math.max(2 * variables * Math.log2(numCandidates), 1.5 * numCandidates));
  const room = miproLimits.candidates - 1 - numCandidates;
  return Math.max(1, Math.min(wanted, room, Math.floor(miproLimits.trialRollouts / trialSize(config))));
}

/** Seeds of a trial. */
export function trialSize({
  minibatchSize,
  evaluationSeeds,
}: Pick<MiproConfig, 'minibatchSize' | 'evaluationSeeds'>): number {
  return Math.min(minibatchSize, evaluationSeeds.length);
}

/** Generations in all. */
export function generationsOf({ numTrials }: Pick<MiproConfig, 'numTrials'>): number {
  return Math.ceil(numTrials / trialsAtOnce);
}

/** Of the instructions that are written before the first trial, at most: two generations' trials. */
const maxInitial = 2 * trialsAtOnce;

/** Instructions that are written before the first trial; the others are written later, from what failed. */
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

/** Rollouts that scored well which the first instructions and demonstrations want: of a half more than a prompt holds. */
export function wantedGood(config: MiproConfig): number {
  return Math.max(goodShown, Math.ceil(1.5 * Math.max(config.maxBootstrappedDemos, config.maxLabeledDemos)));
}

/** Train seeds that are not run anyway, on which the baseline may look for rollouts that score well. */
export function bootstrapSeeds(config: MiproConfig): number[] {
  const known = new Set(config.evaluationSeeds);
  const others = [...new Set(config.trainSeeds)].filter((seed) => !known.has(seed));
  return others.slice(0, maxBootstrap * wantedGood(config));
}

/**
 * The least `maxRollouts` that makes sense: the baseline's evaluation, one trial, the winner's evaluation, what is held out. Live
 * traffic may name no instances: then the best so far runs beside the winner.
 */
export function minimumRollouts(config: MiproConfig, isLive = false): number {
  return (isLive ? 3 : 2) * evaluationRollouts(config) + trialSize(config) + heldoutRollouts(config);
}

/** Everything that makes a config unusable; empty when it is fine. */
export function configProblems(config: MiproConfig, isLive = false): ConfigProblem<keyof MiproConfig>[] {
  const problems: ConfigProblem<keyof MiproConfig>[] = [];
  const check: Check<keyof MiproConfig> = (holds, field, message) => {
    if (!holds) problems.push({ field, message });
  };
  const { numCandidates, numTrials, maxBootstrappedDemos, maxLabeledDemos, maxRollouts } = config;
  const isOne = isCount(numCandidates) && numCandidates <= miproLimits.numCandidates;
  check(isOne, 'numCandidates', `must be an integer from 1 to ${miproLimits.numCandidates}`);
  check(
    numCandidates !== 1 || mayHaveDemos(config),
    'numCandidates',
    'must be at least 2 where max_bootstrapped_demos and max_labeled_demos are 0: there is nothing to choose from',
  );
  check(isCount(numTrials), 'numTrials', 'must be an integer of at least 1');
  for (const [field, count] of Object.entries({ maxBootstrappedDemos, maxLabeledDemos })) {
    const isFine = Number.isSafeInteger(count) && count >= 0 && count <= miproLimits.demos;
    check(isFine, field as keyof MiproConfig, `must be an integer from 0 to ${miproLimits.demos}`);
  }
  checkSearch(config, check);
  if (problems.length > 0) return problems;
  check(
    numTrials + numCandidates < miproLimits.candidates,
    'numTrials',
    `and num_candidates may make ${miproLimits.candidates - 1} candidates together, and are ${numTrials + numCandidates}`,
  );
  const rollouts = numTrials * trialSize(config);
  check(
    rollouts <= miproLimits.trialRollouts,
    'numTrials',
    `times minibatch_size makes ${rollouts} rollouts; at most ${miproLimits.trialRollouts} are allowed`,
  );
  const atOnce = Math.min(numTrials, trialsAtOnce) * trialSize(config);
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
