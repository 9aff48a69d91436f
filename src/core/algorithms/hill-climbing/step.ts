/**
 * Hill climbing: rewrites the best candidate from its failures, evaluates every rewrite in full,
 * and moves to the best one if it gains.
 */
import { exceeds, mean } from '../../math/rewards.js';
import { matchProposals } from '../../proposals/proposer-failures.js';
import { remainingRollouts } from '../../search/budget.js';
import { evaluationRollouts, heldoutRollouts } from '../../search/config.js';
import { evaluationPairs, evaluationRewards, heldoutPairs, recordEvaluation } from '../../search/evaluation.js';
import { knownFailures } from '../../search/failure-pool.js';
import {
  addRewards,
  afterHeldout,
  ask,
  defineSearch,
  finish,
  recordGeneration,
  stopReason,
} from '../../search/lifecycle.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { addProposals, proposalRequest } from '../../search/proposing.js';
import type { Decision, SearchAlgorithm, StoppedBy } from '../../search/protocol.js';
import type { PhaseOf } from '../../search/state.js';
import { noiseView, searchView, verdictBySeeds } from '../../search/view.js';
import type { HillClimbingState } from './state.js';

export const hillClimbing: SearchAlgorithm<HillClimbingState> = defineSearch<HillClimbingState>({
  request({ phase, generation, config }) {
    return proposalRequest((phase as PhaseOf<HillClimbingState, 'proposals'>).planned, generation, config);
  },

  respond(state, response, decisions) {
    const { phase } = state;
    if (phase.name !== 'proposals' || response.kind !== 'proposals') return null;
    const answers = matchProposals(phase.planned, response.answers);
    const proposed = phase.planned.filter((_, index) => answers[index]!.outcome === 'proposed');
    const after = addProposals(state, proposed, answers, decisions);
    if (after.phase.name === 'failed') return after;
    const neighbors = proposed.map(({ candidate }) => candidate);
    if (neighbors.length === 0) return endGeneration(after, decisions);
    const { config } = state;
    const pairs = neighbors.flatMap((candidate) => evaluationPairs(config, candidate, config.evaluationSeeds));
    return ask<HillClimbingState>(after, pairs, (batch) => ({ name: 'evaluation', batch, neighbors }));
  },

  advance(before, phase, rewards, decisions) {
    if (phase.name === 'heldout') return afterHeldout(before, phase, rewards);
    const state = addRewards(before, phase.batch, rewards);
    const candidates = phase.name === 'baseline' ? [0] : phase.neighbors;
    const evaluated = candidates.reduce((after, candidate) => evaluate(after, candidate, decisions), state);
    return endGeneration(evaluated, decisions);
  },

  view(state) {
    return searchView(state, {
      totalGenerations: state.config.generations,
      rolloutsAhead: (state.config.generations - state.generation) * rolloutsPerGeneration(state),
      best: state.best,
      estimate: null,
      noise: noiseView(state.results),
      verdict: () => verdictBySeeds(state, (candidate) => evaluationRewards(state, candidate)),
    });
  },
});

function evaluate(before: HillClimbingState, candidate: number, decisions: Decision[]): HillClimbingState {
  const rated = { candidate, reward: mean(evaluationRewards(before, candidate))! };
  const state = recordEvaluation(before, rated, before.config.evaluationSeeds.length, decisions);
  return { ...state, best: state.best === null || exceeds(rated.reward, state.best.reward) ? rated : state.best };
}

function endGeneration(before: HillClimbingState, decisions: Decision[]): HillClimbingState {
  const best = before.best!;
  const isBetter = before.generation > 0 && exceeds(best.reward, before.history.at(-1)!);
  const state = recordGeneration(before, best, before.generation === 0 || isBetter ? 0 : before.quiet + 1, decisions);
  const stoppedBy = stopReason(state, best.reward, whyStop(state));
  if (stoppedBy !== null) return finish(state, stoppedBy, heldoutPairs(state, best.candidate));
  const { nextCandidate, config, generation } = state;
  const offered = failuresOf(state).map(({ ordinal, seed }) => ({ ordinal, seed }));
  const planned = Array.from({ length: Math.min(config.neighbors, offered.length) }, (_, index) => {
    return { candidate: nextCandidate + index, parents: [best.candidate], offered };
  });
  return {
    ...state,
    generation: generation + 1,
    nextCandidate: nextCandidate + planned.length,
    phase: { name: 'proposals', planned },
  };
}

function whyStop(state: HillClimbingState): StoppedBy | null {
  if (state.generation >= state.config.generations) return 'generations';
  if (failuresOf(state).length === 0) return 'solved';
  const left = remainingRollouts(state) - heldoutRollouts(state.config);
  return left < rolloutsPerGeneration(state) ? 'max_rollouts' : null;
}

function failuresOf(state: HillClimbingState) {
  return knownFailures(state, rewardModelOf(state), state.best!.candidate);
}

function rolloutsPerGeneration({ config }: HillClimbingState): number {
  return config.neighbors * evaluationRollouts(config);
}
