/**
 * The targeted test of a child, instead of a full evaluation. The child runs the failures that it
 * was shown, then regression seeds that its parent solves, until the losses equal the gains. With
 * noise the gain must exceed the standard error (a sequential z-test), and parent and child repeat
 * the failures for up to `maxRounds`. A child that costs clearly less, or whose text is a shorter
 * form of its parent's, must only not lose.
 * Invariants: a child of one parent is accepted only with a measured gain, or without a loss as
 * cheaper or shorter. Without noise, any other child that loses as much as it gains is rejected. A
 * merge must only not lose: its parts have shown their gains. Requests follow from results alone.
 */
import { pairsOf, type Pair } from '../../search/batch.js';
import type { RewardModel } from '../../search/reward-model.js';
import { isCheaper } from '../../search/costs.js';
import { ablationSeeds, shorteningRows, tellingRows } from './ablation.js';
import { maxRegressionSeeds } from './config.js';
import { confirmingSeeds, raceGain, wonRace } from './demonstrations.js';
import { gainsOverall } from './open-text.js';
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import {
  comparedSeeds,
  gainedOn,
  maxRounds,
  solvedSeeds,
  sumsOf,
  type ComparedSeed,
  type TestSums,
} from '../../search/targeted-test.js';
import { isShortened, type GepaState, type Trial } from './state.js';
import { strategyOf } from './strategies.js';

/** `saves`: accepted for its cost or length alone; `overtaken`: another set gained more. */
export interface AcceptanceResult extends Pick<TestSums, 'expectedSum' | 'childSum'> {
  accepted: boolean;
  overtaken?: true;
  saves?: 'cheaper' | 'shorter';
}

/** Further rollouts, or the verdict. */
export type AcceptanceStep = { ask: Pair[] } | AcceptanceResult;

/** The next step of a child after a test round. */
export function decideAcceptance(state: GepaState, model: RewardModel, trial: Trial): AcceptanceStep {
  const { candidate, parents, shown, rounds } = trial;
  if (isShortened(trial) && rounds === 1 && losesNothing(state, model, trial)) {
    return { ask: pairsOf(candidate, tellingRows(state, model, parents[0]!, candidate).slice(0, shorteningRows)) };
  }
  const races = isRacing(trial);
  const { accept: rules } = strategyOf(state, model);
  const compared = comparedSeeds(state, model, candidate);
  const sums = sumsOf(compared, model);
  const verdict = verdictOf(state, model, trial, compared);
  if (isShortened(trial)) return verdict;
  const { slack } = sums;
  const gain = races ? raceGain(state, model, trial) : sums.gain;
  const mayBeCheaper = gain >= -slack && savingOf(state, trial) !== null;
  if (parents.length > 1 || (gain <= slack && !mayBeCheaper)) return verdict;
  if (rounds === 1 && races && !wonRace(state, model, trial)) return { ...verdict, accepted: false, overtaken: true };
  if (rounds === 1) {
    const least = rules.leastSolved(state, mayBeCheaper || model.noise.variance > 0);
    const seeds = regressionSeeds(state, model, trial, least);
    if (seeds.length > 0) return { ask: pairsOf(candidate, seeds) };
  }
  if (rounds === 2 && !races) {
    const seeds = rules.confirm(state, model, trial, compared);
    if (seeds.length > 0) return { ask: pairsOf(candidate, seeds) };
  }
  const isFinal = verdict.accepted || gain <= slack || model.noise.variance === 0;
  if (isFinal || rounds >= maxRounds) return verdict;
  const [parent] = parents;
  return {
    ask: shown.flatMap((seed): Pair[] => [
      [parent!, seed],
      [candidate, seed],
    ]),
  };
}

/** Whether the child competes with other sets of turns: at most the best one is accepted. */
function isRacing(trial: Trial): boolean {
  return trial.compose !== undefined && !trial.exchanges && !isShortened(trial);
}

/** Whether a child that lost text, or has other turns, still lacks its regression test. */
export function isUntested(state: GepaState, model: RewardModel, { rounds, removed, compose }: Trial): boolean {
  const isRisky = removed.length > 0 || compose !== undefined || strategyOf(state, model).accept.isRisky;
  return model.noise.variance === 0 && rounds === 1 && isRisky;
}

/** The verdict from the known results, if the budget does not cover further rollouts. */
export function decideFromKnownResults(state: GepaState, model: RewardModel, trial: Trial): AcceptanceResult {
  return verdictOf(state, model, trial, comparedSeeds(state, model, trial.candidate));
}

function verdictOf(
  state: GepaState,
  model: RewardModel,
  trial: Trial,
  compared: readonly ComparedSeed[],
): AcceptanceResult {
  const { expectedSum, childSum, gain, slack, isGain, isKept } = sumsOf(compared, model);
  if (isRacing(trial)) return { accepted: gainsOverall(state, model, trial, compared), expectedSum, childSum };
  if (trial.parents.length > 1) return { accepted: isKept, expectedSum, childSum };
  if (isShortened(trial)) {
    const accepted = trial.rounds > 1 && losesNothing(state, model, trial);
    return { accepted, ...(accepted && { saves: 'shorter' }), expectedSum, childSum };
  }
  if (isGain && strategyOf(state, model).accept.lasts(state, model, trial, compared))
    return { accepted: true, expectedSum, childSum };
  // A child that solves nothing is cheap too, so require a parent with something to lose.
  const saves = gain >= -slack && expectedSum > slack && trial.rounds > 1 ? savingOf(state, trial) : null;
  return { accepted: saves !== null, ...(saves && { saves }), expectedSum, childSum };
}

/** Whether a prompt without some of its parts has lost none of the rows that it ran. */
function losesNothing(state: GepaState, model: RewardModel, { candidate }: Trial): boolean {
  return comparedSeeds(state, model, candidate).every(({ own, expected }) => own >= expected.mean - 1e-9);
}

function savingOf({ costs }: GepaState, { candidate, parents, approach }: Trial): 'cheaper' | 'shorter' | null {
  const [parent] = parents;
  if (isCheaper(costs, candidate, parent!)) return 'cheaper';
  return approach === 'compress' && !isCheaper(costs, parent!, candidate) ? 'shorter' : null;
}

/**
 * Seeds that the parent solves: those of removed text first, then the oldest; at least `least`,
 * more for a child that lacks text of its parent.
 */
export function regressionSeeds(state: GepaState, model: RewardModel, trial: Trial, least: number): number[] {
  const { candidate, parents, removed, ablation, approach } = trial;
  if (isRacing(trial)) return confirmingSeeds(state, model, trial);
  const solved = solvedSeeds(state, model, parents[0]!, candidate);
  if (ablation !== undefined || approach === 'compress')
    return solved.slice(0, Math.max(1, Math.min(ablationSeeds(state), searchRollouts(state))));
  const taught = removed.flatMap((ancestor) =>
    solved.filter((seed) => gainedOn(state.results, model, ancestor, seed)).slice(0, 2),
  );
  // One changed step can break every seed of a graph at once.
  const additions = state.config.editsStructure ? Math.max(1, least) : least;
  const most = strategyOf(state, model).accept.mostSolved(state);
  const count = Math.min(most, Math.max(additions, removed.length > 0 ? minibatchOf(state.config) : 0));
  return [...new Set([...taught, ...solved])].slice(
    0,
    Math.max(count, Math.min(taught.length, maxRegressionSeeds(state.config))),
  );
}
