/** A hint for the proposer from wrong rows and what people noted of them. */

/** A row with the answer that it was given. */
export interface HintRow {
  name: string;
  input: string | null;
  /** The corrected answer, else the expected value; null: neither. */
  wanted: string | null;
  /** The answer, or why there is none. */
  got: string;
  notes: readonly string[];
}

export const mostHintRows = 10;
const textChars = 200;
/** Of a hint. */
export const mostHintChars = 4_000;

const cut = (text: string, most: number): string => {
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
};
const short = (text: string): string => cut(text.replaceAll(/\s+/g, ' ').trim(), textChars);

/** A hint within `mostHintChars`, rows with notes first; null: there are no rows. */
export function hintOf(rows: readonly HintRow[]): string | null {
  const noted = rows.filter(({ notes }) => notes.length > 0);
  const shown = [...noted, ...rows.filter(({ notes }) => notes.length === 0)].slice(0, mostHintRows);
  let text = 'These rows need other answers:';
  let isEmpty = true;
  for (const row of shown) {
    const next = `${text}\n${lineOf(row)}`;
    // A row is whole or absent.
    if (next.length > mostHintChars) continue;
    text = next;
    isEmpty = false;
  }
  return isEmpty ? null : text;
}

function lineOf({ name, input, wanted, got, notes }: HintRow): string {
  const asked = input === null ? `Row ${name}` : `"${short(input)}"`;
  const expects = wanted === null ? '' : ` expects "${short(wanted)}",`;
  const noted = notes.length === 0 ? '' : ` Note: ${short(notes.join('; '))}`;
  return `- ${asked}${expects} and got "${short(got)}".${noted}`;
}
