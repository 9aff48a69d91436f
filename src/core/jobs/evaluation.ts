/** Offline evaluation: one rollout per listed seed, in order; a repeated seed runs again. */
import type { RolloutRequest } from '../search/protocol.js';

export function evaluationRequests(seeds: readonly number[]): RolloutRequest[] {
  return seeds.map((seed, ordinal) => ({ ordinal, candidate: 0, seed, stage: 'evaluation', generation: 0 }));
}
