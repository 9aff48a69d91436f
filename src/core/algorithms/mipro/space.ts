/** The search space: an instruction for each component, then a demo set for each slot. */
import type { Composition } from '../../search/protocol.js';
import { instructionLimit } from './config.js';
import type { MiproState, NewCombination } from './state.js';
import type { Space } from './parzen.js';

/** The number of choices for each component, then for each slot. */
export function spaceOf({ instructions, demoSets }: MiproState): Space {
  return [...instructions, ...demoSets].map((choices) => choices.length);
}

/** The candidate with these choices, or undefined. */
export function candidateOf({ choices: known }: MiproState, choices: readonly number[]): number | undefined {
  const key = choices.join();
  const found = Object.entries(known).find(([, own]) => own.join() === key);
  return found && Number(found[0]);
}

/** The candidates whose texts a combination has; the baseline only if there is no other. */
export function parentsOf({ instructions }: MiproState, choices: readonly number[]): number[] {
  const sources = instructions.map((own, component) => own[choices[component]!]!);
  const others = [...new Set(sources)].filter((source) => source !== 0).sort((left, right) => left - right);
  return others.length > 0 ? others : [0];
}

/** The texts and demonstrations of a combination. */
export function compositionOf(state: MiproState, { choices, parents }: NewCombination): Composition {
  const { instructions, slots, demoSets } = state;
  return {
    parents,
    texts: instructions.map((own, component) => own[choices[component]!]!),
    demos: slots.map((component, slot) => ({ component, ...demoSets[slot]![choices[instructions.length + slot]!]! })),
  };
}

/** Candidates with their choices, by ascending number. */
export function knownCombinations({ choices }: MiproState): { candidate: number; choices: number[] }[] {
  return Object.entries(choices).map(([candidate, own]) => ({ candidate: Number(candidate), choices: own }));
}

/** Whether all allowed instructions of every component are requested. */
export function isAllRequested({ requested, config }: MiproState): boolean {
  return requested.every((count) => count >= instructionLimit(config));
}
