/** Which instructions a generation has written, by whom of which, and what becomes of them. */
import { groupBy } from '../../../util/group.js';
import { exceeds, sum } from '../../math/rewards.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { Decision, ProposalAnswer } from '../../search/protocol.js';
import { countShown, knownFailures } from '../../search/failure-pool.js';
import { recordProposals } from '../../proposals/proposer-failures.js';
import { newCandidates, reportFailedProposals } from '../../search/search-step.js';
import { rewardModelOf, expectedReward } from './reward-model.js';
import { generationsLeft } from './budget.js';
import { goodShown, groundedOf, miproLimits, trialsAtOnce } from './config.js';
import { goodRollouts, type Ran } from './demos.js';
import { choose, leaderOf } from './generation.js';
import type { MiproState, PhaseOf, Writing } from './state.js';
import { tipFor } from './tips.js';

/** Instructions that a later generation writes, at most: the other trials are the sampler's. */
const maxLater = Math.ceil(trialsAtOnce / 2);
/** Failures that the writers of a generation choose from. */
const maxOffered = 60;

/** The state that waits for this generation's instructions; null: there are none to write. */
export function proposeInstructions(state: MiproState): MiproState | null {
  const { generation, config } = state;
  const isFirst = generation === 1;
  const model = rewardModelOf(state);
  const parent = isFirst ? 0 : leaderOf(state, model);
  const failures = knownFailures(state, model, parent).slice(0, maxOffered);
  const offered = failures.map(({ ordinal, seed }) => ({ ordinal, seed }));
  // A candidate that was asked for and came to nothing has its number all the same.
  const room = miproLimits.candidates - state.nextCandidate - (config.numTrials - state.trials);
  const open = state.requested.map((count) => config.numCandidates - 1 - count);
  const wanted: Writing[] = [];
  const gained = isFirst ? [] : gainersOf(state, model);
  const merge: Writing = { candidate: state.nextCandidate, parents: gained, rewrite: null };
  if (gained.length > 1 && room > 0) {
    // A combination of what several changed in the same component is an instruction like any other.
    const brings = changedBy(state, merge);
    if (brings.every((component) => open[component]! > 0)) {
      wanted.push(merge);
      for (const component of brings) open[component]! -= 1;
    }
  }
  const good = goodRollouts(state).reverse();
  const rewritten = isFirst ? firstOnes(open, groundedOf(config)) : laterOnes(open, offered.length, state);
  for (const [index, component] of rewritten.slice(0, Math.max(0, room - wanted.length)).entries()) {
    const candidate = state.nextCandidate + wanted.length;
    const examples = goodFor(good, candidate);
    // Whoever is asked the same question twice says the same.
    const tip = tipFor(isFirst ? Math.floor(index / state.components.length) : candidate);
    wanted.push({ candidate, parents: [parent], rewrite: { component, examples, tip } });
  }
  if (wanted.length === 0) return null;
  const brought = wanted.flatMap((one) => changedBy(state, one));
  const requested = state.requested.map(
    (count, component) => count + brought.filter((one) => one === component).length,
  );
  const phase = { name: 'instructions' as const, wanted, offered };
  return { ...state, nextCandidate: state.nextCandidate + wanted.length, requested, phase };
}

/** The components of the first instructions, in turns. */
function firstOnes(open: readonly number[], grounded: number): number[] {
  return Array.from({ length: grounded }, (_, index) =>
    [...open.keys()].filter((component) => open[component]! > index),
  ).flat();
}

