import { diffLines, diffWordsWithSpace } from 'diff';

export interface Piece {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Above this length, words are compared within changed blocks of lines only. */
const longText = 8_000;

/** What changed from `before` to `after`, by words. */
export function wordDiff(before: string, after: string): Piece[] {
  if (before.length + after.length <= longText) return piecesOf(diffWordsWithSpace(before, after));
  const pieces: Piece[] = [];
  const changes = piecesOf(diffLines(before, after));
  for (let n = 0; n < changes.length; n += 1) {
    const [change, next] = [changes[n]!, changes[n + 1]];
    const isRewritten = change.kind === 'removed' && next?.kind === 'added';
    if (isRewritten && change.text.length + next.text.length <= longText) {
      pieces.push(...piecesOf(diffWordsWithSpace(change.text, next.text)));
      n += 1;
    } else pieces.push(change);
  }
  return pieces;
}

function piecesOf(changes: { value: string; added?: boolean; removed?: boolean }[]): Piece[] {
  return changes.map(({ value, added, removed }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text: value,
  }));
}
