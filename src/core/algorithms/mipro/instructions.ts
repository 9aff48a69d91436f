/** The instructions of a generation: their requests, and the choices that the answers add. */
import { groupBy } from '../../../util/group.js';
import { exceeds, sum } from '../../math/rewards.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { Decision, ProposalAnswer, ProposalRequest } from '../../search/protocol.js';
import { countShown, knownFailures, type Failure } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { addProposals, reportFailedProposals } from '../../search/proposing.js';
import { openRound } from '../../search/round.js';
import { affordableTrials, generationsLeft, spareRollouts } from './budget.js';
import { combinationShare } from './combinations.js';
import { failuresShown, goodShown, initialInstructions, instructionLimit, maxLater, miproLimits } from './config.js';
import { rolloutsOf, type RewardedRollout } from '../../search/results.js';
import { goodRollouts } from './good-rollouts.js';
import { expectedReward, isNoisy, leaderOf } from './expected-reward.js';
import type { MiproState, Trial } from './state.js';
import { tipFor } from './tips.js';

/** Failures that the rewrites of a generation choose from. */
const maxOffered = 60;

/** Requests this generation's instructions; null: there are none to write. */
export function proposeInstructions(state: MiproState): MiproState | null {
  const { generation, config, traffic } = state;
  const isFirst = generation === 1;
  const model = rewardModelOf(state);
  const parent = isFirst ? 0 : leaderOf(state, model);
  const ordinals = failuresToShow(state, model, parent).map(({ ordinal }) => ordinal);
  const room = roomFor(state);
  const open = state.requested.map((count) => instructionLimit(config) - count);
  const wanted: ProposalRequest[] = [];
  const gained = isFirst || traffic === 'paired' ? [] : gainersOf(state, model);
  if (gained.length > 1 && room > 0) {
    // A merge of changes to the same component counts as an instruction of it.
    const merge = mergeOf(state, gained);
    const changed = changedBy(state, merge);
    if (changed.every((component) => open[component]! > 0)) {
      wanted.push(merge);
      for (const component of changed) open[component]! -= 1;
    }
  }
  const good = examplesOf(state);
  const affordable = traffic === 'paired' ? Math.floor(spareRollouts(state) / failuresShown) : Infinity;
  const count = Math.max(0, Math.min(room - wanted.length, Math.max(1, affordable)));
  const rewritten = isFirst
    ? firstComponents(open, initialInstructions(config)).slice(0, count)
    : laterComponents(open, ordinals.length, state).slice(0, count);
  const of = wanted.length + rewritten.length;
  for (const [turn, component] of rewritten.entries()) {
    const index = wanted.length;
    const candidate = state.nextCandidate + index;
    const examples = examplesFor(good, traffic === 'paired' ? turn : candidate);
    // Identical prompts yield identical proposals, so vary the tip.
    const tip = tipFor(isFirst ? Math.floor(turn / state.components.length) : candidate);
    const rewrite = { component, examples, tip };
    const pick = { size: failuresShown, index, of };
    wanted.push({ kind: 'rewrite', candidate, parent, generation, ordinals, rewrite, pick });
  }
  return wanted.length === 0 ? null : request(state, wanted);
}

/** Requests the merge of a generation's accepted instructions; null: there are fewer than two. */
export function mergeInstructions(state: MiproState, accepted: readonly number[]): MiproState | null {
  if (accepted.length < 2 || roomFor(state) < 1) return null;
  const merge = mergeOf(state, [...accepted]);
  const isOpen = changedBy(state, merge).every((component) => {
    return state.requested[component]! < instructionLimit(state.config);
  });
  return isOpen ? request(state, [merge]) : null;
}

function mergeOf({ nextCandidate: candidate, generation }: MiproState, merge: number[]): ProposalRequest {
  return { kind: 'merge', candidate, parent: merge[0]!, generation, ordinals: [], merge };
}

