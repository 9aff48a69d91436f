/** The rollouts budget of a GEPA search, and the proposals at once that it pays for. */
import { endRollouts, searchRollouts } from '../../search/budget.js';
import { evaluationRollouts, minibatchOf } from '../../search/config.js';
import { generationsAhead } from '../../search/view.js';
import { maxRegressionSeeds, type GepaConfig } from './config.js';
import type { GepaState } from './state.js';

/** First tests of such cohorts that the rollouts left must cover: a small budget has small ones. */
const cohortsAhead = 14;
/** Evaluations that the rollouts left must cover before slots are filled beside the search. */
const evaluationsAhead = 6;

/** The even share of each remaining proposal; Infinity without a limit. */
export function rolloutsPerProposal(state: GepaState): number {
  return searchRollouts(state) / Math.max(1, proposalsLeft(state, state.config.generations - state.generation + 1));
}

/** The proposals of so many generations, within the trials. */
function proposalsLeft({ config, nextCandidate }: GepaState, generations: number): number {
  return Math.min(config.populationSize * generations, (config.trials ?? Infinity) + 1 - nextCandidate);
}

/** Whether the rollouts left suffice for every proposal: each gets its share of all failures. */
export function areProposalsScarce(state: GepaState): boolean {
  return rolloutsPerProposal(state) > maxProposalRollouts(state.config);
}

/** Whether enough rollouts for all remaining proposals are left after an evaluation. */
export function canSpareEvaluation(state: GepaState): boolean {
  const { config, generation } = state;
  const proposals = proposalsLeft(state, config.generations - generation);
  return searchRollouts(state) - evaluationRollouts(config) >= proposals * maxProposalRollouts(config);
}

/** The most rollouts that are likely to follow without infrastructure failures. */
export function rolloutsAhead(state: GepaState): number {
  const { config } = state;
  const proposals = proposalsLeft(state, generationsAhead(state, config.generations, isLastEvaluation(state)));
  return proposals * maxProposalRollouts(config) + endRollouts(state);
}

/** Whether nothing but an evaluation is in progress, which can be the last. */
function isLastEvaluation({ phase }: GepaState): boolean {
  return phase.name === 'round' && phase.evaluation !== undefined && phase.tests.length + phase.children.length === 0;
}

/** Minibatches of parent and child, and the regression test. */
function maxProposalRollouts(config: GepaConfig): number {
  return 2 * minibatchOf(config) + maxRegressionSeeds(config);
}

/**
 * The proposals that are asked for at once: those of one generation in a sequential search, of
 * several generations where more slots are free. All are made from the same pool.
 */
export function cohortSize(state: GepaState, first: number): number {
  const { config, quiet, generation } = state;
  const { slots, populationSize, generations, patience } = config;
  if (slots === 1) return populationSize;
  // Where proposals are scarce, each generation learns from the one before.
  if (areProposalsScarce(state)) return populationSize;
  const beforePatience = patience === null ? Infinity : patience - quiet - (first - generation);
  const atOnce = Math.min(slots / populationSize, generations - first + 1, beforePatience);
  const affordable = searchRollouts(state) / (cohortsAhead * minibatchOf(config));
  return Math.max(1, Math.floor(Math.min(populationSize * Math.max(1, Math.floor(atOnce)), affordable)));
}

/** Whether more than one proposal is asked for at once, as slots and budget allow. */
export function isWide(state: GepaState): boolean {
  return state.config.slots > 1 && cohortSize(state, state.begun + 1) > 1;
}

/** Whether the budget covers more than the search is likely to need. */
export function isBudgetAmple(state: GepaState): boolean {
  const { config } = state;
  if (config.slots === 1 || config.maxRollouts === null) return false;
  return searchRollouts(state) >= evaluationsAhead * evaluationRollouts(config);
}
