/**
 * Open text: an edit changes answers on other rows than those it was written for. A search on rows
 * with right answers learns from its children whether that is so; explicit rules know no such loss.
 */
import { isSolved, mean, square, sum } from '../../math/rewards.js';
import type { RewardModel } from '../../search/reward-model.js';
import { searchRollouts } from '../../search/budget.js';
import { comparedSeeds, posteriorsLeft, type ComparedSeed } from '../../search/targeted-test.js';
import { isSet, type GepaState, type Trial } from './state.js';

/** Solved rows of the parent on which a child that gained is tested. */
export const solvedTested = 3;
/** Further rows on which one that gains over all is compared. */
const confirmedOn = 8;
/** Standard errors by which the gain over all rows must exceed 0. */
const requiredErrors = 0.3;

/** The share of the solved rows that children lose, from which on text is open. */
const leastLosses = 1 / 20;

/** Not part of any state: several decisions of a step ask. */
const known = new WeakMap<RewardModel, boolean>();

export function isOpenText(state: GepaState, model: RewardModel): boolean {
  if (typeof state.demonstrations !== 'object') return false;
  let isOpen = known.get(model);
  if (isOpen === undefined) known.set(model, (isOpen = losesElsewhere(state, model)));
  return isOpen;
}

/** Turns tell a model nothing but other rows: where they change an answer, texts do, too. */
function losesElsewhere(state: GepaState, model: RewardModel): boolean {
  const tests = state.candidates
    .filter(({ parents }) => parents.length === 1)
    .map(({ candidate }) => ({ candidate, rows: comparedSeeds(state, model, candidate) }));
  const hasChanged = ({ own, expected }: ComparedSeed) => Math.abs(own - expected.mean) > 1e-9;
  if (tests.some(({ candidate, rows }) => isSet(state, candidate) && rows.some(hasChanged))) return true;
  const solved = tests.flatMap(({ rows }) => rows.filter(({ expected }) => isSolved(expected.mean)));
  const lost = solved.filter(({ own }) => !isSolved(own));
  return lost.length > 0 && lost.length >= leastLosses * solved.length;
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
  const known = state.order.flatMap((seed) => model.posterior(parents[0]!, seed) ?? []);
  const strata = [true, false].map((solved) => {
    const differences = compared
      .filter(({ expected }) => isSolved(expected.mean) === solved)
      .map(({ own, expected }) => own - expected.mean);
    return { rows: known.filter((posterior) => isSolved(posterior.mean) === solved).length, differences };
  });
  const [gain, variance] = strata.reduce(
    ([total, error], { rows, differences }) => {
      const count = differences.length;
      if (count === 0) return [total, error];
      const center = mean(differences)!;
      // One more row with the opposite result: a few rows without a loss show no certainty.
      const squares = sum(differences.map((difference) => square(difference - center))) + square(1 - Math.abs(center));
      return [total + rows * center, error + (square(rows) * squares) / square(count + 1)];
    },
    [0, 0],
  );
  return gain > 0 && gain >= errors * Math.sqrt(variance);
}
