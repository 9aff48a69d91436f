/**
 * GEPA (Agrawal et al., arXiv 2507.19457) as a search: `next` names the work it wants, `apply` folds the answers in. What
 * differs from the reference implementation, and why, is said in `generation.ts`.
 *
 * Invariants: all of a generation's proposals come from the pool as it stood when the generation began; answers are folded
 * in the order asked, so the path follows from config and answers alone; `next` only reads; `apply` leaves its argument as it
 * was and refuses answers to anything else than what `next` asks for.
 */
import type { SearchResponse, Decision, RolloutAnswer, SearchAlgorithm, SearchRequest } from '../../search/protocol.js';
import { rewardsOf } from '../../search/batch.js';
import {
  afterBaseline,
  afterEvaluation,
  afterGate,
  afterHeldout,
  afterMinibatch,
  afterProposals,
} from './generation.js';
import { matchProposals } from '../../proposals/proposer-failures.js';
import { addCosts } from '../../search/costs.js';
import { addResults } from '../../search/results.js';
import type { GepaState, RolloutPhase } from './state.js';
import { answerBatch, proposalRequest, mismatchedResponse, warnOfBudget, requestOf } from '../../search/search-step.js';
import { viewGepa } from './view.js';

/** GEPA as a search over a state that `createGepa` begins. */
export const gepa: SearchAlgorithm<GepaState> = { next, apply, view: viewGepa };

function next({ phase, generation, config }: GepaState): SearchRequest {
  return phase.name === 'proposals' ? proposalRequest(phase.trials, generation, config) : requestOf(phase, generation);
}

function apply(state: GepaState, answers: SearchResponse): { state: GepaState; decisions: Decision[] } {
  const decisions: Decision[] = [];
  const after = fold(state, answers, decisions);
  return { state: warnOfBudget(after, decisions), decisions };
}

function fold(state: GepaState, answers: SearchResponse, decisions: Decision[]): GepaState {
  const { phase } = state;
  if (phase.name === 'proposals' && answers.kind === 'proposals') {
    return afterProposals(state, phase, matchProposals(phase.trials, answers.answers), decisions);
  }
  if ('batch' in phase && answers.kind === 'rollouts') return foldRollouts(state, phase, answers.answers, decisions);
  throw mismatchedResponse(answers, next(state));
}

function foldRollouts(
  before: GepaState,
  phase: RolloutPhase,
  answers: readonly RolloutAnswer[],
  decisions: Decision[],
): GepaState {
  const { batch, counts } = answerBatch(before, phase, answers);
  const state: GepaState = { ...before, ...counts, ...costsAfter(before, phase, answers), phase: { ...phase, batch } };
  const rewards = rewardsOf(batch);
  if (rewards === null) return state;
  if (phase.name === 'heldout') return afterHeldout(state, phase, rewards);
  const measured = batch.pairs.map(([candidate, seed], index) => {
    return { candidate, seed, ordinal: batch.ordinals[index]!, reward: rewards[index]! };
  });
  const known = { ...state, results: addResults(state.results, measured) };
  switch (phase.name) {
    case 'baseline':
      return afterBaseline(known, decisions);
    case 'minibatch':
      return afterMinibatch(known, phase, decisions);
    case 'gate':
      return afterGate(known, phase, decisions);
    case 'evaluation':
      return afterEvaluation(known, phase, decisions);
  }
}

/** What the answers cost; of a rollout that failed it says nothing of what a whole one takes. */
function costsAfter(
  { costs }: GepaState,
  { batch }: RolloutPhase,
  answers: readonly RolloutAnswer[],
): Pick<GepaState, 'costs'> {
  const candidateOf = new Map(batch.ordinals.map((ordinal, index) => [ordinal, batch.pairs[index]![0]]));
  const known = answers.flatMap(({ ordinal, reward, cost }) => {
    return reward === null || cost === undefined ? [] : [{ candidate: candidateOf.get(ordinal)!, cost }];
  });
  return known.length === 0 ? {} : { costs: addCosts(costs ?? {}, known) };
}
