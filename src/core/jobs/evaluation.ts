/** The offline evaluation: one rollout for each seed, in the order given; a seed that is listed twice runs twice. */
import type { RolloutRequest } from '../search/protocol.js';

/** The requests for these seeds; the ordinal of each is its place in the list. */
export function evaluationRequests(seeds: readonly number[]): RolloutRequest[] {
  return seeds.map((seed, ordinal) => ({ ordinal, candidate: 0, seed, stage: 'evaluation', generation: 0 }));
}
