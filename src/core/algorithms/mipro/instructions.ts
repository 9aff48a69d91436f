/** The instructions of a generation: their requests, and the choices that the answers add. */
import { groupBy } from '../../../util/group.js';
import { exceeds, sum } from '../../math/rewards.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { Decision, ProposalAnswer } from '../../search/protocol.js';
import { countShown, knownFailures } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { addProposals } from '../../search/proposing.js';
import type { PhaseOf } from '../../search/state.js';
import { generationsLeft } from './budget.js';
import { goodShown, initialInstructions, miproLimits, trialsAtOnce } from './config.js';
import { goodRollouts, type RewardedRollout } from './demos.js';
import { expectedReward, leaderOf } from './expected-reward.js';
import type { InstructionProposal, MiproState } from './state.js';
import { tipFor } from './tips.js';

/** The most instructions of a later generation; the sampler chooses its other trials. */
const maxLater = Math.ceil(trialsAtOnce / 2);
/** Failures that the rewrites of a generation choose from. */
const maxOffered = 60;

/** Requests this generation's instructions; null: there are none to write. */
export function proposeInstructions(state: MiproState): MiproState | null {
  const { generation, config } = state;
  const isFirst = generation === 1;
  const model = rewardModelOf(state);
  const parent = isFirst ? 0 : leaderOf(state, model);
  const failures = knownFailures(state, model, parent).slice(0, maxOffered);
  const offered = failures.map(({ ordinal, seed }) => ({ ordinal, seed }));
  // A failed proposal keeps its number.
  const room = miproLimits.candidates - state.nextCandidate - (config.numTrials - state.trials);
  const open = state.requested.map((count) => config.numCandidates - 1 - count);
  const wanted: InstructionProposal[] = [];
  const gained = isFirst ? [] : gainersOf(state, model);
  const merge: InstructionProposal = { candidate: state.nextCandidate, parents: gained, rewrite: null };
  if (gained.length > 1 && room > 0) {
    // A merge of changes to the same component counts as an instruction of it.
    const changed = changedBy(state, merge);
    if (changed.every((component) => open[component]! > 0)) {
      wanted.push(merge);
      for (const component of changed) open[component]! -= 1;
    }
  }
  const good = goodRollouts(state).reverse();
  const rewritten = isFirst
    ? firstComponents(open, initialInstructions(config))
    : laterComponents(open, offered.length, state);
  for (const [index, component] of rewritten.slice(0, Math.max(0, room - wanted.length)).entries()) {
    const candidate = state.nextCandidate + wanted.length;
    const examples = examplesFor(good, candidate);
    // Identical prompts yield identical proposals, so vary the tip.
    const tip = tipFor(isFirst ? Math.floor(index / state.components.length) : candidate);
    wanted.push({ candidate, parents: [parent], rewrite: { component, examples, tip } });
  }
  if (wanted.length === 0) return null;
  const added = wanted.flatMap((proposal) => changedBy(state, proposal));
  const requested = state.requested.map(
    (count, component) => count + added.filter((other) => other === component).length,
  );
  const phase = { name: 'instructions' as const, wanted, offered };
  return { ...state, nextCandidate: state.nextCandidate + wanted.length, requested, phase };
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
  const count = Math.min(maxLater, Math.ceil(sum(left) / generationsLeft(state)));
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

/** Good rollouts on train seeds, others for each candidate, the latest first. */
function examplesFor(good: readonly RewardedRollout[], candidate: number): number[] {
  const from = (candidate * goodShown) % Math.max(1, good.length);
  return [...good.slice(from), ...good.slice(0, from)].slice(0, goodShown).map(({ ordinal }) => ordinal);
}

/** The state with the new instructions as choices; `answers` are in the order of `wanted`. */
export function addInstructions(
  before: MiproState,
  { wanted, offered }: PhaseOf<MiproState, 'instructions'>,
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): { state: MiproState; written: number[] } {
  const proposed = wanted.flatMap((proposal, index) => {
    const { outcome, parents = proposal.parents } = answers[index]!;
    return outcome === 'proposed' ? [{ ...proposal, parents }] : [];
  });
  // No model writes a merge: its failure is not the proposer's.
  const rewrites = answers.filter((_, index) => wanted[index]!.rewrite !== null);
  const shown = new Set(rewrites.flatMap((answer) => answer.shown ?? []));
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
    timesShown: countShown(
      before.timesShown,
      offered.filter(({ ordinal }) => shown.has(ordinal)),
    ),
    instructions,
    choices,
  };
  return { state, written: proposed.map(({ candidate }) => candidate) };
}

/** The components with a new text; a merge combines those that several parents changed. */
function changedBy(state: MiproState, { parents, rewrite }: InstructionProposal): number[] {
  if (rewrite !== null) return [rewrite.component];
  const base = state.choices[baseOf(state, parents)]!;
  return [...state.components.keys()].filter((component) => {
    return parents.filter((parent) => state.choices[parent]![component] !== base[component]).length > 1;
  });
}

/** The choices before the proposal's own change; a merge takes those that its parents changed. */
function inheritedChoices(state: MiproState, { parents, rewrite }: InstructionProposal): number[] {
  const first = state.choices[parents[0]!]!;
  if (rewrite !== null) return first;
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
