/** The rounds of a GEPA search, and the work of a wide one beside the open tests of a round. */
import type { Pair } from '../../search/batch.js';
import { minibatchOf } from '../../search/config.js';
import { stopReason } from '../../search/lifecycle.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { mergedSeeds, planChildren, planGiven } from './children.js';
import { completeEarlier, whyStop } from './completion.js';
import { withSets } from './demonstrations.js';
import { countEvaluation, planEvaluation } from './evaluations.js';
import { incumbentOf } from './pool.js';
import { openRound } from '../../search/round.js';
import { proposalRequests } from '../../search/proposing.js';
import type { Decision, Stage } from '../../search/protocol.js';
import type { GepaState, RoundPhase, Trial } from './state.js';
import { strategyOf } from './strategies.js';
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

/**
 * Adds to a round: given prompts, the next cohort, an evaluation, and exploration for later
 * proposals. The cohort begins beside the test of a merge, from its text: a merge seldom loses.
 */
export function runBeside(
  before: GepaState,
  { tests, children: proposed, gate }: { tests: Trial[]; children: readonly Trial[]; gate: Pair[] },
  decisions: Decision[],
): GepaState {
  const undecided = [...tests, ...proposed];
  let state = completeEarlier(before, undecided, decisions);
  const { asked } = state;
  // Rollouts of this round, and of the first tests that follow it, are spent already.
  const spend = (rollouts: number) => void (state = { ...state, asked: state.asked + rollouts });
  spend(gate.length);
  const children = [...proposed];
  const given = planGiven(state);
  if (given !== null) {
    state = given.state;
    children.push(...given.trials);
    spend(given.trials.length * minibatchOf(state.config));
  }
  const model = rewardModelOf(state);
  const incumbent = incumbentOf(state, model);
  let evaluation: Pair[] | null = null;
  let minibatch: Pair[] = [];
  if (stopReason(state, state.best!.reward, whyStop(state, model, incumbent)) === null) {
    const taken = mergedSeeds(state, undecided);
    const [merge] = undecided.length === 1 ? tests.filter(({ parents }) => parents.length > 1) : [];
    if (merge) {
      const next = { ...state, parent: merge.candidate };
      const cohort = planChildren(next, state.begun + 1, taken);
      if (cohort.length > 0) state = withChildren(next, cohort);
      children.push(...cohort);
      spend(cohort.length * minibatchOf(state.config));
      for (const { offered } of cohort) for (const { seed } of offered) taken.add(seed);
    }
    evaluation = planEvaluation(state, model, incumbent);
    spend(evaluation?.length ?? 0);
    minibatch = strategyOf(state).explore.ahead(state, taken, [...gate, ...(evaluation ?? [])]);
  }
  state = { ...state, asked };
  if (evaluation === null) return beginRound(state, { tests, children, pairs: { gate, minibatch } });
  state = { ...countEvaluation(state, evaluation.length), evaluatedAt: asked };
  return beginRound(state, { tests, children, pairs: { gate, minibatch, evaluation }, evaluation: incumbent });
}

/** The state with the children that a round proposes. */
export function withChildren(state: GepaState, children: readonly Trial[]): GepaState {
  const begun = Math.max(state.begun, ...children.map(({ generation }) => generation));
  const compressed = children.flatMap(({ parents, candidate, approach }) =>
    approach === 'compress' ? [[parents[0]!, candidate]] : [],
  );
  const approaches = children.flatMap(({ candidate, approach, exchanges }) => {
    const how = exchanges ? 'exchange' : approach;
    return how ? [[candidate, how]] : [];
  });
  return {
    ...withSets(state, children),
    begun,
    approaches: { ...state.approaches, ...Object.fromEntries(approaches) },
    nextCandidate: state.nextCandidate + children.length,
    compressed: { ...state.compressed, ...Object.fromEntries(compressed) },
  };
}
