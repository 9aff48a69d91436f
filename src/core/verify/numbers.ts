/**
 * Parses numbers in a text. A sign counts directly before the number (or its currency sign) and not
 * after a word or a closing bracket (`10-3` ends with 3, `= -3` with -3).
 *
 * Parsed: `1234.5`, `.5`, `5.`, with thousands separated by commas, apostrophes or no-break spaces;
 * exponents (`1.2e-5`, `3 × 10^8`, `3 * 10**8`, `3 \times 10^{8}`); fractions of whole numbers
 * (`3/4`, `\frac{3}{4}`); a percent sign after any of these (in `percent`: the value of `45 %` is
 * 45).
 *
 * Not parsed: decimal commas (`1,5` is 1 and 5), mixed numbers (`1 3/4` is 1 and 0.75), words (`5
 * million` is 5), digits after a Latin letter or an underscore (`GPT4`), versions (`1.2.3`), `1/0`.
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
// Each alternative starts only where no digit precedes it: a run of digits takes linear time.
const pattern = new RegExp(
  String.raw`(?<version>(?<!\d)\d+(?:\.\d+){2,})|` +
    String.raw`${sign}(?:${fraction}|(?<number>${decimal})(?<exponent>${exponent})?)(?<percent>\s?\\?%)?`,
  'gu',
);

/** Maximum characters parsed, from the end of a text. */
const maxRead = 100_000;

export function parseNumbers(text: string): ReadNumber[] {
  return [...text.slice(-maxRead).matchAll(pattern)].flatMap(({ groups }) => {
    const value = evaluateMatch(groups!);
    return Number.isFinite(value) ? [{ value, percent: groups!['percent'] !== undefined }] : [];
  });
}

function evaluateMatch(groups: Record<string, string | undefined>): number {
  const whole = groups['top'] ?? groups['over'];
  const parts = groups['bottom'] ?? groups['under'];
  const size = whole === undefined ? parseDecimal(groups['number'], groups['exponent']) : Number(whole) / Number(parts);
  return groups['sign'] === '-' || groups['sign'] === '−' ? -size : size;
}

/** NaN for a version. */
function parseDecimal(number: string | undefined, power: string | undefined): number {
  if (number === undefined) return Number.NaN;
  const digits = number.replaceAll(/[^\d.]/g, '');
  const tens = /[+−-]?\d+(?=\}?$)/.exec(power ?? '')?.[0].replace('−', '-') ?? '0';
  return Number(`${digits}e${tens}`);
}

/** The value itself if it is a number, or the last number of a text; null if there is none. */
export function lastNumber(value: unknown): ReadNumber | null {
  if (typeof value === 'number' && Number.isFinite(value)) return { value, percent: false };
  return typeof value === 'string' ? (parseNumbers(value).at(-1) ?? null) : null;
}

export interface Closeness {
  tolerance: number;
  /** Whether `tolerance` is a share of the expected number; it is absolute for an expected 0. */
  relative: boolean;
}

/** Within the tolerance (inclusive). If only one is a percentage, 45 % is both 45 and 0.45. */
export function isClose(expected: ReadNumber, given: ReadNumber, closeness: Closeness): boolean {
  const mixed = expected.percent !== given.percent;
  const readings = ({ value, percent }: ReadNumber) => (mixed && percent ? [value, value / 100] : [value]);
  return readings(expected).some((wanted) => readings(given).some((value) => isWithin(wanted, value, closeness)));
}

function isWithin(expected: number, given: number, { tolerance, relative }: Closeness): boolean {
  const allowed = relative && expected !== 0 ? tolerance * Math.abs(expected) : tolerance;
  // 1.1 is within 0.1 of 1, although 1.1 - 1 is slightly more in floating point.
  const rounding = 4 * Number.EPSILON * Math.max(Math.abs(expected), Math.abs(given));
  return Math.abs(expected - given) <= allowed + rounding;
}
