/** Attributes each sentence of a prompt to the candidate that introduced it. */
import { matchMoved } from './match.js';
import { splitSegments } from './segments.js';

/** A text in a candidate's lineage. A merged candidate has two parents, a root none. */
export interface LineageText {
  candidate: number;
  text: string;
  parents: readonly number[];
}

/** A sentence with its surrounding white space, and the candidate that introduced it. */
export interface AttributedSegment {
  text: string;
  candidate: number;
}

/**
 * The segments of the last text in order; joined they equal that text. `lineage` lists parents
 * before children. A segment that a parent also has, regardless of white space and position, keeps
 * that parent's attribution (of two parents: the earlier one in `lineage`).
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

/** The parent's segments missing from the child's text, in the parent's order. */
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
