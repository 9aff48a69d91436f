/**
 * Numbers in a text. Read are, each with a sign that stands directly before it (or before its currency sign) and not
 * behind a word or a closing bracket (`10-3` ends with 3, `= -3` with -3):
 *
 * - `1234`, `1234.5`, `.5`, `5.`; thousands set off by commas, apostrophes or no-break spaces in threes (`1,234,567.8`);
 * - exponents: `1.2e-5`, `3 × 10^8`, `3 * 10**8`, `3 \times 10^{8}`;
 * - fractions of whole numbers: `3/4`, `\frac{3}{4}`;
 * - a percent sign after any of these (`45 %`, `45\%`), which is told apart and does not change the number.
 *
 * Not read: decimal commas (`1,5` is 1 and 5), mixed numbers (`1 3/4` is 1 and 0.75), words (`two`, `5 million` is 5),
 * digits that follow a Latin letter or an underscore (`GPT4`), versions (`1.2.3`), and what is no finite number (`1/0`).
 */

export interface ReadNumber {
  value: number;
  percent: boolean;
}

const grouped = String.raw`\d{1,3}(?:[,'’\u00a0\u202f\u2009]\d{3})+(?!\d)`;
const decimal = String.raw`(?:(?:${grouped}|\d+)(?:\.\d*)?|\.\d+)`;
const exponent = String.raw`[eE][+−-]?\d+(?!\w)|\s?(?:[×*·x]|\\times|\\cdot)\s?10\s?(?:\^|\*\*)\s?\{?[+−-]?\d+\}?`;
const fraction = String.raw`\\[dt]?frac\{(?<top>\d+)\}\{(?<bottom>\d+)\}|(?<!\/)(?<over>\d+)\/(?<under>\d+)(?!\d|[./]\d)`;
const sign = String.raw`(?<sign>(?<![A-Za-z0-9_)\]}])[+−-])?(?:\\?[$€£¥])?(?<![A-Za-z_\d])`;
// Each begins only where no digit stands before it, which keeps the search linear in a long row of digits.
const pattern = new RegExp(
  String.raw`(?<version>(?<!\d)\d+(?:\.\d+){2,})|` +
    String.raw`${sign}(?:${fraction}|(?<number>${decimal})(?<exponent>${exponent})?)(?<percent>\s?\\?%)?`,
  'gu',
);

/** Characters of a text that are read: its last ones. */
const maxRead = 100_000;

/** All numbers of a text in their order; no number that is not finite. Of a very long text only the end is read. */
export function numbersIn(text: string): ReadNumber[] {
  return [...text.slice(-maxRead).matchAll(pattern)].flatMap(({ groups }) => {
    const value = valueOf(groups!);
    return Number.isFinite(value) ? [{ value, percent: groups!['percent'] !== undefined }] : [];
  });
}

function valueOf(groups: Record<string, string | undefined>): number {
  const whole = groups['top'] ?? groups['over'];
  const parts = groups['bottom'] ?? groups['under'];
  const size = whole === undefined ? decimalOf(groups['number'], groups['exponent']) : Number(whole) / Number(parts);
  return groups['sign'] === '-' || groups['sign'] === '−' ? -size : size;
}

/** NaN where there is none: a version. */
function decimalOf(number: string | undefined, power: string | undefined): number {
  if (number === undefined) return Number.NaN;
  const digits = number.replaceAll(/[^\d.]/g, '');
  const tens = /[+−-]?\d+(?=\}?$)/.exec(power ?? '')?.[0].replace('−', '-') ?? '0';
  return Number(`${digits}e${tens}`);
}

/** The number that a value is, or the last one of a text; null: there is none. */
export function lastNumber(value: unknown): ReadNumber | null {
  if (typeof value === 'number' && Number.isFinite(value)) return { value, percent: false };
  return typeof value === 'string' ? (numbersIn(value).at(-1) ?? null) : null;
}

export interface Closeness {
  tolerance: number;
  /** Whether `tolerance` is a share of the expected number; of 0 it is absolute anyway. */
  relative: boolean;
}

/**
 * Whether a number is the expected one within the tolerance, which itself still counts. Where only one of the two is a
 * percentage, that one is read both ways: 45 % is 45 and 0.45.
 */
export function isClose(expected: ReadNumber, given: ReadNumber, closeness: Closeness): boolean {
  const mixed = expected.percent !== given.percent;
  const readings = ({ value, percent }: ReadNumber) => (mixed && percent ? [value, value / 100] : [value]);
  return readings(expected).some((wanted) => readings(given).some((value) => isWithin(wanted, value, closeness)));
}

function isWithin(expected: number, given: number, { tolerance, relative }: Closeness): boolean {
  const allowed = relative && expected !== 0 ? tolerance * Math.abs(expected) : tolerance;
  // 1.1 is within 0.1 of 1, although 1.1 - 1 is a little more.
  const rounding = 4 * Number.EPSILON * Math.max(Math.abs(expected), Math.abs(given));
  return Math.abs(expected - given) <= allowed + rounding;
}
