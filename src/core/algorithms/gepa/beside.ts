/** The work of a wide search beside the open tests of a round. */
import type { Pair } from '../../search/batch.js';
import { minibatchOf } from '../../search/config.js';
import { stopReason } from '../../search/lifecycle.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { Decision } from '../../search/protocol.js';
import { mergedSeeds, planChildren } from './children.js';
import { completeEarlier, whyStop } from './completion.js';
import { planEvaluation } from './evaluations.js';
import { exploreAhead } from './exploration.js';
import { planGiven } from './given.js';
import { incumbentOf } from './pool.js';
import { beginRound } from './round.js';
import type { GepaState, Trial } from './state.js';

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
    minibatch = exploreAhead(state, taken, [...gate, ...(evaluation ?? [])]);
  }
  state = { ...state, asked };
  if (evaluation === null) return beginRound(state, { tests, children, pairs: { gate, minibatch } });
  state = { ...state, evaluationsAsked: state.evaluationsAsked + evaluation.length, evaluatedAt: asked };
  return beginRound(state, { tests, children, pairs: { gate, minibatch, evaluation }, evaluation: incumbent });
}

/** The state with the children that a round proposes. */
export function withChildren(state: GepaState, children: readonly Trial[]): GepaState {
  const begun = Math.max(state.begun, ...children.map(({ generation }) => generation));
  const compressed = children.flatMap(({ parents, candidate, approach }) =>
    approach === 'compress' ? [[parents[0]!, candidate]] : [],
  );
  const approaches = children.flatMap(({ candidate, approach }) => (approach ? [[candidate, approach]] : []));
  return {
    ...state,
    begun,
    approaches: { ...state.approaches, ...Object.fromEntries(approaches) },
    nextCandidate: state.nextCandidate + children.length,
    compressed: { ...state.compressed, ...Object.fromEntries(compressed) },
  };
}