/** Requests the prompts that people gave, as children of the leader; null: none can be tested. */
export function tryGiven(state: MiproState): MiproState | null {
  const { given = [], nextCandidate, components, traffic, generation } = state;
  const room = Math.min(miproLimits.candidates - nextCandidate, affordableTrials(state));
  const taken = components.length === 0 || traffic === 'unpaired' ? [] : given.slice(0, Math.max(0, room));
  if (taken.length === 0) return null;
  const parent = leaderOf(state, rewardModelOf(state));
  const proposals = taken.map((id, index): ProposalRequest => {
    return { kind: 'given', candidate: nextCandidate + index, parent, generation, ordinals: [], given: id };
  });
  const after = { ...state, given: given.slice(taken.length), nextCandidate: nextCandidate + taken.length };
  return openInstructions(after, proposals);
}

/** Counts the instructions that are requested of each component. */
function request(state: MiproState, proposals: ProposalRequest[]): MiproState {
  const added = proposals.flatMap((proposal) => changedBy(state, proposal));
  const requested = state.requested.map(
    (count, component) => count + added.filter((other) => other === component).length,
  );
  const after = { ...state, nextCandidate: state.nextCandidate + proposals.length, requested };
  return openInstructions(after, proposals);
}

function openInstructions(state: MiproState, proposals: ProposalRequest[]): MiproState {
  return openRound(state, {}, (round) => ({ ...round, name: 'instructions', proposals }));
}

/** Candidate numbers that are left; a failed proposal keeps its number. */
function roomFor({ nextCandidate, config: { numTrials }, trials }: MiproState): number {
  return miproLimits.candidates - nextCandidate - (numTrials === null ? 0 : numTrials - trials);
}

/**
 * With noise all failures of the parent; without, those that no proposal was shown. Without any,
 * the same question would get the same answer, so one, two or more failures take turns.
 */
function failuresToShow(state: MiproState, model: RewardModel, parent: number): Failure[] {
  const failures = knownFailures(state, model, parent);
  if (isNoisy(state)) return failures.slice(0, maxOffered);
  const unshown = failures.filter(({ shown }) => shown === 0);
  if (unshown.length > 0) return unshown.slice(0, maxOffered);
  const count = 1 + (state.generation % (failuresShown * maxLater));
  const from = state.generation % Math.max(1, failures.length);
  return [...failures.slice(from), ...failures.slice(0, from)].slice(0, count);
}

/** The components of the first instructions, in turn. */
function firstComponents(open: readonly number[], perComponent: number): number[] {
  return Array.from({ length: perComponent }, (_, index) =>
    [...open.keys()].filter((component) => open[component]! > index),
  ).flat();
}

/** The components of a later generation's instructions: an even share of the open ones, in turn. */
function laterComponents(open: readonly number[], failures: number, state: MiproState): number[] {
  if (failures === 0) return [];
  const left = [...open];
  const most = state.config.numTrials === null ? 1 + maxLater - combinationShare(state) : maxLater;
  const count = Math.min(most, Math.ceil(sum(left) / generationsLeft(state)));
  const chosen: number[] = [];
  for (let turn = state.generation; chosen.length < count; turn++) {
    const component = turn % left.length;
    if (left[component]! === 0) continue;
    left[component]! -= 1;
    chosen.push(component);
  }
  return chosen;
}

/** The last generation's rewrites that promise more than their parent: of the largest family. */
function gainersOf(state: MiproState, model: RewardModel): number[] {
  const gainers = state.candidates.filter(({ generation, parents, candidate }) => {
    if (generation !== state.generation - 1 || parents.length !== 1 || !isRewrite(state, candidate)) return false;
    if (state.results[candidate] === undefined) return false;
    return exceeds(expectedReward(state, model, candidate), expectedReward(state, model, parents[0]!));
  });
  const families = [...groupBy(gainers, ({ parents }) => parents[0]!).values()];
  const largest = families.reduce((most, family) => (family.length > most.length ? family : most), []);
  return largest.map(({ candidate }) => candidate);
}

/** Whether a candidate added an instruction. */
function isRewrite({ instructions }: MiproState, candidate: number): boolean {
  return candidate > 0 && instructions.some((own) => own.includes(candidate));
}

/** Good rollouts on train seeds, those first that no proposal was shown, then the latest. */
function examplesOf(state: MiproState): RewardedRollout[] {
  if (state.traffic === 'unpaired') return goodRollouts(state).reverse();
  const latest = new Map(goodRollouts(state).map((rollout) => [rollout.seed, rollout]));
  const shown = ({ ordinal }: RewardedRollout) => state.timesShown[ordinal] ?? 0;
  return [...latest.values()].sort((left, right) => shown(left) - shown(right) || right.ordinal - left.ordinal);
}

