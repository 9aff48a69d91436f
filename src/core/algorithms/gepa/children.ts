/** The children of a generation: their reflections, and the merge of those accepted. */
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import { countShown, knownFailures, type Failure } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { mutationOf } from '../../proposals/mutation.js';
import { addProposals } from '../../search/proposing.js';
import type { Decision, ProposalAnswer } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import { countAblation } from './ablation.js';
import { gainedOn } from './acceptance.js';
import { areProposalsScarce } from './budget.js';
import { gepaLimits } from './config.js';
import { parentOf } from './parents.js';
import { isStalled } from './stall.js';
import type { GepaState, Trial } from './state.js';
import { isVaried, variedTrials } from './variation.js';

/** The most failures that the reflections of a generation choose from. */
const maxOffered = 60;

/** Requests a generation's proposals; null: no failure, budget or number is left. */
export function reflect(state: GepaState): GepaState | null {
  const { config, nextCandidate } = state;
  const model = rewardModelOf(state);
  const most = Math.min(
    config.populationSize,
    Math.floor(searchRollouts(state) / minibatchOf(config)),
    gepaLimits.candidates - nextCandidate,
  );
  const trials = isVaried(state, model) ? variedTrials(state, model, most) : reflections(state, model, most);
  if (trials.length === 0) return null;
  const compressed = trials.flatMap(({ parents, candidate, approach }) =>
    approach === 'compress' ? [[parents[0]!, candidate]] : [],
  );
  return {
    ...state,
    nextCandidate: nextCandidate + trials.length,
    compressed: { ...state.compressed, ...Object.fromEntries(compressed) },
    phase: { name: 'proposals', trials },
  };
}

/** At most `most` reflections on the parent's failures. */
function reflections(state: GepaState, model: RewardModel, most: number): Trial[] {
  const { config, nextCandidate } = state;
  const size = minibatchOf(config);
  const parent = parentOf(state, model);
  const failures = failuresToShow(state, model, parent);
  const offered = failures
    .slice(0, Math.min(4 * size * config.populationSize, maxOffered))
    .map(({ ordinal, seed }) => ({ ordinal, seed }));
  if (offered.length === 0) return [];
  const neverShown = Math.max(1, failures.filter(({ shown }) => shown === 0).length);
  const affordable = Math.min(most, neverShown);
  const share = areProposalsScarce(state) ? Math.min(size, Math.ceil(offered.length / affordable)) : size;
  // No two proposals get the same failures, so no question is asked twice.
  const count = Math.max(0, Math.min(affordable, Math.ceil(offered.length / share)));
  return Array.from({ length: count }, (_, index): Trial => {
    return { candidate: nextCandidate + index, parents: [parent], offered, shown: [], removed: [], rounds: 0 };
  });
}

/** The parent's failures that no reflection was shown; all with noise or scarce proposals. */
function failuresToShow(state: GepaState, model: RewardModel, parent: number): Failure[] {
  const failures = knownFailures(state, model, parent);
  if (model.noise.variance > 0 || areProposalsScarce(state)) return failures;
  const chosen = failures.filter(({ shown }) => shown === 0);
  return chosen.length > 0 ? chosen : failures;
}

/** Requests the merge of a parent's accepted children; null: there are fewer than two. */
export function merge(state: GepaState, trials: readonly Trial[]): GepaState | null {
  const { nextCandidate, config, pool, costs } = state;
  const isMerge = trials.some(({ parents }) => parents.length > 1);
  if (isMerge || nextCandidate >= gepaLimits.candidates || !config.merge) return null;
  const model = rewardModelOf(state);
  const gains = ({ candidate, shown }: Trial) =>
    shown.filter((seed) => gainedOn(state.results, model, candidate, seed));
  // A child accepted for its cost alone has no gain to bring in.
  const accepted = trials.filter(
    (trial) => pool.includes(trial.candidate) && ((!costs && trial.approach !== 'compress') || gains(trial).length > 0),
  );
  const shown = [...new Set(accepted.flatMap((trial) => gains(trial).slice(0, 1)))];
  if (accepted.length < 2 || shown.length > searchRollouts(state)) return null;
  const parents = accepted.map(({ candidate }) => candidate);
  const trial: Trial = { candidate: nextCandidate, parents, offered: [], shown, removed: [], rounds: 0 };
  return { ...state, nextCandidate: nextCandidate + 1, phase: { name: 'proposals', trials: [trial] } };
}

export function addChildren(
  before: GepaState,
  planned: readonly Trial[],
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): { state: GepaState; trials: Trial[] } {
  const answered = planned.map((trial, index) => withAnswer(trial, answers[index]!));
  const trials = answered.filter((_, index) => answers[index]!.outcome === 'proposed');
  // No model writes a merge or an ablation: its failure is not the proposer's.
  const isMerge = planned.every(({ parents }) => parents.length > 1);
  const isAblation = planned.every(({ ablation }) => ablation !== undefined);
  const added = addProposals(before, trials, isMerge || isAblation ? [] : answers, decisions);
  if (isAblation) return { state: countAblation(added, planned[0]!, answers[0]!), trials };
  if (isMerge) return { state: added, trials };
  let { timesShown } = before;
  for (const { candidate, approach, offered, shown } of answered) {
    const rollouts = offered.filter(({ seed }) => shown.includes(seed));
    timesShown = countShown(timesShown, rollouts, mutationOf(candidate, before.config, approach).kind);
  }
  const isIdle = trials.length === 0 && isStalled(before, rewardModelOf(before));
  const idle = isIdle ? before.idle + 1 : 0;
  return { state: { ...added, idle, timesShown }, trials };
}

function withAnswer(trial: Trial, { shown, removed = [], parents = trial.parents }: ProposalAnswer): Trial {
  const seedOf = new Map(trial.offered.map(({ ordinal, seed }) => [ordinal, seed]));
  const isShownFailures = shown !== undefined && trial.offered.length > 0;
  const seeds = isShownFailures ? shown.map((ordinal) => seedOf.get(ordinal)!) : trial.shown;
  return { ...trial, shown: [...new Set(seeds)], removed, parents };
}
