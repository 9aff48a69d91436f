/** The request for rollouts that can be demonstrations, and the demo sets that follow. */
import { sum } from '../../math/rewards.js';
import type { DemoAnswer } from '../../search/protocol.js';
import { knownFailures } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { openRound } from '../../search/round.js';
import { raceSize } from './combinations.js';
import { mayHaveDemos, miproLimits } from './config.js';
import { coveringSets, demoCandidates, drawnSets, firstSets, toDescribe, usableOf } from './demos.js';
import { leaderOf } from './expected-reward.js';
import type { MiproState } from './state.js';

/** The most failures that demonstrations are chosen for. */
const maxOpen = 60;

/** Requests demonstrations among new rollouts, at first also components; null: none are new. */
export function requestDemos(state: MiproState): MiproState | null {
  const isFirst = state.components.length === 0;
  const ordinals = mayHaveDemos(state.config) ? demoCandidates(state) : [];
  if (!isFirst && ordinals.length === 0) return null;
  const model = rewardModelOf(state);
  const leader = isFirst ? 0 : leaderOf(state, model);
  const failures = ordinals.length === 0 ? [] : knownFailures(state, model, leader).slice(0, maxOpen);
  const { generation } = state;
  const open = failures.map(({ ordinal }) => ordinal);
  const demos = { generation, ordinals, open, describe: toDescribe(state) };
  return openRound<MiproState>(state, {}, (round) => ({ ...round, name: 'demos', demos }));
}

/** The state with the components at first, and with further demo sets. */
export function addDemos(before: MiproState, { components, slots }: DemoAnswer): MiproState {
  const isFirst = before.components.length === 0;
  const firstSlots = mayHaveDemos(before.config) ? slots.map(({ component }) => component) : [];
  const named = isFirst ? firstSlots : before.slots;
  const usable = named.map((component, slot) => {
    const found = slots.find((other) => other.component === component);
    if (!found) return before.usable[slot] ?? { bootstrapped: [], labeled: [], sameAnswer: [] };
    // With several slots it is unknown which call a right answer belongs to.
    return usableOf(named.length > 1 ? { ...found, labeled: [], sameAnswer: [] } : found, before);
  });
  const state: MiproState = { ...before, slots: named, usable, searchedForDemos: before.asked };
  // Until the first test, more rollouts are found, and the sets are made anew.
  if (before.trials === 0) return withFirstSets(state, isFirst ? components : before.components);
  const size = sum(state.demoSets.flat().map(({ bootstrapped, labeled }) => bootstrapped.length + labeled.length));
  if (size >= miproLimits.demoRollouts) return state;
  const own = state.choices[leaderOf(state, rewardModelOf(state))]!;
  const wanted = raceSize(state) - 1;
  let { rng } = state;
  const demoSets = state.demoSets.map((sets, slot) => {
    const chosen = sets[own[state.components.length + slot]!]!;
    const [drawn, next] = drawnSets(usable[slot]!, sets, chosen, { ...state, rng }, wanted);
    rng = next;
    // The last ones are tested first.
    return [...sets, ...drawn, ...coveringSets(usable[slot]!, [...sets, ...drawn], chosen, state)];
  });
  return { ...state, demoSets, rng };
}

function withFirstSets(before: MiproState, components: string[]): MiproState {
  let state: MiproState = {
    ...before,
    components,
    demoSets: [],
    instructions: components.map(() => [0]),
    requested: components.map(() => 0),
    choices: { 0: Array.from({ length: components.length + before.slots.length }, () => 0) },
  };
  // The first set is empty, and no candidate of a race has it.
  const wanted = raceSize(state) + 1;
  for (const usable of before.usable) {
    const [sets, afterSets] = firstSets(usable, state, state.rng);
    const missing = Math.max(0, wanted - sets.length);
    const [drawn, rng] = drawnSets(usable, sets, sets[0]!, { ...state, rng: afterSets }, missing);
    state = { ...state, demoSets: [...state.demoSets, [...sets, ...drawn]], rng };
  }
  return state;
}
