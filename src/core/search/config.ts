/** What every search of sessions is told alike, and what follows from it. */

export interface SearchConfig {
  /** Seeds of a minibatch; clipped to the number of seeds that it is drawn from. */
  minibatchSize: number;
  trainSeeds: number[];
  evaluationSeeds: number[];
  /** Every rollout asked for counts one, those asked again included; null: no limit. */
  maxRollouts: number | null;
  rngSeed: number;
  /** Seeds that only baseline and winner are run on, when all is decided. */
  heldoutSeeds: number[];
  /** How often each seed is run in an evaluation. */
  repeats: number;
  /** Generations in a row without progress that end the search; null: none do. */
  patience: number | null;
  /** The search ends when a candidate's mean on the evaluation seeds reaches this; null: it does not. */
  targetReward: number | null;
}

/** Upper limits that keep the state far below what Temporal takes in one payload; HTTP refuses more. */
export const searchLimits = {
  /** Candidates in a session, the baseline included. */
  candidates: 500,
  evaluationSeeds: 1_000,
  /** Rollouts of one full evaluation: seeds times repeats. */
  evaluationRollouts: 10_000,
  trainSeeds: 10_000,
  /** Rollouts of one generation's minibatches. */
  minibatchRollouts: 1_000,
  /** Of why a proposal failed. */
  reasonBytes: 250,
} as const;

/** The minibatch of train seeds that is really used: never more than there are. */
export function minibatchOf(config: Pick<SearchConfig, 'minibatchSize' | 'trainSeeds'>): number {
  return Math.min(config.minibatchSize, config.trainSeeds.length);
}

/** Rollouts of one full evaluation. */
export function evaluationRollouts(config: Pick<SearchConfig, 'evaluationSeeds' | 'repeats'>): number {
  return config.evaluationSeeds.length * config.repeats;
}

/** Rollouts of the last comparison: baseline and winner on the held-out seeds. */
export function heldoutRollouts(config: Pick<SearchConfig, 'heldoutSeeds' | 'repeats'>): number {
  return 2 * config.heldoutSeeds.length * config.repeats;
}

/** One thing wrong with a config, by the name of the field. */
export interface ConfigProblem<Field> {
  field: Field;
  message: string;
}

/** Collects what is wrong: `check` notes a problem where something does not hold. */
export type Check<Field> = (holds: boolean, field: Field, message: string) => void;

export function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

/** Checks what every search is told alike but `maxRollouts`, whose least is the algorithm's own. */
export function checkSearch(config: SearchConfig, check: Check<keyof SearchConfig>): void {
  const { minibatchSize, trainSeeds, evaluationSeeds, heldoutSeeds, repeats, patience, targetReward } = config;
  check(isCount(minibatchSize), 'minibatchSize', 'must be an integer of at least 1');
  checkSeeds(check, 'trainSeeds', trainSeeds, searchLimits.trainSeeds);
  checkSeeds(check, 'evaluationSeeds', evaluationSeeds, searchLimits.evaluationSeeds);
  if (heldoutSeeds.length > 0) checkSeeds(check, 'heldoutSeeds', heldoutSeeds, searchLimits.evaluationSeeds);
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
    inFull <= searchLimits.evaluationRollouts,
    'repeats',
    `times the evaluation seeds makes ${inFull} rollouts; at most ${searchLimits.evaluationRollouts} are allowed`,
  );
  check(Number.isSafeInteger(config.rngSeed), 'rngSeed', 'must be an integer between -(2^53 - 1) and 2^53 - 1');
}

function checkSeeds(
  check: Check<keyof SearchConfig>,
  field: 'trainSeeds' | 'evaluationSeeds' | 'heldoutSeeds',
  seeds: number[],
  most: number,
): void {
  check(seeds.length >= 1 && seeds.length <= most, field, `must hold between 1 and ${most} seeds`);
  check(seeds.every(Number.isSafeInteger), field, 'must hold integers only');
}
