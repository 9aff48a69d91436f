/** Arguments of the comparisons. */

/** The worlds of `--worlds 1-10`, or of one number. */
export function worldsIn(given: string): number[] {
  const [from = NaN, to = from] = given.split('-').map(Number);
  if (![from, to].every(Number.isInteger))
    throw new Error(`--worlds ${given}: expected a number or a range such as 1-10`);
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

/** The kinds of `--kinds`. */
export function kindsIn<Kind extends string>(given: string, all: readonly Kind[]): Kind[] {
  return given.split(',').map((name) => {
    const kind = all.find((known) => known === name);
    if (!kind) throw new Error(`--kinds: unknown kind ${name}; expected some of ${all.join(',')}`);
    return kind;
  });
}

/** Numbers from `from` to `to`, exclusive. */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);
