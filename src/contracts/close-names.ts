import { distance } from 'fastest-levenshtein';

const longestName = 64;

/** The known name that `name` probably means; null: none is close, or `name` is known itself. */
export function closestName(name: string, known: readonly string[]): string | null {
  if (name.length > longestName || known.includes(name)) return null;
  const plain = plainName(name);
  const closest = known
    .map((candidate) => ({ candidate, edits: distance(plain, plainName(candidate)) }))
    .reduce((best, next) => (next.edits < best.edits ? next : best), { candidate: name, edits: longestName });
  // Two swapped letters count two edits.
  return closest.edits <= Math.min(3, Math.floor(plain.length * 0.4)) ? closest.candidate : null;
}

/** The error message of an unknown field. */
export function unknownField(name: string, known: readonly string[]): string {
  const meant = closestName(name, known);
  return meant === null ? 'unknown field' : `unknown field; did you mean \`${meant}\`?`;
}

const plainName = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, '');
