/**
 * MIPRO (Opsahl-Ong et al., arXiv 2406.11695) as a search: `next` names the work it wants, `apply` folds the answers in.
 * What differs from the reference implementation, and why, is said in `generation.ts`.
 *
 * Invariants: answers are folded in the order asked, so the path follows from config and answers alone; `next` only reads;
 * `apply` leaves its argument as it was and refuses answers to anything else than what `next` asks for.
 */
import { rewardsOf } from '../../search/batch.js';
import { matchProposals } from '../../proposals/proposer-failures.js';
import { addResults } from '../../search/results.js';
import { answerBatch, newCandidates, mismatchedResponse, warnOfBudget, requestOf } from '../../search/search-step.js';
import type {
  SearchResponse,
  Decision,
  ProposalAnswer,
  RolloutAnswer,
  SearchAlgorithm,
  SearchRequest,
} from '../../search/protocol.js';
import {
  afterBaseline,
  afterEvaluation,
  afterGate,
  afterHeldout,
  afterMinibatch,
  afterDemos,
  runTrials,
} from './generation.js';
import { toDescribe } from './demos.js';
import { compositionOf } from './space.js';
import type { MiproState, PhaseOf, RolloutPhase } from './state.js';
import { viewMipro } from './view.js';
import { afterInstructions } from './instructions.js';

/** Failures that one writer is shown. */
const failuresShown = 3;

/** MIPRO as a search over a state that `createMipro` begins. */
export const mipro: SearchAlgorithm<MiproState> = { next, apply, view: viewMipro };

function next(state: MiproState): SearchRequest {
  const { phase, generation } = state;
  switch (phase.name) {
    case 'demos':
      return { kind: 'demos', request: { generation, ordinals: phase.ordinals, describe: toDescribe(state) } };
    case 'instructions': {
      const ordinals = phase.offered.map(({ ordinal }) => ordinal);
      return {
        kind: 'proposals',
        requests: phase.wanted.map(({ candidate, parents, rewrite }, index) => {
          const request = { candidate, parent: parents[0]!, generation };
          const pick = { size: failuresShown, index, of: phase.wanted.length };
          return rewrite === null
            ? { ...request, kind: 'merge', ordinals: [], merge: parents }
            : { ...request, kind: 'rewrite', ordinals, rewrite, pick };
        }),
      };
    }
    case 'combinations':
      return {
        kind: 'proposals',
        requests: phase.wanted.map(({ candidate, parents, choices }) => ({
          ...{ kind: 'compose', candidate, parent: parents[0]!, generation, ordinals: [] },
          compose: compositionOf(state, choices),
        })),
      };
    default:
      return requestOf(phase, generation);
  }
}

function apply(state: MiproState, answers: SearchResponse): { state: MiproState; decisions: Decision[] } {
  const decisions: Decision[] = [];
  const after = fold(state, answers, decisions);
  return { state: warnOfBudget(after, decisions), decisions };
}

function fold(state: MiproState, answers: SearchResponse, decisions: Decision[]): MiproState {
  const { phase } = state;
  if (phase.name === 'demos' && answers.kind === 'demos') return afterDemos(state, answers.answer, decisions);
  if (phase.name === 'instructions' && answers.kind === 'proposals') {
    return afterInstructions(state, phase, matchProposals(trialsOf(phase), answers.answers), decisions);
  }
  if (phase.name === 'combinations' && answers.kind === 'proposals') {
    return afterCombinations(state, phase, matchProposals(phase.wanted, answers.answers), decisions);
  }
  if ('batch' in phase && answers.kind === 'rollouts') return foldRollouts(state, phase, answers.answers, decisions);
  throw mismatchedResponse(answers, next(state));
}

/** What the answers to a generation's writing have to keep to. */
function trialsOf({ wanted, offered }: PhaseOf<'instructions'>) {
  return wanted.map((one) => ({ ...one, offered: one.rewrite === null ? [] : offered }));
}

/** Combinations are put together; one that says what another says is no trial. */
function afterCombinations(
  before: MiproState,
  { wanted, trying }: PhaseOf<'combinations'>,
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): MiproState {
  const made = wanted.filter((_, index) => answers[index]!.outcome === 'proposed');
  const lost = new Set(wanted.filter((wish) => !made.includes(wish)).map(({ candidate }) => candidate));
  const born = newCandidates(made, before.generation, decisions);
  const state: MiproState = {
    ...before,
    candidates: [...before.candidates, ...born],
    choices: { ...before.choices, ...Object.fromEntries(made.map(({ candidate, choices }) => [candidate, choices])) },
  };
  return runTrials(
    state,
    trying.filter((candidate) => !lost.has(candidate)),
    decisions,
  );
}

function foldRollouts(
  before: MiproState,
  phase: RolloutPhase,
  answers: readonly RolloutAnswer[],
  decisions: Decision[],
): MiproState {
  const { batch, counts } = answerBatch(before, phase, answers);
  const after = { ...phase, batch };
  const state: MiproState = { ...before, ...counts, phase: after };
  const rewards = rewardsOf(batch);
  if (rewards === null) return state;
  if (after.name === 'heldout') return afterHeldout(state, after, rewards);
  const measured = batch.pairs.map(([candidate, seed], index) => {
    return { candidate, seed, ordinal: batch.ordinals[index]!, reward: rewards[index]! };
  });
  const known = { ...state, results: addResults(state.results, measured) };
  switch (after.name) {
    case 'baseline':
      return afterBaseline(known, decisions);
    case 'minibatch':
      return afterMinibatch(known, after, decisions);
    case 'gate':
      return afterGate(known, after, decisions);
    case 'evaluation':
      return afterEvaluation(known, after, decisions);
  }
}
