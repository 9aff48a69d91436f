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
  /** The words of the input, whose case and marks do not count. */
  words: string;
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
  /** Rows of different groups with the same words: one of each group. */
  similar: number[][];
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
    similar: similarRows(contents, groups),
  };
}

/** Rows with the same words, one for each input; inputs without words are not compared. */
function similarRows(contents: readonly RowContent[], groups: readonly (readonly number[])[]): number[][] {
  const firsts = groups.map(([first]) => first!).filter((at) => contents[at]!.words.trim() !== '');
  return [...groupBy(firsts, (at) => contents[at]!.words).values()].filter((rows) => rows.length > 1);
}

/**
 * The warnings about seeds that a request names: rows of a part that the model sees in an earlier
 * part as well, equal rows within a part, and rows of several parts with the same words. A seed in
 * two parts is no copy.
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
        `${shared.length} of the ${known.length} ${name} rows have the input of a ${first.earlier.name} row (the first: row ${first.seed}, as row ${first.earlier.seed}), so a prompt that remembers it looks better than it is. Name other rows, or none: the split keeps equal inputs in one part.`,
      );
    const copies = known.length - new Set(known.map((seed) => contents[seed]!.row)).size;
    if (copies > 0)
      warnings.push(
        `${copies} of the ${known.length} ${name} rows equal another one of them, so their results count more than once. Name other rows, or none: the split uses equal rows once.`,
      );
    for (const seed of known) if (!seen.has(contents[seed]!.input)) seen.set(contents[seed]!.input, { seed, name });
  }
  const all = [...new Set(parts.flatMap(({ seeds }) => seeds))].filter((seed) => seed < contents.length);
  const inputs = [...groupBy(all, (seed) => contents[seed]!.input).values()];
  const partSeeds = parts.map(({ seeds }) => seeds);
  const similar = similarRows(contents, inputs).filter((rows) => isApart(rows, partSeeds));
  return [...warnings, ...similarWarning(similar, 'row', partSeeds)];
}

/** Near-duplicates that a warning names. */
const named = 5;

/** `unit`: what one of them is called, such as `row`; `parts`: of the split that uses them. */
export function groupWarnings(
  { copies, contradictions, similar }: RowGroups,
  unit: string,
  parts: readonly (readonly number[])[],
): string[] {
  const warnings: string[] = [];
  if (copies.length > 0)
    warnings.push(
      `${copies.length} ${unit}s equal an earlier ${unit} (the first: ${copies[0]}) and are not used, since equal ${unit}s tell nothing new. Give other ${unit}s, or name them.`,
    );
  const [first] = contradictions;
  if (first)
    warnings.push(
      `${contradictions.length} inputs have several ${unit}s with different right answers (the first: ${unit}s ${first.slice(0, 3).join(', ')}); no prompt can solve them all. Correct them, or give a list of right answers.`,
    );
  return [...warnings, ...similarWarning(similar, unit, parts)];
}

/** Whether no part has all of the rows that the parts have. */
function isApart(rows: readonly number[], parts: readonly (readonly number[])[]): boolean {
  const used = rows.filter((row) => parts.some((part) => part.includes(row)));
  return used.length > 0 && !parts.some((part) => used.every((row) => part.includes(row)));
}

function similarWarning(
  similar: readonly (readonly number[])[],
  unit: string,
  parts: readonly (readonly number[])[],
): string[] {
  if (similar.length === 0) return [];
  const apart = similar.filter((rows) => isApart(rows, parts));
  const together = similar.filter((rows) => !apart.includes(rows));
  const shown = [...apart, ...together].slice(0, named).map((rows) => rows.slice(0, named).join(', '));
  const across =
    apart.length === 0
      ? ''
      : ` ${apart.length} of them stand in several parts of the split, where a prompt that remembers one looks better than it is.`;
  return [
    `${similar.length} inputs have several ${unit}s that differ only in case or punctuation (${unit}s ${shown.join('; ')}${similar.length > shown.length ? '; …' : ''}).${across} Leave out all but one of each, unless case or punctuation is what the task is about.`,
  ];
}
