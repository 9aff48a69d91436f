/** The config fields that all algorithms share, and their limits. */
import { pairsOf, type Pair } from './batch.js';

export interface SearchConfig {
  /** Seeds of a minibatch; clipped to the number of train seeds. */
  minibatchSize: number;
  trainSeeds: number[];
  evaluationSeeds: number[];
  /** Limit of requested rollouts, repeated requests included; null: none. */
  maxRollouts: number | null;
  rngSeed: number;
  /** Seeds for the comparison of baseline and winner at the end. */
  heldoutSeeds: number[];
  /** Rollouts of each seed in an evaluation. */
  repeats: number;
  /** The search ends after this many generations in a row without progress; null: never. */
  patience: number | null;
  /** The search ends when a candidate's mean on the evaluation seeds reaches this; null: never. */
  targetReward: number | null;
  /** The policy samples its answers, so that equal rollouts may differ. */
  isSampled?: true;
}

/** Whether equal calls may get different answers: without a temperature, providers sample. */
export function samples({ provider, temperature }: { provider: string; temperature?: unknown }): boolean {
  return provider !== 'local' && temperature !== 0;
}

/** Limits that keep a step of a search below a second; HTTP refuses more. */
export const searchLimits = {
  /** Candidates of a session, the baseline included: each step compares them all. */
  candidates: 2_000,
  evaluationSeeds: 1_000,
  /** Rollouts of one full evaluation: seeds times repeats. */
  evaluationRollouts: 10_000,
  trainSeeds: 10_000,
  /** Rollouts of one generation's minibatches. */
  minibatchRollouts: 1_000,
  /** Length of the reason of a failed proposal. */
  reasonBytes: 250,
} as const;

export function minibatchOf(config: Pick<SearchConfig, 'minibatchSize' | 'trainSeeds'>): number {
  return Math.min(config.minibatchSize, config.trainSeeds.length);
}

export function evaluationRollouts(config: Pick<SearchConfig, 'evaluationSeeds' | 'repeats'>): number {
  return config.evaluationSeeds.length * config.repeats;
}

/** A candidate on each of the seeds, `repeats` times. */
export function evaluationPairs({ repeats }: SearchConfig, candidate: number, seeds: readonly number[]): Pair[] {
  return Array.from({ length: repeats }, () => pairsOf(candidate, seeds)).flat();
}

export function heldoutRollouts(config: Pick<SearchConfig, 'heldoutSeeds' | 'repeats'>): number {
  return 2 * config.heldoutSeeds.length * config.repeats;
}

export interface ConfigProblem<Field> {
  field: Field;
  message: string;
}

/** Records a problem if `holds` is false. */
export type Check<Field> = (holds: boolean, field: Field, message: string) => void;

export function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

/** Checks the shared fields, except `maxRollouts`: its minimum depends on the algorithm. */
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
