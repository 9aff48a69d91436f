/** The children of a generation: proposals, prompts of people, and the merge of accepted ones. */
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import { countShown, knownFailures } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { mutationOf } from '../../proposals/mutation.js';
import { addProposals, reportFailedProposals } from '../../search/proposing.js';
import type { Decision, ProposalAnswer } from '../../search/protocol.js';
import { gainedOn } from '../../search/targeted-test.js';
import { countAblation } from './ablation.js';
import { cohortSize } from './budget.js';
import { roomForCandidates } from './config.js';
import { idleLimit } from './explicit-rules.js';
import { incumbentOf } from './pool.js';
import { isStalled } from './stall.js';
import { newTrial, type GepaState, type Trial } from './state.js';
import { strategyOf } from './strategies.js';

/** Plans the proposals of the generations from `first` on; empty: nothing to ask, or no budget. */
export function planChildren(state: GepaState, first: number, taken: ReadonlySet<number>): Trial[] {
  const { config } = state;
  const model = rewardModelOf(state);
  const most = Math.min(
    cohortSize(state, first),
    Math.floor(searchRollouts(state) / minibatchOf(config)),
    roomForCandidates(state),
  );
  const trials = strategyOf(state, model).propose(state, model, most, taken);
  return trials.map((trial, index) => ({ ...trial, generation: first + Math.floor(index / config.populationSize) }));
}

/**
 * Plans the merge of a parent's accepted children once no sibling is in its test; null: there are
 * fewer than two.
 */
export function planMerge(state: GepaState, open: readonly Trial[]): Trial | null {
  const { nextCandidate, config, unmerged } = state;
  if (roomForCandidates(state) <= 0 || !config.merge) return null;
  const model = rewardModelOf(state);
  const gains = ({ candidate, parents, shown }: Trial) =>
    parents.length > 1 ? shown : shown.filter((seed) => gainedOn(state.results, model, candidate, seed));
  const bases = [...new Set(unmerged.flatMap(({ parents }) => parents))].filter(
    (base) => !open.some(({ parents }) => parents.includes(base)),
  );
  const families = bases.map((base) => unmerged.filter(({ parents }) => parents.includes(base)));
  const family = families.reduce<Trial[]>((most, other) => (other.length > most.length ? other : most), []);
  const shown = [...new Set(family.flatMap((trial) => gains(trial).slice(0, 1)))];
  if (family.length < 2 || shown.length > searchRollouts(state)) return null;
  const parents = family.map(({ candidate }) => candidate);
  const generation = Math.max(...family.map((trial) => trial.generation));
  return { ...newTrial(nextCandidate, generation, parents), shown };
}

/** Seeds on which candidates gained that a merge combines: its result need not learn from them. */
export function mergedSeeds(state: GepaState, merges: readonly Trial[]): Set<number> {
  const model = rewardModelOf(state);
  const parents = merges.flatMap((merge) => (merge.parents.length > 1 ? merge.parents : []));
  const gained = (seed: number) => parents.some((parent) => gainedOn(state.results, model, parent, seed));
  return new Set(parents.length === 0 ? [] : state.order.filter(gained));
}

/**
 * Plans the given prompts as children of the incumbent; null: none, no budget is left, or no result
 * of the incumbent is known to compare with.
 */
export function planGiven(state: GepaState): { state: GepaState; trials: Trial[] } | null {
  const { given = [], nextCandidate, order, config, begun } = state;
  const room = Math.min(roomForCandidates(state), Math.floor(searchRollouts(state)));
  const taken = given.slice(0, Math.max(0, room));
  if (taken.length === 0) return null;
  const model = rewardModelOf(state);
  const parent = incumbentOf(state, model);
  const failures = knownFailures(state, model, parent).map(({ seed }) => seed);
  // Seeds without results of the parent compare nothing.
  const seeds = failures.length > 0 ? failures : order.filter((seed) => model.posterior(parent, seed) !== null);
  if (seeds.length === 0) return null;
  const shown = seeds.slice(0, minibatchOf(config));
  const trials = taken.map((id, index) => ({ ...newTrial(nextCandidate + index, begun, [parent]), shown, given: id }));
  return {
    state: { ...state, given: given.slice(taken.length), nextCandidate: nextCandidate + trials.length },
    trials,
  };
}

