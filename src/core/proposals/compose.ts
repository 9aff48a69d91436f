import type { Texts } from './components.js';

/**
 * Combines the texts of candidates: `sources` names the candidate of each component, in the order
 * of `names`. The parents are these candidates without the baseline, or the baseline alone.
 */
export function composeTexts(
  names: readonly string[],
  sources: readonly number[],
  textsOf: (candidate: number) => Texts,
): { texts: Texts; parents: number[] } {
  const texts = Object.fromEntries(names.map((name, index) => [name, textsOf(sources[index]!)[name]!]));
  const others = [...new Set(sources)].filter((candidate) => candidate !== 0).sort((left, right) => left - right);
  return { texts, parents: others.length > 0 ? others : [0] };
}
