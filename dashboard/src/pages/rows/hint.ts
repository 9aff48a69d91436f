import type { Row } from '../../data/rows/types.js';

const mostRows = 10;
const textChars = 200;
/** Of a hint. */
const mostChars = 4_000;

const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > textChars ? `${line.slice(0, textChars - 1)}…` : line;
};

/** A hint that shows rows to the proposer; held-out rows would spoil the comparison. Null: none. */
export function hintOf(rows: readonly Row[]): string | null {
  const lines = rows
    .filter(({ seen, after }) => seen !== false && after !== null)
    .slice(0, mostRows)
    .map(({ name, input, expected, after }) => {
      const asked = input === null ? `Row ${name}` : `"${short(input)}"`;
      const wanted = expected === null ? '' : ` expects "${short(expected)}",`;
      return `- ${asked}${wanted} and got "${short(after!.answer ?? after!.error ?? '')}".`;
    });
  return lines.length === 0 ? null : `These rows need other answers:\n${lines.join('\n')}`.slice(0, mostChars);
}
