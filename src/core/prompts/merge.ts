/**
 * Three-way merge of two descendants of a text, sentence by sentence (see Khanna, Kunal, Pierce: "A
 * Formal Investigation of Diff3", 2007). White space between sentences is a separate token, so that
 * appending a sentence does not change the one before it.
 */
import { matchRows } from './match.js';
import { isBlank, needsNoSpace, tokenize } from './segments.js';

export type TextMergeResult = { ok: true; text: string } | { ok: false; conflicts: number };

/** Replaces the tokens [from, to) of the base by `by`. */
interface Edit {
  from: number;
  to: number;
  by: string[];
}

/**
 * Combines edits at different positions, applies an identical edit once, and keeps both insertions
 * at one position, ours first, without repeating a sentence. `conflicts` counts positions where a
 * sentence was changed in two ways, or changed and removed.
 */
export function mergeTexts(base: string, ours: string, theirs: string): TextMergeResult {
  const tokens = tokenize(base);
  const groups = groupEdits(diffEdits(tokens, tokenize(ours)), diffEdits(tokens, tokenize(theirs)));
  const merged: string[] = [];
  let index = 0;
  let conflicts = 0;
  for (const { from, to, sides } of groups) {
    const by = resolveGroup(sides, tokens.slice(from, to).every(isBlank));
    if (by === null) conflicts++;
    else for (const token of tokens.slice(index, from).concat(by)) merged.push(token);
    index = to;
  }
  if (conflicts > 0) return { ok: false, conflicts };
  return { ok: true, text: joinTokens([...merged, ...tokens.slice(index)]) };
}

/** The edits of one side; a removal is one edit per token, so that overlapping removals agree. */
function diffEdits(base: readonly string[], side: readonly string[]): Edit[] {
  const edits: Edit[] = [];
  let from = 0;
  let by: string[] = [];
  const close = (to: number) => {
    if (by.length > 0) edits.push({ from, to, by });
    else for (let index = from; index < to; index++) edits.push({ from: index, to: index + 1, by });
  };
  for (const [index, match] of matchRows(base, side).entries()) {
    if (match < 0) {
      by.push(side[index]!);
      continue;
    }
    close(match);
    from = match + 1;
    by = [];
  }
  close(base.length);
  return edits;
}

/** Overlapping edits of both sides. */
interface Group {
  from: number;
  to: number;
  sides: [ours: Edit[], theirs: Edit[]];
}

function groupEdits(ours: readonly Edit[], theirs: readonly Edit[]): Group[] {
  const all = [
    ...ours.map((edit) => ({ edit, side: 0 as 0 | 1 })),
    ...theirs.map((edit) => ({ edit, side: 1 as 0 | 1 })),
  ];
  // Insertions before a replacement at the same position; the sort is stable, so ours first.
  all.sort((a, b) => a.edit.from - b.edit.from || Number(isInsertion(b.edit)) - Number(isInsertion(a.edit)));
  const groups: Group[] = [];
  for (const { edit, side } of all) {
    const last = groups.at(-1);
    const joins =
      last && (edit.from < last.to || (isInsertion(edit) && last.from === edit.from && last.to === edit.to));
    const group = joins ? last : { from: edit.from, to: edit.to, sides: [[], []] as Group['sides'] };
    group.to = Math.max(group.to, edit.to);
    group.sides[side].push(edit);
    if (!joins) groups.push(group);
  }
  return groups;
}

/** The merged tokens; null: a conflict. `ofBlanks`: all base tokens are white space. */
function resolveGroup([ours, theirs]: Group['sides'], ofBlanks: boolean): string[] | null {
  if (ours.length === 0 || theirs.length === 0) return [...ours, ...theirs].flatMap(({ by }) => by);
  const [mine, yours] = [ours[0]!, theirs[0]!];
  if (ours.length > 1 || theirs.length > 1 || mine.from !== yours.from || mine.to !== yours.to) return null;
  if (sameTokens(mine.by, yours.by)) return mine.by;
  if (isInsertion(mine)) return [...mine.by, ...newTokens(yours.by, mine.by)];
  const onlySpacing = ofBlanks && mine.by.every(isBlank) && yours.by.every(isBlank);
  return onlySpacing ? [mine.by.join(''), yours.by.join('')].sort(longerFirst).slice(0, 1) : null;
}

/** Sorts longer white space first: a difference in spacing alone is not a conflict. */
function longerFirst(a: string, b: string): number {
  return b.length - a.length || (a < b ? -1 : 1);
}

/** The tokens not in `known`, counting repetitions; the space before a known one goes too. */
function newTokens(tokens: readonly string[], known: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const token of known) if (!isBlank(token)) left.set(token, (left.get(token) ?? 0) + 1);
  const kept: string[] = [];
  let skipBlank = false;
  for (const token of tokens) {
    const times = left.get(token) ?? 0;
    if (times > 0) {
      left.set(token, times - 1);
      skipBlank = kept.length === 0 || !isBlank(kept.at(-1)!);
      if (!skipBlank) kept.pop();
    } else if (!(skipBlank && isBlank(token))) {
      kept.push(token);
      skipBlank = false;
    }
  }
  return kept;
}

/** Joins tokens; puts a line break between sentences that become adjacent. */
function joinTokens(tokens: readonly string[]): string {
  let text = '';
  let last = '';
  for (const token of tokens) {
    text += last === '' || isBlank(token) || needsNoSpace(last) ? token : `\n${token}`;
    last = token;
  }
  return text;
}

function isInsertion({ from, to }: Edit): boolean {
  return from === to;
}

function sameTokens(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((token, index) => token === b[index]);
}
