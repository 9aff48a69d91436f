/**
 * Aligns two lists of texts: equal ones wherever they stand, then those with the same key
 * (`- records_desk: …`), then similar ones between the same neighbours.
 */
import { groupBy } from '../../../util/group.js';
import { longestAscending, matchMoved } from '../match.js';
import { commonShare } from './words.js';

export type EditKind = 'added' | 'removed' | 'changed' | 'moved';

/** An edit of a list. `from`: its index in the earlier list; `to`: in the later one. */
export type ListEdit =
  | { kind: 'added'; from: null; to: number }
  | { kind: 'removed'; from: number; to: null }
  | { kind: 'changed' | 'moved'; from: number; to: number };

/** Similar texts share at least half of their words. */
const similarShare = 0.5;
/** Pairs of texts whose words are compared. */
const mostCompared = 2_000;

/** The edits that make the later list, in its order; a removed text follows its predecessor. */
export function listEdits(before: readonly string[], after: readonly string[]): ListEdit[] {
  const partner = matchMoved(before, after);
  pairByKey(before, after, partner);
  pairSimilar(before, after, partner);
  const stays = stayingIndexes(partner.map((from, to) => (before[from] === after[to] ? from : -1)));
  const edits = partner.flatMap((from, to): ListEdit[] => {
    if (from < 0) return [{ kind: 'added', from: null, to }];
    if (before[from] !== after[to]) return [{ kind: 'changed', from, to }];
    return stays.has(to) ? [] : [{ kind: 'moved', from, to }];
  });
  return inOrder([...removals(before, partner), ...edits], partner);
}

/** The later list, from the earlier one, its edits, and the texts of the later one by index. */
export function applyEdits(
  before: readonly string[],
  edits: readonly ListEdit[],
  textAt: (edit: ListEdit) => string,
): string[] {
  const taken = new Set(edits.flatMap(({ from }) => from ?? []));
  const placed = new Map(edits.flatMap((edit) => (edit.to === null ? [] : [[edit.to, textAt(edit)]])));
  const kept = before.filter((_, index) => !taken.has(index)).values();
  return Array.from({ length: before.length - taken.size + placed.size }, (_, to) => {
    return placed.get(to) ?? kept.next().value!;
  });
}

/** The indexes of the later list whose partners ascend: the others are moved. */
function stayingIndexes(partner: readonly number[]): Set<number> {
  const pairs = partner.flatMap((from, to): [number, number][] => (from < 0 ? [] : [[from, to]]));
  return new Set(longestAscending(pairs).map(([, to]) => to));
}

/** Pairs the unmatched texts whose key no other unmatched text of their list has. */
function pairByKey(before: readonly string[], after: readonly string[], partner: number[]): void {
  const [left, right] = unmatched(before, partner);
  const [ofBefore, ofAfter] = [singleKeys(before, left), singleKeys(after, right)];
  for (const [key, to] of ofAfter) {
    const from = ofBefore.get(key);
    if (from !== undefined) partner[to] = from;
  }
}

function singleKeys(texts: readonly string[], indexes: readonly number[]): Map<string, number> {
  const byKey = groupBy(indexes, (index) => lineKey(texts[index]!));
  return new Map(
    [...byKey].flatMap(([key, found]): [string, number][] =>
      key === null || found.length > 1 ? [] : [[key, found[0]!]],
    ),
  );
}

const keyed =
  /^(?:[-*•+]|\d{1,3}[.)])?\s*[`"'*_]*([\p{L}\p{N}][\p{L}\p{N} _./-]{0,59}?)[`"'*_]*\s*(?::|=|→|->|—)\s*\S/u;

/** What a line is about: `records_desk` of `- records_desk: app, old`; null: it does not say. */
export function lineKey(text: string): string | null {
  return keyed.exec(text)?.[1]!.toLowerCase() ?? null;
}

/** Pairs similar texts between the same matched neighbours, the most similar first. */
function pairSimilar(before: readonly string[], after: readonly string[], partner: number[]): void {
  const [left, right] = unmatched(before, partner);
  if (left.length * right.length > mostCompared) return;
  const indexBefore = indexesOf(before.length, new Map(partner.flatMap((from, to) => (from < 0 ? [] : [[from, to]]))));
  const indexAfter = indexesOf(after.length, new Map(partner.flatMap((from, to) => (from < 0 ? [] : [[to, to]]))));
  const pairs = right.flatMap((to) =>
    left
      .filter((from) => indexBefore[from] === indexAfter[to])
      .map((from) => ({ from, to, share: commonShare(before[from]!, after[to]!) })),
  );
  const taken = new Set<number>();
  for (const { from, to, share } of pairs.sort((one, other) => other.share - one.share)) {
    if (share < similarShare) return;
    if (taken.has(from) || partner[to]! >= 0) continue;
    taken.add(from);
    partner[to] = from;
  }
}

/** For each index the number of the last matched text before it; -1: none. */
function indexesOf(length: number, matched: ReadonlyMap<number, number>): number[] {
  let last = -1;
  return Array.from({ length }, (_, index) => (last = matched.get(index) ?? last));
}

function unmatched(before: readonly string[], partner: readonly number[]): [number[], number[]] {
  const taken = new Set(partner);
  return [
    [...before.keys()].filter((index) => !taken.has(index)),
    [...partner.keys()].filter((index) => partner[index]! < 0),
  ];
}

function removals(before: readonly string[], partner: readonly number[]): ListEdit[] {
  return unmatched(before, partner)[0].map((from) => ({ kind: 'removed', from, to: null }));
}

/** By index in the later list; a removed text stands after what was before it. */
function inOrder(edits: ListEdit[], partner: readonly number[]): ListEdit[] {
  const toOf = new Map(partner.flatMap((from, to) => (from < 0 ? [] : [[from, to]])));
  const indexOf = ({ from, to }: ListEdit): number => {
    if (to !== null) return to;
    for (let index = from; index >= 0; index -= 1) {
      const next = toOf.get(index);
      if (next !== undefined) return next + 0.5;
    }
    return -0.5;
  };
  return edits
    .map((edit) => ({ edit, index: indexOf(edit) }))
    .sort((one, other) => one.index - other.index)
    .map(({ edit }) => edit);
}
