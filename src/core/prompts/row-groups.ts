/**
 * Rows that are no independent tasks: a split uses the first of equal rows, and keeps rows with
 * equal inputs in one part.
 */
import { groupBy } from '../../util/group.js';

/** What a row holds, as texts or hashes that are equal for equal values. */
export interface RowContent {
  row: string;
  /** What the model sees of it. */
  input: string;
  /** Its right answer. */
  expected: string;
}

export interface RowGroups {
  /** The first of equal rows, grouped by their inputs, in the order of the rows. */
  groups: number[][];
  /** Rows that equal an earlier one. */
  copies: number[];
  /** Groups of rows with different right answers. */
  contradictions: number[][];
}

export function groupRows(contents: readonly RowContent[]): RowGroups {
  const rows = [...groupBy([...contents.keys()], (at) => contents[at]!.row).values()];
  const distinct = rows.map(([first]) => first!).sort((left, right) => left - right);
  const groups = [...groupBy(distinct, (at) => contents[at]!.input).values()];
  const answers = (group: readonly number[]) => new Set(group.map((at) => contents[at]!.expected)).size;
  return {
    groups,
    copies: rows.flatMap(([, ...others]) => others).sort((left, right) => left - right),
    contradictions: groups.filter((group) => answers(group) > 1),
  };
}

/**
 * The warnings about seeds that a request names: rows of a part that the model sees in an earlier
 * part as well, and equal rows within a part. A seed in two parts is no copy.
 */
export function namedWarnings(
  contents: readonly RowContent[],
  parts: readonly { name: string; seeds: readonly number[] }[],
): string[] {
  const warnings: string[] = [];
  const seen = new Map<string, { seed: number; name: string }>();
  for (const { name, seeds } of parts) {
    const known = [...new Set(seeds)].filter((seed) => seed < contents.length);
    const shared = known.flatMap((seed) => {
      const earlier = seen.get(contents[seed]!.input);
      return earlier && earlier.seed !== seed ? [{ seed, earlier }] : [];
    });
    const [first] = shared;
    if (first)
      warnings.push(
        `${shared.length} of the ${known.length} ${name} rows have the input of a ${first.earlier.name} row (the first: row ${first.seed}, as row ${first.earlier.seed}), so a prompt that remembers it looks better than it is. Name other seeds, or none: the split keeps equal inputs in one part.`,
      );
    const copies = known.length - new Set(known.map((seed) => contents[seed]!.row)).size;
    if (copies > 0)
      warnings.push(
        `${copies} of the ${known.length} ${name} rows equal another one of them, so their results count more than once. Name other seeds, or none: the split uses equal rows once.`,
      );
    for (const seed of known) if (!seen.has(contents[seed]!.input)) seen.set(contents[seed]!.input, { seed, name });
  }
  return warnings;
}

/** `unit`: what one of them is called, such as `row`. */
export function groupWarnings({ copies, contradictions }: RowGroups, unit: string): string[] {
  const warnings: string[] = [];
  if (copies.length > 0)
    warnings.push(
      `${copies.length} ${unit}s equal an earlier ${unit} (the first: ${copies[0]}) and are not used, since equal ${unit}s tell nothing new. Give other ${unit}s, or name the seeds.`,
    );
  const [first] = contradictions;
  if (first)
    warnings.push(
      `${contradictions.length} inputs have several ${unit}s with different right answers (the first: ${unit}s ${first.slice(0, 3).join(', ')}); no prompt can solve them all. Correct them, or give a list of right answers.`,
    );
  return warnings;
}
