/** CSV (RFC 4180) that a spreadsheet shows as text. */

/** Lines of cells; a value that is no text is JSON, and nothing is blank. */
export function csvText(lines: readonly (readonly unknown[])[]): string {
  return lines.map((line) => line.map(cell).join(',')).join('\r\n');
}

/** A spreadsheet would run such a text, which a model or a user wrote, as a formula. */
const formula = /^[=+\-@\t\r]/;
const number = /^[+-]?\d[\d.,]*(?:e[+-]?\d+)?%?$/i;

function cell(value: unknown): string {
  const text = value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const shown = formula.test(text) && !number.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