/** Adds the children that a round's answers propose, kind by kind: each has its own rules. */
export function addProposed(
  before: GepaState,
  planned: readonly Trial[],
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): { state: GepaState; trials: Trial[] } {
  const answered = planned.map((trial, index) => {
    const answer = answers[index]!;
    return { kind: kindOf(trial), trial: withAnswer(trial, answer), answer };
  });
  let state = before;
  for (const kind of kinds) {
    const own = answered.filter((child) => child.kind === kind);
    if (own.length > 0) state = addOfKind(state, kind, own, decisions);
  }
  return { state, trials: answered.flatMap(({ trial, answer }) => (answer.outcome === 'proposed' ? [trial] : [])) };
}

/** In the order in which they are planned. */
const kinds = ['merge', 'given', 'ablation', 'demonstration', 'reflection'] as const;
type Kind = (typeof kinds)[number];

function kindOf({ parents, ablation, given, compose }: Trial): Kind {
  if (parents.length > 1) return 'merge';
  if (given !== undefined) return 'given';
  if (compose !== undefined) return 'demonstration';
  return ablation === undefined ? 'reflection' : 'ablation';
}

function addOfKind(
  before: GepaState,
  kind: Kind,
  children: readonly { trial: Trial; answer: ProposalAnswer }[],
  decisions: Decision[],
): GepaState {
  const proposed = children.flatMap(({ trial, answer }) => (answer.outcome === 'proposed' ? [trial] : []));
  const answers = children.map(({ answer }) => answer);
  const generations = new Map(children.map(({ trial }) => [trial.candidate, trial.generation]));
  const generationOf = (candidate: number) => generations.get(candidate)!;
  // The proposer writes reflections only: failures of the others are not its own.
  const added = addProposals(before, proposed, kind === 'reflection' ? answers : [], decisions, generationOf);
  const { trial, answer } = children[0]!;
  switch (kind) {
    case 'merge':
      return added;
    case 'given':
    case 'demonstration':
      reportFailedProposals(answers, generationOf, decisions);
      return added;
    case 'ablation':
      return countAblation(added, trial, answer);
    case 'reflection': {
      let { timesShown } = before;
      for (const { trial, answer } of children) {
        const { candidate, approach, offered } = trial;
        const rollouts = offered.flatMap(({ ordinal }) => (answer.shown?.includes(ordinal) ? [ordinal] : []));
        timesShown = countShown(timesShown, rollouts, mutationOf(candidate, before.config, approach).kind);
      }
      // Texts that are too long do not end by themselves: the next question gets another of them.
      const isRefused = answers.some(({ outcome }) => outcome === 'refused');
      const isRepeated = answers.every(({ outcome }) => outcome === 'duplicate');
      const stalled = isStalled(before, rewardModelOf(before));
      const isEmpty = isRefused || stalled || (isRepeated && strategyOf(before).repeatsAreIdle);
      const asked = new Set(generations.values());
      const hasNew = added.candidates.some(({ generation }) => asked.has(generation));
      const isIdle = !hasNew && isEmpty;
      const repeated = isRepeated && !hasNew ? before.repeated + asked.size : 0;
      // Known texts alone make no generation: its number is that of the next questions.
      const isVoid = repeated > 0 && repeated < idleLimit(before.config) && !stalled && asked.has(before.begun);
      return {
        ...added,
        idle: isIdle ? before.idle + asked.size : 0,
        repeated,
        begun: isVoid ? before.begun - asked.size : before.begun,
        timesShown,
      };
    }
  }
}

function withAnswer(trial: Trial, { shown, removed = [], parents = trial.parents }: ProposalAnswer): Trial {
  const seedOf = new Map(trial.offered.map(({ ordinal, seed }) => [ordinal, seed]));
  const isTestedOnShown = shown !== undefined && trial.offered.length > 0 && trial.shown.length === 0;
  const seeds = isTestedOnShown ? shown.map((ordinal) => seedOf.get(ordinal)!) : trial.shown;
  return { ...trial, shown: [...new Set(seeds)], removed, parents };
}
