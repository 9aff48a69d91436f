/** A candidate as texts by component: rewriting, merging, and missing contributions. */
import { attribute, removedSegments, type LineageText } from '../prompts/attribution.js';
import { mergeTexts } from '../prompts/merge.js';
import type { ComponentSelection, ProposalRequest } from '../search/protocol.js';

/** Component to text. */
export type Texts = Readonly<Record<string, string>>;

/** A candidate with its texts; in a lineage it follows its parents. */
export interface LineageTexts {
  candidate: number;
  parents: readonly number[];
  texts: Texts;
}

/**
 * The components to rewrite, at least one, in the prompt's order. By feedback: those named in at
 * least half as many failures as the most frequent name. Without any, and in round robin, `turn`.
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

/** The components that a `rewrite` request rewrites, by the feedback of the failures shown. */
export function componentsToRewrite(
  names: readonly string[],
  feedback: readonly string[],
  { components }: Pick<ProposalRequest, 'components'>,
): string[] {
  const { selection, turn } = components!;
  return chooseComponents(names, feedback, selection, turn);
}

function namesIt(text: string, name: string): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'iu').test(text);
}

/** The candidates whose contributions to the parent a child's texts lack; ascending. */
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
  const visit = (member: number) => {
    const found = all.get(member);
    if (!found || lineage.has(member)) return;
    found.parents.forEach(visit);
    lineage.set(member, found);
  };
  visit(candidate);
  return [...lineage.values()];
}

function textsOf(lineage: readonly LineageTexts[], name: string): LineageText[] {
  return lineage.map(({ candidate, parents, texts }) => ({ candidate, parents, text: texts[name] ?? '' }));
}

/** Merges the candidates' changes to their base, without conflicts; null: too few. */
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
