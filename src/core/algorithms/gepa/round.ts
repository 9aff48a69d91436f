/** The rounds of a GEPA search. */
import type { Pair } from '../../search/batch.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { openRound } from '../../search/round.js';
import { proposalRequests } from '../../search/proposing.js';
import type { Stage } from '../../search/protocol.js';
import type { GepaState, RoundPhase, Trial } from './state.js';
import { withHistory } from './tried.js';

/** The work of a round. */
export interface RoundPlan extends Pick<RoundPhase, 'evaluation' | 'begins'> {
  tests?: Trial[];
  children?: Trial[];
  pairs?: Partial<Record<Stage, readonly Pair[]>>;
}

export function beginRound(state: GepaState, { pairs = {}, tests = [], children = [], ...plan }: RoundPlan): GepaState {
  const model = rewardModelOf(state);
  const proposals = proposalRequests(children, state.generation, state.config).map((request) =>
    withHistory(state, model, request),
  );
  const named = { name: 'round' as const, tests, children, proposals, generations: generationsOf(tests) };
  return openRound(state, pairs, (round) => ({ ...round, ...named, ...plan }));
}

/** The generation of each tested child, and of a parent that runs beside it. */
function generationsOf(tests: readonly Trial[]): Record<string, number> {
  const generations: Record<string, number> = {};
  for (const { candidate, generation, parents } of tests) {
    for (const member of [candidate, ...parents]) generations[member] ??= generation;
  }
  return generations;
}
