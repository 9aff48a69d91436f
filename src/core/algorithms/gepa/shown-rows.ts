/** The rollouts that turns can show: rows with right answers, else good answers of the model. */
import { exceeds, solvedReward } from '../../math/rewards.js';
import { pairsOf, type Pair } from '../../search/batch.js';
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import { knownFailures, unevaluatedSeeds } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { DemoAnswer } from '../../search/protocol.js';
import { firstOfSeeds, measuredOn, rolloutsOf, type RewardedRollout } from '../../search/results.js';
import { openRound } from '../../search/round.js';
import type { GepaConfig } from './config.js';
import { parentOf } from './parents.js';
import type { Demonstrations, GepaState } from './state.js';

/** Rollouts that show whether the job knows right answers at all. */
const probed = 8;
/** The most rollouts that a description of the task is written from. */
const described = 10;
/** The most rollouts of one request. */
const maxRequested = 200;
/** The most failures that demonstrations are chosen for. */
const maxOpen = 60;
/** The part of the range of rewards from which on an answer is good. */
const goodShare = 0.8;

/** Requests the rollouts that can be demonstrations; null: none is new. */
export function requestDemos(state: GepaState): GepaState | null {
  const { demonstrations, results, config, generation } = state;
  if (demonstrations === 'none') return null;
  const isFirst = demonstrations === undefined;
  const all = rolloutsOf(results);
  // A right answer belongs to its row, so any rollout of the row can show it. A good answer belongs
  // to the rollout that scored well, which may be of any candidate.
  const isByRow = isFirst || demonstrations.isLabeled;
  const known = firstOfSeeds(isByRow ? all : goodRollouts(all));
  const train = new Set(config.trainSeeds);
  const onTrain = known.filter(({ seed }) => train.has(seed));
  const isNew = onTrain.some(({ ordinal }) => ordinal >= (demonstrations?.searched ?? 0));
  if (!isFirst && !isNew) return null;
  const wanted = isFirst && onTrain.length === 0 ? known.slice(0, probed) : onTrain;
  const model = rewardModelOf(state);
  const failures = knownFailures(state, model, parentOf(state, model)).slice(0, maxOpen);
  const hasQuestion = failures.length > 0 || unevaluatedSeeds(state, model, 0).length > 0;
  const demos = {
    generation,
    ordinals: ordinalsOf(wanted.slice(-maxRequested)),
    open: ordinalsOf(failures),
    describe: isFirst && config.isGuided && hasQuestion ? ordinalsOf(onTrain.slice(0, described)) : [],
  };
  return openRound<GepaState>(state, {}, (round) => ({ ...round, name: 'demos', demos }));
}

/** Runs of the baseline on train seeds, if none is there to describe the task from. */
export function exploreForDescription(state: GepaState): Pair[] {
  const { config, demonstrations, order, results } = state;
  const hasRun = order.some((seed) => measuredOn(results, 0, seed).length > 0);
  if (!config.isGuided || demonstrations !== undefined || hasRun) return [];
  const most = Math.floor((searchRollouts(state) - minibatchOf(config)) / 2);
  return pairsOf(0, unevaluatedSeeds(state, rewardModelOf(state), 0).slice(0, Math.max(0, Math.min(described, most))));
}

function ordinalsOf(rollouts: readonly { ordinal: number }[]): number[] {
  return rollouts.map(({ ordinal }) => ordinal);
}

/** Keeps what can be shown of the train rows. */
export function addDemos(state: GepaState, { components, slots }: DemoAnswer): GepaState {
  const before = state.demonstrations;
  // With several slots it is unknown which call a right answer belongs to.
  const [only] = slots.length === 1 ? slots : [];
  const isLabeled = only !== undefined && only.labeled.length > 0;
  const open = isLabeled ? slots : slots.filter(({ bootstrapped }) => bootstrapped.length > 0);
  const isUsable = open.length > 0 && (isLabeled || state.config.goodAnswers > 0);
  if (before === undefined && !isUsable) return { ...state, demonstrations: 'none' };
  const known = before === undefined || before === 'none' ? unknown : before;
  // Earlier sets name rows of one kind, for certain slots: keep both for the whole search.
  const isOther = isLabeled !== known.isLabeled || open.some(({ component }) => !known.slots.includes(component));
  if (known.slots.length > 0 && (isOther || open.length !== known.slots.length)) {
    return { ...state, demonstrations: { ...known, searched: state.asked } };
  }
  const canShow = rowsToShow(state, isLabeled);
  const found = open.length > 0 && {
    components: components.length,
    slots: open.map(({ component }) => component),
    isLabeled,
    rows: (isLabeled ? only.labeled : sharedBy(open.map(({ bootstrapped }) => bootstrapped))).filter(canShow),
    sameAnswer: isLabeled ? only.sameAnswer.map((ordinals) => ordinals.filter(canShow)) : [],
    room: isLabeled ? only.room : 0,
  };
  return { ...state, demonstrations: { ...known, ...found, searched: state.asked } };
}

/** Whether a rollout is one of a train row, and without a right answer a good one. */
function rowsToShow({ results, config }: GepaState, isLabeled: boolean): (ordinal: number) => boolean {
  const train = new Set(config.trainSeeds);
  const all = rolloutsOf(results);
  const shown = isLabeled ? all : goodRollouts(all);
  const usable = new Set(shown.flatMap(({ seed, ordinal }) => (train.has(seed) ? ordinal : [])));
  return (ordinal) => usable.has(ordinal);
}

/** Those with a reward in the best fifth of its range; if all are equal, those that are solved. */
function goodRollouts(all: readonly RewardedRollout[]): RewardedRollout[] {
  const rewards = all.map(({ reward }) => reward).sort((left, right) => left - right);
  const [worst = 0, best = 0] = [rewards[0], rewards.at(-1)];
  const least = exceeds(best, worst) ? worst + goodShare * (best - worst) - 1e-9 : solvedReward;
  return all.filter(({ reward }) => reward >= least);
}

/** The members of every list, in the order of the first. */
function sharedBy([first = [], ...others]: readonly number[][]): number[] {
  return first.filter((ordinal) => others.every((list) => list.includes(ordinal)));
}

/** The most turns of a prompt. */
export function mostTurns(config: GepaConfig, { isLabeled, room }: Demonstrations): number {
  return isLabeled ? Math.min(config.demonstrations, room) : config.goodAnswers;
}

const unknown: Demonstrations = {
  components: 0,
  slots: [],
  isLabeled: false,
  rows: [],
  sameAnswer: [],
  room: 0,
  searched: 0,
  isExplored: false,
  sets: {},
};
