/**
 * A candidate as texts by component: which of them a reflection rewrites, how those of several candidates are combined, and
 * what of an ancestor's a child has lost.
 */
import { attribute, removedSegments, type LineageText } from '../prompts/attribution.js';
import { mergeTexts } from '../prompts/merge.js';

/** Component to text. */
export type Texts = Readonly<Record<string, string>>;

/** `feedback`: those that the failures' feedback names; `round_robin`: one after the other; `all`: each time all. */
export type ComponentSelection = 'feedback' | 'round_robin' | 'all';

/** A candidate with its texts, after its parents where it stands in a lineage. */
export interface LineageTexts {
  candidate: number;
  parents: readonly number[];
  texts: Texts;
}

/**
 * The components to rewrite, in the prompt's order, at least one. By feedback: those that it names by their name as a word in
 * at least half as many failures as the one it names most; where it names none, or in turns, the `turn`-th.
 */
export function chooseComponents(
  names: readonly string[],
  feedback: readonly string[],
  selection: ComponentSelection,
  turn: number,
): string[] {
  if (selection === 'all' || names.length === 1) return [...names];
  const inTurn = names[turn % names.length]!;
  if (selection === 'round_robin') return [inTurn];
  const counts = names.map((name) => feedback.filter((text) => namesIt(text, name)).length);
  const most = Math.max(...counts);
  return most === 0 ? [inTurn] : names.filter((_, index) => 2 * counts[index]! >= most && counts[index]! > 0);
}

function namesIt(text: string, name: string): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'iu').test(text);
}

/** The candidates that had brought in what a child's texts lack of its parent's; ascending. */
export function removedCandidates(lineage: readonly LineageTexts[], child: Texts): number[] {
  const parent = lineage.at(-1);
  if (parent === undefined) return [];
  const removed = Object.keys(parent.texts)
    .filter((name) => parent.texts[name] !== child[name])
    .flatMap((name) => removedSegments(attribute(textsOf(lineage, name)), child[name] ?? ''));
  return [...new Set(removed.map(({ candidate }) => candidate))].sort((left, right) => left - right);
}

/** A candidate with all its ancestors, each after its parents. */
export function lineageOf(all: ReadonlyMap<number, LineageTexts>, candidate: number): LineageTexts[] {
  const lineage = new Map<number, LineageTexts>();
  const visit = (one: number) => {
    const found = all.get(one);
    if (!found || lineage.has(one)) return;
    found.parents.forEach(visit);
    lineage.set(one, found);
  };
  visit(candidate);
  return [...lineage.values()];
}

function textsOf(lineage: readonly LineageTexts[], name: string): LineageText[] {
  return lineage.map(({ candidate, parents, texts }) => ({ candidate, parents, text: texts[name] ?? '' }));
}

/**
 * What the candidates did to their common base, in one prompt: one after the other is merged in, and left out where it
 * contradicts what is there. Null unless two at least could be combined.
 */
export function mergeCandidates(
  base: Texts,
  sides: readonly { candidate: number; texts: Texts }[],
): { texts: Texts; parents: number[] } | null {
  const [first, ...others] = sides;
  if (first === undefined) return null;
  let texts = first.texts;
  const parents = [first.candidate];
  for (const side of others) {
    const both = mergeBoth(base, texts, side.texts);
    if (both === null) continue;
    texts = both;
    parents.push(side.candidate);
  }
  return parents.length > 1 ? { texts, parents } : null;
}

function mergeBoth(base: Texts, ours: Texts, theirs: Texts): Texts | null {
  const merged: Record<string, string> = {};
  for (const name of Object.keys(base)) {
    const both = mergeTexts(base[name]!, ours[name]!, theirs[name]!);
    if (!both.ok) return null;
    merged[name] = both.text;
  }
  return merged;
}
