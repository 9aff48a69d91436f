/** The request for rollouts that can be demonstrations, and the demo sets that follow. */
import type { DemoAnswer } from '../../search/protocol.js';
import { mayHaveDemos } from './config.js';
import { addUsable, demoCandidates, firstSets, hardSet } from './demos.js';
import type { MiproState } from './state.js';

/** Requests demonstrations among new rollouts, at first also components; null: none are new. */
export function requestDemos(state: MiproState): MiproState | null {
  const isFirst = state.components.length === 0;
  const ordinals = mayHaveDemos(state.config) ? demoCandidates(state) : [];
  return isFirst || ordinals.length > 0 ? { ...state, phase: { name: 'demos', ordinals } } : null;
}

/** The state with the components at first, and with further demo sets. */
export function addDemos(before: MiproState, { components, slots }: DemoAnswer): MiproState {
  const isFirst = before.components.length === 0;
  const firstSlots = mayHaveDemos(before.config) ? slots.map(({ component }) => component) : [];
  const named = isFirst ? firstSlots : before.slots;
  const usable = named.map((component, slot) => {
    const found = slots.find((other) => other.component === component);
    const known = before.usable[slot] ?? { bootstrapped: [], labeled: [] };
    if (!found) return known;
    // With several slots it is unknown which call a right answer belongs to.
    return addUsable(known, named.length > 1 ? { ...found, labeled: [] } : found, before);
  });
  const state: MiproState = { ...before, slots: named, usable, searchedForDemos: before.asked };
  if (isFirst) return withFirstSets(state, components);
  const demoSets = state.demoSets.map((sets, slot) => {
    const hard = hardSet(usable[slot]!, sets, state);
    return hard ? [...sets, hard] : sets;
  });
  return { ...state, demoSets };
}

function withFirstSets(before: MiproState, components: string[]): MiproState {
  let state: MiproState = {
    ...before,
    components,
    instructions: components.map(() => [0]),
    requested: components.map(() => 0),
    choices: { 0: Array.from({ length: components.length + before.slots.length }, () => 0) },
  };
  for (const usable of before.usable) {
    const [sets, rng] = firstSets(usable, state, state.rng);
    state = { ...state, demoSets: [...state.demoSets, sets], rng };
  }
  return state;
}
