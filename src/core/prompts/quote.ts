/** How texts that nobody vouches for are shown to a model, each within its part. */

/** At most `limit` characters of a text, never half of one, and marked where something is left out. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '')} […]`;
}

/** Every line is marked, whatever its line breaks, so that no heading, no fence and no other part begins within the text. */
export function quoteText(text: string): string {
  return text
    .split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/)
    .map((line) => `> ${line}`)
    .join('\n');
}

/** A text between fences that are longer than any within it. */
export function fenceText(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}\n${text}\n${fence}`;
}
