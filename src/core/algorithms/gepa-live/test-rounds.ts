/**
 * The order of rollouts over traffic that may drift: rounds in which each candidate has one turn.
 * The order within a round is random: the test assumes random assignment, and periodic calls would
 * otherwise always meet the same candidate.
 */
import { shuffle, type Rng } from '../../math/random.js';
import type { Pair } from '../../search/batch.js';
import type { GepaConfig } from '../gepa/config.js';
import { evaluationRollouts, minibatchOf } from '../../search/config.js';

/** Rounds after which a test reaches its maximum. */
const roundsOfTest = 8;
/** The least maximum of pairs: with fewer a difference can hardly be shown. */
const minTestPairs = 30;
/** Rollouts of one round: limits the state and Temporal's payloads. */
const maxRoundRollouts = 2_000;
/** Turns of each candidate in one batch, for the same reason: each turn is a group of requests. */
const maxTurns = 1_000;

/** Pairs after which an undecided test ends. */
export function maxTestPairs(config: GepaConfig): number {
  return Math.max(minTestPairs, evaluationRollouts(config));
}

/** Rollouts of the incumbent and of each child in the next round, after `pairs` tested pairs. */
export function roundSize(config: GepaConfig, children: number, pairs: number): number {
  const most = maxTestPairs(config);
  const wanted = Math.max(minibatchOf(config), Math.ceil(most / roundsOfTest));
  return Math.min(wanted, Math.max(1, Math.floor(maxRoundRollouts / (children + 1))), most - pairs);
}

/** Each candidate `count` times, in turns of equal length; the seed of a pair is its index. */
export function scheduleRounds(before: Rng, candidates: readonly number[], count: number): [pairs: Pair[], rng: Rng] {
  const turn = Math.ceil(count / maxTurns);
  const schedule: number[] = [];
  let rng = before;
  for (let done = 0; done < count; done += turn) {
    const [round, next] = shuffle(rng, candidates);
    rng = next;
    for (const candidate of round)
      for (let at = done; at < Math.min(done + turn, count); at++) schedule.push(candidate);
  }
  return [schedule.map((candidate, index): Pair => [candidate, index]), rng];
}

/** A candidate `count` times; the seed of a pair is its index. */
export function repeatCandidate(candidate: number, count: number): Pair[] {
  return Array.from({ length: count }, (_, index): Pair => [candidate, index]);
}
