import { createTwoFilesPatch } from 'diff';

/** Limit of changed lines: beyond it the search for the shortest diff takes too long. */
export const maxEdits = 1_000;

/** Unified diff of two texts. Above `edits` changed lines: the whole old text, then the new one. */
export function unifiedDiff(
  from: { name: string; text: string },
  to: { name: string; text: string },
  edits = maxEdits,
): string {
  const options = { context: 3, maxEditLength: edits };
  const patch = createTwoFilesPatch(from.name, to.name, from.text, to.text, undefined, undefined, options);
  return patch ?? replaceAllDiff(from, to);
}

function replaceAllDiff(from: { name: string; text: string }, to: { name: string; text: string }): string {
  const [old, now] = [from.text.split('\n'), to.text.split('\n')];
  const head = [`--- ${from.name}`, `+++ ${to.name}`, `@@ -1,${old.length} +1,${now.length} @@`];
  return [...head, ...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`), ''].join('\n');
}
