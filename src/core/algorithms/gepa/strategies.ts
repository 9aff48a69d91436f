/**
 * What a search proposes, selects, accepts, evaluates and demonstrates. A further strategy is a
 * file with these functions and an entry in `strategies`.
 */
import type { Batch, Pair } from '../../search/batch.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { ComparedSeed } from '../../search/targeted-test.js';
import { maxRegressionSeeds } from './config.js';
import { isDemonstrating } from './demonstrations.js';
import { exploreAheadForRules, exploreForRules, exploreFurtherForRules } from './exploration.js';
import { ruleTrials } from './explicit-rules.js';
import { confirmingRows, gainsOverall, isFirstGain, isOpenText, solvedTested, solvedToLearn } from './open-text.js';
import { exploreForText, textTrials } from './arms.js';
import { drawParent } from './parents.js';
import type { GepaState, Trial } from './state.js';

export interface Strategy {
  /** Whether it fits what the search has seen. */
  fits(state: GepaState, model: RewardModel): boolean;
  explore: Exploration;
  /** At most `most` questions on failures of the parent that are not on `taken` seeds. */
  propose(state: GepaState, model: RewardModel, most: number, taken: ReadonlySet<number>): Trial[];
  /** The parent of the generation that begins; undefined: the incumbent. */
  select(state: GepaState): number | undefined;
  accept: AcceptanceRules;
  /** Whether to evaluate the incumbent now, even where the rules of the budget would wait. */
  evaluate(state: GepaState, model: RewardModel, incumbent: number): boolean;
  /** Whether the generation tests sets of turns in place of questions. */
  demonstrate(state: GepaState): boolean;
  /** Whether known texts alone bring a search nearer its end: nothing else is left to find. */
  repeatsAreIdle: boolean;
  /** Whether turns are exchanged beside questions, in place of further races of sets. */
  exchangesTurns: boolean;
}

/** Rollouts of the parent on further seeds, to find failures to ask about; empty: none. */
interface Exploration {
  /** Before the questions of a generation. */
  before(state: GepaState): Pair[];
  /** After `found` brought no failure. */
  further(state: GepaState, found: Batch): Pair[];
  /** Beside `running` rollouts; the failures on `taken` seeds have their question. */
  ahead(state: GepaState, taken: ReadonlySet<number>, running: readonly Pair[]): Pair[];
}

/** What the test of a text demands beside a gain on its failures. */
interface AcceptanceRules {
  /** Solved rows that an addition runs after a gain; `doubtful`: with noise, or if cheaper. */
  leastSolved(state: GepaState, doubtful: boolean): number;
  /** The same of any text, at most. */
  mostSolved(state: GepaState): number;
  /** Further rows of the parent for a text that lost nothing there. */
  confirm(state: GepaState, model: RewardModel, trial: Trial, compared: readonly ComparedSeed[]): number[];
  /** Whether a gain on the compared rows counts. */
  lasts(state: GepaState, model: RewardModel, trial: Trial, compared: readonly ComparedSeed[]): boolean;
  /** Whether a text that gained on failures alone is not yet tested. */
  isRisky: boolean;
}

/** A new text fixes the failures that it was written for, and rarely breaks other rows. */
const explicitRules: Strategy = {
  fits: () => true,
  explore: { before: exploreForRules, further: exploreFurtherForRules, ahead: exploreAheadForRules },
  propose: ruleTrials,
  select: (state) => drawParent(state, true),
  accept: {
    // Without noise a later run of an inherited seed shows any loss, so additions need no test.
    leastSolved: (state, doubtful) => (doubtful ? 1 : solvedToLearn(state)),
    mostSolved: ({ config }) => maxRegressionSeeds(config),
    confirm: () => [],
    lasts: () => true,
    isRisky: false,
  },
  evaluate: () => false,
  demonstrate: (state) => isDemonstrating(state, false),
  repeatsAreIdle: false,
  exchangesTurns: false,
};

/** Every change of a prompt changes answers elsewhere, too. */
const openText: Strategy = {
  fits: isOpenText,
  explore: {
    before: exploreForText,
    further: () => [],
    ahead: (state, _, running) => exploreForText(state, running),
  },
  propose: textTrials,
  // What changes nothing on a few rows may lose on others.
  select: (state) => drawParent(state, false),
  accept: {
    leastSolved: () => solvedTested,
    mostSolved: () => solvedTested,
    confirm: confirmingRows,
    lasts: gainsOverall,
    isRisky: true,
  },
  evaluate: isFirstGain,
  demonstrate: (state) => isDemonstrating(state, true),
  repeatsAreIdle: true,
  exchangesTurns: true,
};

/** The first that fits decides. */
const strategies: readonly Strategy[] = [openText, explicitRules];

export function strategyOf(state: GepaState, model = rewardModelOf(state)): Strategy {
  return strategies.find((strategy) => strategy.fits(state, model))!;
}
