import { createTwoFilesPatch } from 'diff';

/** Beyond this many lines put in or taken out the search for the shortest difference takes too long. */
export const maxEdits = 1_000;

/**
 * The difference of two texts, line by line, as a unified diff. Texts with little in common (more than `edits` lines): all of one, then
 * all of the other.
 */
export function unifiedDiff(
  from: { name: string; text: string },
  to: { name: string; text: string },
  edits = maxEdits,
): string {
  const options = { context: 3, maxEditLength: edits };
  const patch = createTwoFilesPatch(from.name, to.name, from.text, to.text, undefined, undefined, options);
  return patch ?? wholly(from, to);
}

function wholly(from: { name: string; text: string }, to: { name: string; text: string }): string {
  const [old, now] = [from.text.split('\n'), to.text.split('\n')];
  const head = [`--- ${from.name}`, `+++ ${to.name}`, `@@ -1,${old.length} +1,${now.length} @@`];
  return [...head, ...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`), ''].join('\n');
}
