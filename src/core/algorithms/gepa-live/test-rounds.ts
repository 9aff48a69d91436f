/**
 * How rollouts are spread over traffic that may drift: in rounds, in which each candidate has its turn. Within a round the
 * order is drawn: the test rests on calls being assigned by chance, and calls that come in a fixed rhythm would otherwise
 * meet the same candidate always.
 */
import { shuffle, type Rng } from '../../math/random.js';
import type { Pair } from '../../search/batch.js';
import type { GepaConfig } from '../gepa/config.js';
import { evaluationRollouts, minibatchOf } from '../../search/config.js';

/** Waves after which a test comes to its horizon. */
const wavesOfTest = 8;
/** The fewest pairs at which a test ends without a verdict: fewer can hardly show anything. */
const minHorizon = 30;
/** Rollouts of one wave, which bounds the state and what passes through Temporal. */
const maxOfWave = 2_000;
/** Rounds of one batch, for the same reason: each turn in a round is a group of requests of its own. */
const maxRounds = 1_000;

/** Pairs after which a test that has shown nothing ends. */
export function horizonOf(config: GepaConfig): number {
  return Math.max(minHorizon, evaluationRollouts(config));
}

/** Rollouts of each child, and of the control, in the next wave of a test in which each had `pairs`. */
export function roundSize(config: GepaConfig, children: number, pairs: number): number {
  const horizon = horizonOf(config);
  const wanted = Math.max(minibatchOf(config), Math.ceil(horizon / wavesOfTest));
  return Math.min(wanted, Math.max(1, Math.floor(maxOfWave / (children + 1))), horizon - pairs);
}

/** Each candidate `count` times, in rounds; as seed each has its place. Where they are many a turn is several rollouts. */
export function inRounds(before: Rng, candidates: readonly number[], count: number): [pairs: Pair[], rng: Rng] {
  const turn = Math.ceil(count / maxRounds);
  const drawn: number[] = [];
  let rng = before;
  for (let done = 0; done < count; done += turn) {
    const [round, next] = shuffle(rng, candidates);
    rng = next;
    for (const candidate of round) for (let at = done; at < Math.min(done + turn, count); at++) drawn.push(candidate);
  }
  return [drawn.map((candidate, index): Pair => [candidate, index]), rng];
}

/** A candidate `count` times, with its places as seeds. */
export function timesAlone(candidate: number, count: number): Pair[] {
  return Array.from({ length: count }, (_, index): Pair => [candidate, index]);
}
