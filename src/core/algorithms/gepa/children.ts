/** The children of a generation: their reflections, and the merge of those accepted. */
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import { countShown, knownFailures, type Failure } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { mutationOf } from '../../proposals/mutation.js';
import { addProposals, reportFailedProposals } from '../../search/proposing.js';
import type { Decision, ProposalAnswer } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import { countAblation } from './ablation.js';
import { gainedOn } from './acceptance.js';
import { areProposalsScarce, cohortSize } from './budget.js';
import { gepaLimits } from './config.js';
import { parentOf } from './parents.js';
import { isStalled } from './stall.js';
import { newTrial, type GepaState, type Trial } from './state.js';
import { isOpenText } from './open-text.js';
import { openTrials } from './question-forms.js';
import { isVaried, variedTrials } from './variation.js';

/** The most failures that the reflections of a generation choose from. */
const maxOffered = 60;

/** Plans the proposals of the generations from `first` on; empty: nothing to ask, or no budget. */
export function planChildren(state: GepaState, first: number, taken: ReadonlySet<number>): Trial[] {
  const { config, nextCandidate } = state;
  const model = rewardModelOf(state);
  const most = Math.min(
    cohortSize(state, first),
    Math.floor(searchRollouts(state) / minibatchOf(config)),
    gepaLimits.candidates - nextCandidate,
  );
  const trials = plannedTrials(state, model, most, taken);
  return trials.map((trial, index) => ({ ...trial, generation: first + Math.floor(index / config.populationSize) }));
}

function plannedTrials(state: GepaState, model: RewardModel, most: number, taken: ReadonlySet<number>): Trial[] {
  if (isOpenText(state, model)) return openTrials(state, model, most, taken);
  return isVaried(state, model) ? variedTrials(state, model, most) : reflections(state, model, most, taken);
}

/** At most `most` reflections on the parent's failures, without those on `taken` seeds. */
function reflections(state: GepaState, model: RewardModel, most: number, taken: ReadonlySet<number>): Trial[] {
  const { config, nextCandidate, begun } = state;
  const size = minibatchOf(config);
  const parent = parentOf(state, model);
  const failures = failuresToShow(state, model, parent).filter(({ seed }) => !taken.has(seed));
  const offered = failures
    .slice(0, Math.min(4 * size * cohortSize(state, begun), maxOffered))
    .map(({ ordinal, seed }) => ({ ordinal, seed }));
  if (offered.length === 0) return [];
  const neverShown = Math.max(1, failures.filter(({ shown }) => shown === 0).length);
  const affordable = Math.min(most, neverShown);
  const isShared = config.slots > 1 || areProposalsScarce(state);
  const share = isShared ? Math.min(size, Math.ceil(offered.length / affordable)) : size;
  // No two proposals get the same failures, so no question is asked twice.
  const count = Math.max(0, Math.min(affordable, Math.ceil(offered.length / share)));
  return Array.from({ length: count }, (_, index): Trial => {
    return { ...newTrial(nextCandidate + index, begun, [parent]), offered };
  });
}

/** The parent's failures that no reflection was shown; all with noise or scarce proposals. */
function failuresToShow(state: GepaState, model: RewardModel, parent: number): Failure[] {
  const failures = knownFailures(state, model, parent);
  if (model.noise.variance > 0 || areProposalsScarce(state)) return failures;
  const chosen = failures.filter(({ shown }) => shown === 0);
  return chosen.length > 0 ? chosen : failures;
}

/**
 * Plans the merge of a parent's accepted children once no sibling is in its test; null: there are
 * fewer than two.
 */
export function planMerge(state: GepaState, open: readonly Trial[]): Trial | null {
  const { nextCandidate, config, unmerged } = state;
  if (nextCandidate >= gepaLimits.candidates || !config.merge) return null;
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
      const isIdle = proposed.length === 0 && isStalled(before, rewardModelOf(before));
      const idle = isIdle ? before.idle + new Set(generations.values()).size : 0;
      return { ...added, idle, timesShown };
    }
  }
}

function withAnswer(trial: Trial, { shown, removed = [], parents = trial.parents }: ProposalAnswer): Trial {
  const seedOf = new Map(trial.offered.map(({ ordinal, seed }) => [ordinal, seed]));
  const isTestedOnShown = shown !== undefined && trial.offered.length > 0 && trial.shown.length === 0;
  const seeds = isTestedOnShown ? shown.map((ordinal) => seedOf.get(ordinal)!) : trial.shown;
  return { ...trial, shown: [...new Set(seeds)], removed, parents };
}
