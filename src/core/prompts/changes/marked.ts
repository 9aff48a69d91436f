/** A text with the marks of what changed in it since another. */
import { applyEdits, listEdits, type EditKind, type ListEdit } from './align.js';
import { partsOf } from './changes.js';
import { wordPieces, type WordPiece } from './words.js';

export interface MarkedSentence {
  kind: 'same' | EditKind;
  /** The white space before it. */
  space: string;
  text: string;
  /** Of a changed one. */
  words: WordPiece[] | null;
}

/**
 * The sentences of the later text in order, with removed ones after what was before them. Without
 * the removed ones, spaces and texts join to the later text.
 */
export function markedText(before: string, after: string): MarkedSentence[] {
  const [old, now] = [partsOf(before), partsOf(after)];
  const edits = listEdits(old.sentences, now.sentences);
  const byPlace = new Map(edits.flatMap((edit) => (edit.to === null ? [] : [[edit.to, edit]])));
  const gone = removedByPredecessor(old.sentences.length, edits);
  const removed = (index: number): MarkedSentence[] =>
    (gone.get(index) ?? []).map((from) => ({
      kind: 'removed',
      space: index < 0 && now.spaces[0] === '' ? '' : ' ',
      text: old.sentences[from]!,
      words: null,
    }));
  const marked = now.sentences.flatMap((text, to): MarkedSentence[] => {
    const edit = byPlace.get(to);
    const words = edit?.kind === 'changed' ? wordPieces(old.sentences[edit.from]!, text) : null;
    return [{ kind: edit?.kind ?? 'same', space: now.spaces[to]!, text, words }, ...removed(to)];
  });
  return [...removed(-1), ...marked, { kind: 'same', space: now.spaces.at(-1)!, text: '', words: null }];
}

/** Removed indexes of the earlier list by the index of what is before them; -1: nothing is. */
function removedByPredecessor(length: number, edits: readonly ListEdit[]): Map<number, number[]> {
  const indexes = Array.from({ length }, (_, index) => String(index));
  const origins = applyEdits(indexes, edits, ({ from }) => String(from ?? -1));
  const indexOf = new Map(origins.map((origin, to) => [Number(origin), to]));
  const gone = new Map<number, number[]>();
  let index = -1;
  for (let from = 0; from < length; from += 1) {
    const to = indexOf.get(from);
    if (to !== undefined) index = to;
    else gone.set(index, [...(gone.get(index) ?? []), from]);
  }
  return gone;
}
