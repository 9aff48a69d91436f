import type { Texts } from './components.js';

/**
 * The texts of `sources`, the candidate of each component in the order of `names`; the parents are
 * these candidates without the baseline, or the baseline alone.
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
