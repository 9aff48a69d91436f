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
import type { RoundPlan } from './round.js';
import type { GepaState, Trial } from './state.js';

/**
 * Adds to a round: given prompts, the next cohort, an evaluation, and exploration for later
 * proposals. The cohort begins beside the test of a merge, from its text: a merge seldom loses.
 */
export function planBeside(before: GepaState, round: RoundPlan, decisions: Decision[]): [GepaState, RoundPlan] {
  const { tests } = round;
  const tested = round.pairs.gate!;
  const undecided = [...tests, ...round.proposals];
  let state = completeEarlier(before, undecided, decisions);
  const { asked } = state;
  // Rollouts of this round, and of the first tests that follow it, are spent already.
  const spend = (rollouts: number) => void (state = { ...state, asked: state.asked + rollouts });
  spend(tested.length);
  const proposals = [...round.proposals];
  const given = planGiven(state);
  if (given !== null) {
    state = given.state;
    proposals.push(...given.trials);
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
      const children = planChildren(next, state.begun + 1, taken);
      if (children.length > 0) state = withChildren(next, children);
      proposals.push(...children);
      spend(children.length * minibatchOf(state.config));
      for (const { offered } of children) for (const { seed } of offered) taken.add(seed);
    }
    evaluation = planEvaluation(state, model, incumbent);
    spend(evaluation?.length ?? 0);
    minibatch = exploreAhead(state, taken, [...tested, ...(evaluation ?? [])]);
  }
  const plan = { ...round, proposals, pairs: { ...round.pairs, minibatch } };
  state = { ...state, asked };
  if (evaluation === null) return [state, plan];
  state = { ...state, evaluationsAsked: state.evaluationsAsked + evaluation.length, evaluatedAt: asked };
  return [state, { ...plan, pairs: { ...plan.pairs, evaluation }, evaluation: incumbent }];
}

/** The state with the children that a round proposes. */
export function withChildren(state: GepaState, children: readonly Trial[]): GepaState {
  const begun = Math.max(state.begun, ...children.map(({ generation }) => generation));
  const compressed = children.flatMap(({ parents, candidate, approach }) =>
    approach === 'compress' ? [[parents[0]!, candidate]] : [],
  );
  return {
    ...state,
    begun,
    nextCandidate: state.nextCandidate + children.length,
    compressed: { ...state.compressed, ...Object.fromEntries(compressed) },
  };
}
