/**
 * Open text: an edit changes answers on other rows than those it was written for. A search on rows
 * with right answers learns from its children whether that is so; explicit rules know no such loss.
 */
import { isSolved, mean, square, sum } from '../../math/rewards.js';
import type { RewardModel } from '../../search/reward-model.js';
import { searchRollouts } from '../../search/budget.js';
import { evaluationRollouts } from '../../search/config.js';
import { cacheByModel } from '../../search/model-cache.js';
import { comparedSeeds, posteriorsLeft, type ComparedSeed } from '../../search/targeted-test.js';
import { mostTurns } from './shown-rows.js';
import { isSet, type GepaState, type Trial } from './state.js';

/** Solved rows of the parent on which a child that gained is tested. */
export const solvedTested = 3;
/** Further rows on which one that gains over all is compared. */
const confirmedOn = 8;
/** Standard errors by which the gain over all rows must exceed 0. */
const requiredErrors = 0.3;

/** The same while no turns can show whether text is open. */
export function solvedToLearn({ demonstrations, config }: GepaState): number {
  return typeof demonstrations === 'object' && mostTurns(config, demonstrations) === 0 ? 1 : 0;
}

/** Evaluations that the budget must have left for that of the first candidate that gained. */
const leftForAnchor = 2;
/** The share of the solved rows that children lose, from which on text is open. */
const leastLosses = 1 / 20;

/** Several decisions of a step ask. */
const lastAnswer = cacheByModel<GepaState['demonstrations'], boolean>();

export function isOpenText(state: GepaState, model: RewardModel): boolean {
  const { demonstrations } = state;
  if (typeof demonstrations !== 'object' || !demonstrations.isLabeled) return false;
  return lastAnswer(model, demonstrations, () => changesElsewhere(state, model));
}

/** Turns tell a model nothing but other rows: where they change an answer, texts do, too. */
function changesElsewhere(state: GepaState, model: RewardModel): boolean {
  const tests = state.candidates
    .filter(({ parents }) => parents.length === 1)
    .map(({ candidate }) => ({ candidate, rows: comparedSeeds(state, model, candidate) }));
  const hasChanged = ({ own, expected }: ComparedSeed) => Math.abs(own - expected.mean) > 1e-9;
  if (tests.some(({ candidate, rows }) => isSet(state, candidate) && rows.some(hasChanged))) return true;
  const solved = tests.flatMap(({ rows }) => rows.filter(({ expected }) => isSolved(expected.mean)));
  const lost = solved.filter(({ own }) => !isSolved(own));
  return lost.length > 0 && lost.length >= leastLosses * solved.length;
}

/** Whether the incumbent gained, and only the baseline has been evaluated. */
export function isFirstGain(state: GepaState, _: RewardModel, incumbent: number): boolean {
  const evaluated = state.candidates.filter(({ reward }) => reward !== null).length;
  const cost = evaluationRollouts(state.config);
  return evaluated === 1 && incumbent !== 0 && searchRollouts(state) >= leftForAnchor * cost;
}

/** Further rows of the parent for a text that gains over all rows so far; empty: it does not. */
export function confirmingRows(
  state: GepaState,
  model: RewardModel,
  trial: Trial,
  compared: readonly ComparedSeed[],
): number[] {
  if (!gainsOverall(state, model, trial, compared, 0)) return [];
  const left = posteriorsLeft(state, model, trial.parents[0]!, trial.candidate);
  return left.slice(0, Math.min(confirmedOn, searchRollouts(state))).map(({ seed }) => seed);
}

/**
 * Whether a child gains over all rows that its parent ran. Its test prefers failures, so the gain
 * on these and the loss on solved rows count by their numbers.
 */
export function gainsOverall(
  state: GepaState,
  model: RewardModel,
  { parents }: Trial,
  compared: readonly ComparedSeed[],
  errors = requiredErrors,
): boolean {
  const { gain, variance } = overallGain(state, model, parents[0]!, compared);
  return gain > 0 && gain >= errors * Math.sqrt(variance);
}

/** The gain over all rows that the parent ran, estimated from those compared, with its variance. */
export function overallGain(
  state: GepaState,
  model: RewardModel,
  parent: number,
  compared: readonly ComparedSeed[],
): { gain: number; variance: number; rows: number } {
  const inherited = state.order.flatMap((seed) => model.posterior(parent, seed) ?? []);
  let [gain, variance] = [0, 0];
  for (const solved of [true, false]) {
    const differences = compared
      .filter(({ expected }) => isSolved(expected.mean) === solved)
      .map(({ own, expected }) => own - expected.mean);
    const center = mean(differences);
    if (center === null) continue;
    const rows = inherited.filter((posterior) => isSolved(posterior.mean) === solved).length;
    // One more row with the opposite result: a few rows without a loss show no certainty.
    const opposite = square(1 - Math.abs(center));
    const squares = sum(differences.map((difference) => square(difference - center))) + opposite;
    gain += rows * center;
    variance += (square(rows) * squares) / square(differences.length + 1);
  }
  return { gain, variance, rows: inherited.length };
}
