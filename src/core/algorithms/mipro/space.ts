/** What a candidate is made of: one of a component's instructions for each, one of a slot's sets of demonstrations for each. */
import type { Composition } from '../../search/protocol.js';
import type { MiproState } from './state.js';
import type { Space } from './tpe.js';

/** How many choices there are for each component, then for each slot. */
export function spaceOf({ instructions, demoSets }: MiproState): Space {
  return [...instructions, ...demoSets].map((choices) => choices.length);
}

/** The candidate that is made of these choices, or undefined. */
export function candidateOf({ choices: known }: MiproState, choices: readonly number[]): number | undefined {
  const key = choices.join();
  const found = Object.entries(known).find(([, own]) => own.join() === key);
  return found && Number(found[0]);
}

/** The candidates whose texts a combination has, the baseline only where it has no other. */
export function parentsOf({ instructions }: MiproState, choices: readonly number[]): number[] {
  const sources = instructions.map((own, component) => own[choices[component]!]!);
  const others = [...new Set(sources)].filter((source) => source !== 0).sort((left, right) => left - right);
  return others.length > 0 ? others : [0];
}

/** What is put together for a combination. */
export function compositionOf(state: MiproState, choices: readonly number[]): Composition {
  const { instructions, slots, demoSets } = state;
  return {
    texts: instructions.map((own, component) => own[choices[component]!]!),
    demos: slots.map((component, slot) => ({ component, ...demoSets[slot]![choices[instructions.length + slot]!]! })),
  };
}

/** Candidates with what they are made of, by ascending number. */
export function knownCombinations({ choices }: MiproState): { candidate: number; choices: number[] }[] {
  return Object.entries(choices).map(([candidate, own]) => ({ candidate: Number(candidate), choices: own }));
}

/** Whether as many instructions of every component were asked for as there may be. */
export function isAllRequested({ requested, config }: MiproState): boolean {
  return requested.every((count) => count >= config.numCandidates - 1);
}