/** Other examples for each proposal. */
function examplesFor(good: readonly RewardedRollout[], index: number): number[] {
  const from = (index * goodShown) % Math.max(1, good.length);
  return [...good.slice(from), ...good.slice(0, from)].slice(0, goodShown).map(({ ordinal }) => ordinal);
}

/** The state with the new instructions as choices; `answers` are in the order of the requests. */
export function addInstructions(
  before: MiproState,
  requests: readonly ProposalRequest[],
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): { state: MiproState; written: number[]; trials: Trial[] } {
  const proposed = requests.flatMap((own, index) => {
    const { outcome, parents = parentsIn(own) } = answers[index]!;
    return outcome === 'proposed' ? [{ ...own, parents }] : [];
  });
  // No model writes a merge: its failure is not the proposer's.
  const rewrites = answers.filter((_, index) => requests[index]!.kind === 'rewrite');
  const shown = new Set(rewrites.flatMap((answer) => answer.shown ?? []));
  const examples = new Set(requests.flatMap(({ rewrite }) => rewrite?.examples ?? []));
  const instructions = before.instructions.map((own, component) => [
    ...own,
    ...proposed.filter((proposal) => changedBy(before, proposal).includes(component)).map(({ candidate }) => candidate),
  ]);
  const choices = { ...before.choices };
  for (const proposal of proposed) {
    const changed = changedBy(before, proposal);
    choices[proposal.candidate] = inheritedChoices(before, proposal).map((choice, index) =>
      changed.includes(index) ? instructions[index]!.indexOf(proposal.candidate) : choice,
    );
  }
  const state: MiproState = {
    ...addProposals(before, proposed, rewrites, decisions),
    timesShown: countShown(before.timesShown, [...shown, ...examples]),
    instructions,
    choices,
  };
  if (requests[0]!.kind === 'given') reportFailedProposals(answers, () => before.generation, decisions);
  const seedOf = new Map(rolloutsOf(before.results).map(({ ordinal, seed }) => [ordinal, seed]));
  const trials = answers.flatMap(({ candidate, outcome, shown: own = [], removed = [] }): Trial[] => {
    const seeds = own.map((ordinal) => seedOf.get(ordinal)!);
    return outcome === 'proposed' ? [{ candidate, shown: seeds, removed: removed.length, rounds: 0 }] : [];
  });
  return { state, written: proposed.map(({ candidate }) => candidate), trials };
}

/** A proposal; `parents`: those that the answer to a merge names. */
type Proposal = ProposalRequest & { parents?: number[] };

function parentsIn({ parent, merge, parents }: Proposal): number[] {
  return parents ?? merge ?? [parent];
}

/** The components with a new text; a merge combines those that several parents changed. */
function changedBy(state: MiproState, proposal: Proposal): number[] {
  const { kind, rewrite } = proposal;
  if (kind === 'given') return [...state.components.keys()];
  if (rewrite) return [rewrite.component];
  const parents = parentsIn(proposal);
  const base = state.choices[baseOf(state, parents)]!;
  return [...state.components.keys()].filter((component) => {
    return parents.filter((parent) => state.choices[parent]![component] !== base[component]).length > 1;
  });
}

/** The choices before the proposal's own change; a merge takes those that its parents changed. */
function inheritedChoices(state: MiproState, proposal: Proposal): number[] {
  const parents = parentsIn(proposal);
  const first = state.choices[parents[0]!]!;
  if (proposal.kind !== 'merge') return first;
  const base = state.choices[baseOf(state, parents)]!;
  return first.map((choice, index) => {
    if (index >= state.components.length) return choice;
    const changed = parents.map((parent) => state.choices[parent]![index]!).find((own) => own !== base[index]);
    return changed ?? choice;
  });
}

/** The common parent of rewrites. */
function baseOf(state: MiproState, parents: readonly number[]): number {
  return state.candidates.find(({ candidate }) => candidate === parents[0])!.parents[0]!;
}
