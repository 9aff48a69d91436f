/** Whose words a prompt is made of: for each sentence the candidate that brought it in. */
import { matchMoved } from './match.js';
import { splitSegments } from './segments.js';

/** A text on the way from the root to a candidate. A merged candidate has two parents, a root none. */
export interface LineageText {
  candidate: number;
  text: string;
  parents: readonly number[];
}

/** A sentence with the white space around it, and the candidate whose text had it first. */
export interface AttributedSegment {
  text: string;
  candidate: number;
}

/**
 * The segments of the last text, in order; joined they are exactly that text. `lineage` holds a candidate after its
 * parents; a parent that is not in it counts as one without text. A segment that a parent has too, white space around it
 * and its place aside, was introduced by whoever introduced it there (of two parents: by whoever comes first in
 * `lineage`); any other by the candidate itself. Empty for an empty lineage or text.
 */
export function attribute(lineage: readonly LineageText[]): AttributedSegment[] {
  const order = new Map(lineage.map(({ candidate }, index) => [candidate, index]));
  const known = new Map<number, AttributedSegment[]>();
  for (const { candidate, text, parents } of lineage) {
    const segments = splitSegments(text).map((segment) => ({ text: segment, candidate }));
    const words = segments.map(trimmedText);
    for (const parent of parents) {
      const theirs = known.get(parent) ?? [];
      for (const [index, source] of matchMoved(theirs.map(trimmedText), words).entries()) {
        const origin = theirs[source]?.candidate;
        const segment = segments[index]!;
        if (origin !== undefined && order.get(origin)! < order.get(segment.candidate)!) segment.candidate = origin;
      }
    }
    known.set(candidate, segments);
  }
  return known.get(lineage.at(-1)?.candidate ?? NaN) ?? [];
}

/** The parent's segments that the child's text no longer has anywhere, with who introduced them; in the parent's order. */
export function removedSegments(parent: readonly AttributedSegment[], childText: string): AttributedSegment[] {
  const kept = new Set(
    matchMoved(
      parent.map(trimmedText),
      splitSegments(childText).map((text) => trimmedText({ text })),
    ),
  );
  return parent.filter((_, index) => !kept.has(index));
}

function trimmedText({ text }: { text: string }): string {
  return text.trim();
}
