/**
 * What a GEPA search is told, and what it will cost. One "proposal" costs the parent's minibatch, the child's minibatch
 * (the gate) and, where the child is accepted, its full evaluation.
 */

export interface GepaConfig {
  /** Proposals a generation, all from the pool as it stood when the generation began. */
  populationSize: number;
  generations: number;
  /** Clipped to the number of train seeds. */
  minibatchSize: number;
  trainSeeds: number[];
  evaluationSeeds: number[];
  /** Every rollout asked for counts one, those asked again included; null: no limit. */
  maxRollouts: number | null;
  rngSeed: number;
  /** A rollout with at least this reward is not a failure to learn from; 1 where absent. */
  perfectScore?: number;
  /** Seeds that only baseline and winner are run on, when all is decided; none where absent. */
  heldoutSeeds?: number[];
  /** How often each seed is run in an evaluation; 1 where absent. */
  repeats?: number;
  /** Generations in a row without an accepted proposal that end the search; null or absent: none do. */
  patience?: number | null;
  /** The search ends when a candidate's mean on the evaluation seeds reaches this; null or absent: it does not. */
  targetReward?: number | null;
  /** Whether accepted proposals of a generation are combined; true where absent. */
  merge?: boolean;
}

/** Upper limits that keep the state far below what Temporal takes in one payload; HTTP refuses more. */
export const gepaLimits = {
  /** Candidates in a session, the baseline included: 1 + populationSize * generations. */
  candidates: 500,
  evaluationSeeds: 1_000,
  /** Rollouts of one full evaluation: seeds times repeats. */
  evaluationRollouts: 10_000,
  trainSeeds: 10_000,
  /** Rollouts of one generation's minibatches: populationSize * minibatchSize. */
  minibatchRollouts: 1_000,
  /** Rollouts of one batch of evaluations, which holds whole candidates. */
  batchRollouts: 1_000,
  /** Of why a proposal failed. */
  reasonBytes: 250,
} as const;

/** The minibatch that is really used: never more than there are train seeds. */
export function minibatchOf(config: GepaConfig): number {
  return Math.min(config.minibatchSize, config.trainSeeds.length);
}

/** The most seeds on which a child is tried for what its parent already solves. */
export function guardsOf(config: GepaConfig): number {
  return Math.min(4, config.trainSeeds.length);
}

export function repeatsOf(config: GepaConfig): number {
  return config.repeats ?? 1;
}

/** Rollouts of one full evaluation. */
export function evaluationRollouts(config: GepaConfig): number {
  return config.evaluationSeeds.length * repeatsOf(config);
}

/** Rollouts of the last comparison: baseline and winner on the held-out seeds. */
export function heldoutRollouts(config: GepaConfig): number {
  return 2 * (config.heldoutSeeds?.length ?? 0) * repeatsOf(config);
}

/** Rollouts that one proposal needs in full: both minibatches and the evaluation that lets the child into the pool. */
export function proposalRollouts(config: GepaConfig): number {
  return 2 * minibatchOf(config) + evaluationRollouts(config);
}

/** The least `maxRollouts` that makes sense: the baseline's evaluation, one proposal in full and what is held out. */
export function minimumRollouts(config: GepaConfig): number {
  return evaluationRollouts(config) + proposalRollouts(config) + heldoutRollouts(config);
}

/** The most rollouts a search asks for when no infrastructure fails: every proposal is accepted, or the budget is spent. */
export function estimateRollouts(config: GepaConfig): number {
  const evaluations = evaluationRollouts(config) * (1 + config.generations) + heldoutRollouts(config);
  const proposals = config.generations * config.populationSize * 2 * (minibatchOf(config) + guardsOf(config));
  const all = evaluations + proposals;
  return Math.min(all, config.maxRollouts ?? Infinity);
}

/** One thing wrong with a config, by the name of the field. */
export interface ConfigProblem {
  field: keyof GepaConfig;
  message: string;
}

/** Everything that makes a config unusable; empty when it is fine. */
export function configProblems(config: GepaConfig): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const check = (holds: boolean, field: keyof GepaConfig, message: string) => {
    if (!holds) problems.push({ field, message });
  };
  const { populationSize, generations, minibatchSize, trainSeeds, evaluationSeeds, maxRollouts } = config;
  check(isCount(populationSize), 'populationSize', 'must be an integer of at least 1');
  check(isCount(generations), 'generations', 'must be an integer of at least 1');
  check(isCount(minibatchSize), 'minibatchSize', 'must be an integer of at least 1');
  checkSeeds(check, 'trainSeeds', trainSeeds, gepaLimits.trainSeeds);
  checkSeeds(check, 'evaluationSeeds', evaluationSeeds, gepaLimits.evaluationSeeds);
  const { heldoutSeeds = [], repeats = 1, patience = null, targetReward = null } = config;
  if (heldoutSeeds.length > 0) checkSeeds(check, 'heldoutSeeds', heldoutSeeds, gepaLimits.evaluationSeeds);
  const seen = new Set([...trainSeeds, ...evaluationSeeds]);
  const shared = heldoutSeeds.find((seed) => seen.has(seed));
  check(
    shared === undefined,
    'heldoutSeeds',
    `must not hold seeds that the search sees: ${shared} is among the others`,
  );
  check(isCount(repeats), 'repeats', 'must be an integer of at least 1');
  check(patience === null || isCount(patience), 'patience', 'must be an integer of at least 1');
  check(targetReward === null || Number.isFinite(targetReward), 'targetReward', 'must be a finite number');
  const inFull = evaluationSeeds.length * repeats;
  check(
    inFull <= gepaLimits.evaluationRollouts,
    'repeats',
    `times the evaluation seeds makes ${inFull} rollouts; at most ${gepaLimits.evaluationRollouts} are allowed`,
  );
  check(Number.isSafeInteger(config.rngSeed), 'rngSeed', 'must be an integer between -(2^53 - 1) and 2^53 - 1');
  check(
    config.perfectScore === undefined || Number.isFinite(config.perfectScore),
    'perfectScore',
    'must be a finite number',
  );
  if (problems.length > 0) return problems;
  const candidates = 1 + populationSize * generations;
  check(
    candidates <= gepaLimits.candidates,
    'generations',
    `times population_size makes ${candidates} candidates with the baseline; at most ${gepaLimits.candidates} are allowed`,
  );
  const rollouts = populationSize * minibatchOf(config);
  check(
    rollouts <= gepaLimits.minibatchRollouts,
    'minibatchSize',
    `times population_size makes ${rollouts} rollouts; at most ${gepaLimits.minibatchRollouts} are allowed`,
  );
  const least = minimumRollouts(config);
  check(
    maxRollouts === null || (Number.isSafeInteger(maxRollouts) && maxRollouts >= least),
    'maxRollouts',
    `must be an integer of at least ${least}: the baseline's evaluation and one proposal need that many rollouts`,
  );
  return problems;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

function checkSeeds(
  check: (holds: boolean, field: keyof GepaConfig, message: string) => void,
  field: 'trainSeeds' | 'evaluationSeeds' | 'heldoutSeeds',
  seeds: number[],
  most: number,
): void {
  check(seeds.length >= 1 && seeds.length <= most, field, `must hold between 1 and ${most} seeds`);
  check(seeds.every(Number.isSafeInteger), field, 'must hold integers only');
}