/** The components of a later generation's instructions: a share of what is open, in turns. */
function laterOnes(open: readonly number[], failures: number, state: MiproState): number[] {
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

/** Those of the last generation's instructions of one parent that are believed to be better than it; fewer than two: none. */
function gainersOf(state: MiproState, model: RewardModel): number[] {
  const born = state.candidates.filter(({ generation, parents, candidate }) => {
    if (generation !== state.generation - 1 || parents.length !== 1 || !isWritten(state, candidate)) return false;
    if (state.results[candidate] === undefined) return false;
    return exceeds(expectedReward(state, model, candidate), expectedReward(state, model, parents[0]!));
  });
  const families = [...groupBy(born, ({ parents }) => parents[0]!).values()];
  const largest = families.reduce((most, family) => (family.length > most.length ? family : most), []);
  return largest.map(({ candidate }) => candidate);
}

/** Whether a candidate brought in an instruction. */
function isWritten({ instructions }: MiproState, candidate: number): boolean {
  return candidate > 0 && instructions.some((own) => own.includes(candidate));
}

/** Rollouts on train seeds that scored well, other ones for each writer, the latest first. */
function goodFor(good: readonly Ran[], index: number): number[] {
  const from = (index * goodShown) % Math.max(1, good.length);
  return [...good.slice(from), ...good.slice(0, from)].slice(0, goodShown).map(({ ordinal }) => ordinal);
}

/** New instructions are choices from now on; `answers` are in the order asked. */
export function afterInstructions(
  before: MiproState,
  { wanted, offered: mayShow }: PhaseOf<'instructions'>,
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): MiproState {
  const { generation } = before;
  const written = wanted.flatMap((one, index) => {
    const { outcome, parents } = answers[index]!;
    return outcome === 'proposed' ? [{ ...one, parents: parents ?? one.parents }] : [];
  });
  const born = newCandidates(written, generation, decisions);
  // What cannot be combined says nothing of the proposer.
  const asked = answers.filter((_, index) => wanted[index]!.rewrite !== null);
  reportFailedProposals(asked, generation, decisions);
  const shown = new Set(asked.flatMap(({ shown: ordinals }) => ordinals ?? []));
  const { record, failure } =
    asked.length > 0 ? recordProposals(before.proposer, asked) : { record: before.proposer, failure: null };
  const offered = mayShow.filter(({ ordinal }) => shown.has(ordinal));
  const state: MiproState = {
    ...before,
    candidates: [...before.candidates, ...born],
    timesShown: countShown(before.timesShown, offered),
    proposer: record,
    instructions: before.instructions.map((own, component) => [
      ...own,
      ...written.filter((one) => changedBy(before, one).includes(component)).map(({ candidate }) => candidate),
    ]),
  };
  if (failure !== null) return { ...state, phase: { name: 'failed', code: 'proposer_failed', message: failure } };
  const choices = { ...state.choices };
  for (const one of written) {
    const own = changedBy(before, one);
    choices[one.candidate] = inheritedBy(before, one).map((choice, index) =>
      own.includes(index) ? state.instructions[index]!.indexOf(one.candidate) : choice,
    );
  }
  // What was written from failures is tried in the place of what failed; of the first ones the sampler chooses.
  const first = generation === 1 ? [] : written.map(({ candidate }) => candidate);
  return choose({ ...state, choices }, first, decisions);
}

/** The components whose text is a new one: that which was rewritten, or those that several of what is combined had changed. */
function changedBy(state: MiproState, { parents, rewrite }: Writing): number[] {
  if (rewrite !== null) return [rewrite.component];
  const base = state.choices[baseOf(state, parents)]!;
  return [...state.components.keys()].filter((component) => {
    return parents.filter((parent) => state.choices[parent]![component] !== base[component]).length > 1;
  });
}

/** What a new candidate has of those that it comes from: of a combination what one of them alone had changed. */
function inheritedBy(state: MiproState, { parents, rewrite }: Writing): number[] {
  const first = state.choices[parents[0]!]!;
  if (rewrite !== null) return first;
  const base = state.choices[baseOf(state, parents)]!;
  return first.map((choice, index) => {
    if (index >= state.components.length) return choice;
    const other = parents.map((parent) => state.choices[parent]![index]!).find((one) => one !== base[index]);
    return other ?? choice;
  });
}

/** The candidate that all of these were written from. */
function baseOf(state: MiproState, parents: readonly number[]): number {
  return state.candidates.find(({ candidate }) => candidate === parents[0])!.parents[0]!;
}
