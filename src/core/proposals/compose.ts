import type { Texts } from './components.js';

/** The texts of `sources`, the candidate of each component in the order of `names`. */
export function composeTexts(
  names: readonly string[],
  sources: readonly number[],
  textsOf: (candidate: number) => Texts,
): Texts {
  return Object.fromEntries(names.map((name, index) => [name, textsOf(sources[index]!)[name]!]));
}
