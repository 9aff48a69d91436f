/** MIPRO (Opsahl-Ong et al., arXiv 2406.11695); `generation.ts` lists the differences. */
import { matchProposals } from '../../proposals/proposer-failures.js';
import { addRewards, afterHeldout, defineSearch } from '../../search/lifecycle.js';
import { knownFailures } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { DemoRequest, ProposalRequest, SearchAlgorithm, SearchRequest } from '../../search/protocol.js';
import type { PhaseOf } from '../../search/state.js';
import { failuresShown } from './config.js';
import { toDescribe } from './demos.js';
import {
  afterBaseline,
  afterCombinations,
  afterDemos,
  afterEvaluation,
  afterInstructions,
  afterMinibatch,
  afterTrials,
  resumeGenerations,
} from './generation.js';
import { leaderOf } from './expected-reward.js';
import { compositionOf } from './space.js';
import type { MiproState } from './state.js';
import { viewMipro } from './view.js';

export const mipro: SearchAlgorithm<MiproState> = defineSearch<MiproState>({
  request(state): SearchRequest {
    const { phase, generation } = state;
    switch (phase.name) {
      case 'demos':
        return { kind: 'demos', request: demoRequest(state, phase.ordinals) };
      case 'instructions':
        return { kind: 'proposals', requests: instructionRequests(phase, generation) };
      case 'combinations':
        return { kind: 'proposals', requests: combinationRequests(state, phase) };
      default:
        throw new Error(`phase "${phase.name}" has no request`);
    }
  },

  respond(state, response, decisions) {
    const { phase } = state;
    if (phase.name === 'demos' && response.kind === 'demos') return afterDemos(state, response.answer, decisions);
    if (phase.name === 'instructions' && response.kind === 'proposals') {
      return afterInstructions(state, phase, matchProposals(plannedOf(phase), response.answers), decisions);
    }
    if (phase.name === 'combinations' && response.kind === 'proposals') {
      return afterCombinations(state, phase, matchProposals(phase.wanted, response.answers), decisions);
    }
    return null;
  },

  advance(before, phase, rewards, decisions) {
    if (phase.name === 'heldout') return afterHeldout(before, phase, rewards);
    const state = addRewards(before, phase.batch, rewards);
    switch (phase.name) {
      case 'baseline':
        return afterBaseline(state, decisions);
      case 'minibatch':
        return afterMinibatch(state, phase.batch.pairs.length, decisions);
      case 'gate':
        return afterTrials(state, phase, decisions);
      case 'evaluation':
        return afterEvaluation(state, phase, decisions);
    }
  },

  resume: resumeGenerations,
  view: viewMipro,
});

/** The most failures that demonstrations are chosen for. */
const maxOpen = 60;

function demoRequest(state: MiproState, ordinals: number[]): DemoRequest {
  const model = rewardModelOf(state);
  const leader = state.components.length === 0 ? 0 : leaderOf(state, model);
  const open = ordinals.length === 0 ? [] : knownFailures(state, model, leader).slice(0, maxOpen);
  const { generation } = state;
  return { generation, ordinals, open: open.map(({ ordinal }) => ordinal), describe: toDescribe(state) };
}

function instructionRequests(
  { wanted, offered }: PhaseOf<MiproState, 'instructions'>,
  generation: number,
): ProposalRequest[] {
  const ordinals = offered.map(({ ordinal }) => ordinal);
  return wanted.map(({ candidate, parents, rewrite, given }, index) => {
    const request = { candidate, parent: parents[0]!, generation };
    if (given !== undefined) return { ...request, kind: 'given', ordinals: [], given };
    if (rewrite === null) return { ...request, kind: 'merge', ordinals: [], merge: parents };
    return { ...request, kind: 'rewrite', ordinals, rewrite, pick: { size: failuresShown, index, of: wanted.length } };
  });
}

function combinationRequests(state: MiproState, { wanted }: PhaseOf<MiproState, 'combinations'>): ProposalRequest[] {
  return wanted.map((combination) => {
    const { candidate, parents } = combination;
    const compose = compositionOf(state, combination);
    return { kind: 'compose', candidate, parent: parents[0]!, generation: state.generation, ordinals: [], compose };
  });
}

/** The proposals that the answers must match; a merge is shown no failure. */
function plannedOf({ wanted, offered }: PhaseOf<MiproState, 'instructions'>) {
  return wanted.map((proposal) => ({ ...proposal, offered: proposal.rewrite === null ? [] : offered }));
}
