/**
 * The one reader of numbers in a text. Of the marks in a number, a comma or dot that groups digits
 * is dropped and the other one is decimal:
 *
 * - Comma and dot: the last one is decimal (`1,234.5`, `1.234,5`).
 * - One comma: thousands before three digits (`1,234`), else decimal (`12,5`, `0,125`, `1234,567`).
 * - One dot: decimal (`1.234`). Several dots or commas: groups of three, or Indian groups
 *   (`12,34,567`); other commas separate numbers (`1,2,3`), other dots make a version (`1.2.3`).
 * - Spaces, no-break and thin spaces, apostrophes and `_` group digits by three (`12 345,6`).
 *
 * A sign counts directly before the number (or its currency sign) and not after a word or a closing
 * bracket (`10-3` ends with 3, `= -3` with -3). Also read: `.5`, `5.`; exponents (`1.2e-5`, `3 ×
 * 10^8`, `3 * 10**8`, `3 \times 10^{8}`); fractions of whole numbers (`3/4`, `\frac{3}{4}`); a
 * percent sign after any of these (in `percent`: the value of `45 %` is 45); `½` and `1½`.
 *
 * Not read: mixed numbers (`1 3/4` is 1 and 0.75), words (`5 million` is 5), digits after a Latin
 * letter or an underscore (`GPT4`), `1/0`.
 */

export interface ReadNumber {
  value: number;
  percent: boolean;
}

const whole = String.raw`[1-9]\d{0,2}`;
const end = String.raw`(?!\d|[.,]\d)`;
// Bounded groups keep the time linear.
const western = String.raw`${whole}(?:,\d{3}){1,10}(?:\.\d+)?${end}`;
const indian = String.raw`[1-9]\d?(?:,\d\d){1,8},\d{3}(?:\.\d+)?${end}`;
const dotted = String.raw`${whole}(?:(?:\.\d{3}){1,10},\d+|(?:\.\d{3}){2,10})${end}`;
const spaced = String.raw`(?<!\d )${whole}(?:[ '’_\u00a0\u202f\u2009]\d{3}){1,10}(?:[.,]\d+)?${end}`;
// `[1,5]` is a list.
const comma = String.raw`(?<!\[|\d,)\d+,\d+${end}`;
const decimal = String.raw`(?:${dotted}|${western}|${indian}|${spaced}|${comma}|\d+(?:\.\d*)?|\.\d+)`;
const exponent = String.raw`[eE][+−-]?\d+(?!\w)|\s?(?:[×*·x]|\\times|\\cdot)\s?10\s?(?:\^|\*\*)\s?\{?[+−-]?\d+\}?`;
const fraction = String.raw`\\[dt]?frac\{(?<top>\d+)\}\{(?<bottom>\d+)\}|(?<!\/)(?<over>\d+)\/(?<under>\d+)(?!\d|[./]\d)`;
const sign = String.raw`(?<sign>(?<![A-Za-z0-9_)\]}])[+−–‑-])?(?:\\?\p{Sc}[ \u00a0]?)?(?<![A-Za-z_\d])`;
// Each alternative starts only where no digit precedes it: a run of digits takes linear time.
const pattern = new RegExp(
  String.raw`(?<version>(?<!\d)(?!${dotted})\d+(?:\.\d+){2,})|` +
    String.raw`${sign}(?:${fraction}|(?<number>${decimal})(?<exponent>${exponent})?)(?<percent>\s?\\?%)?`,
  'gu',
);

/** Maximum characters parsed, from the end of a text. */
const maxRead = 100_000;

/** The number that a text is, without a word beside it; null: none, or no finite one. */
export function wholeNumber(text: string): number | null {
  const given = text.trim();
  const [found] = given.length > maxRead ? [] : given.matchAll(pattern);
  const value = found?.[0] === given ? evaluateMatch(found.groups!) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

export function parseNumbers(text: string): ReadNumber[] {
  return readings(text).filter(({ value }) => Number.isFinite(value));
}

/** Also those without a finite value: versions, `1/0`, `1e999`. */
function readings(text: string): ReadNumber[] {
  return [...plainDigits(text.slice(-maxRead)).matchAll(pattern)].map(({ groups }) => {
    return { value: evaluateMatch(groups!), percent: groups!['percent'] !== undefined };
  });
}

const halfWidth = 0xfee0;

/** Full-width signs, vulgar fractions and a text that is nothing but `,5`, in usual digits. */
function plainDigits(text: string): string {
  const narrow = /[！-～]/.test(text)
    ? text.replaceAll(/[！-～]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - halfWidth))
    : text;
  const written = /[¼-¾⅐-⅞]/.test(narrow) ? narrow.replaceAll(/(?<!\d)(\d{0,15}) ?([¼-¾⅐-⅞])/g, vulgar) : narrow;
  return written.replace(/^(\s*[+−–-]?),(?=\d+\s*(?:%\s*)?$)/, '$10,');
}

function vulgar(_: string, units: string, part: string): string {
  const [over, under] = part.normalize('NFKC').split('⁄').map(Number) as [number, number];
  return String(Number(units) + over / under);
}

function evaluateMatch(groups: Record<string, string | undefined>): number {
  const top = groups['top'] ?? groups['over'];
  const parts = groups['bottom'] ?? groups['under'];
  const size = top === undefined ? parseDecimal(groups['number'], groups['exponent']) : Number(top) / Number(parts);
  return /[-−–‑]/.test(groups['sign'] ?? '') ? -size : size;
}

/** NaN for a version. */
function parseDecimal(number: string | undefined, power: string | undefined): number {
  if (number === undefined) return Number.NaN;
  const digits = withDecimalPoint(number.replaceAll(/[^\d.,]/g, ''));
  const tens = /(?:[+−-]|(?<!\d))\d+(?=\}?$)/.exec(power ?? '')?.[0].replace('−', '-') ?? '0';
  return Number(`${digits}e${tens}`);
}

const groups = /^(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d?(?:,\d\d)+,\d{3})$/;

function withDecimalPoint(marked: string): string {
  const [comma, dot] = [marked.lastIndexOf(','), marked.lastIndexOf('.')];
  if (comma < 0) return marked.indexOf('.') === dot ? marked : marked.replaceAll('.', '');
  const isDecimal = comma > dot && !groups.test(marked);
  return isDecimal ? marked.replaceAll('.', '').replace(',', '.') : marked.replaceAll(',', '');
}

/**
 * The number of an expected value: a number, or a text with exactly one. `problem`: a predicate,
 * for a text that leaves open which number is meant.
 */
export function soleNumber(value: unknown): { number: ReadNumber } | { problem: string } {
  const found = typeof value === 'string' ? readings(value) : [lastNumber(value)];
  const [number] = found;
  if (!number) return { problem: 'contains no number' };
  if (found.length > 1) return { problem: `contains ${found.length} numbers; give the right one alone` };
  if (!Number.isFinite(number.value)) return { problem: 'contains digits that are no finite number' };
  const doubt = typeof value === 'string' ? doubts.find(([form]) => form.test(value)) : undefined;
  return doubt ? { problem: doubt[1] } : { number };
}

/** Forms of which the number alone is not what is meant, or not surely. */
const doubts: readonly (readonly [RegExp, string])[] = [
  [
    /\d\s?(?:thousand|million|billion|trillion|lakhs?|crores?|mio|mrd|bn|tsd)\b/iu,
    'contains a number with a word for its size; write it in digits',
  ],
  [/\d[kKMB]\b/, 'contains a number with a letter for its size; write it in digits'],
  [/(?<!\w)0[xXbBoO][\da-fA-F]/, 'contains a number that is not decimal; write it in decimal digits'],
  [/^\s*\([^A-Za-z()\d]*\d[^A-Za-z()]*\)\s*$/, 'is in brackets, by which accountants mean less than 0; write -5 or 5'],
  [/^\s*[-−–]\s+(?:\p{Sc}\s*)?\d/u, 'has its sign apart from its digits; write -5 or 5'],
  [/±/, 'leaves the sign open; write -5 or 5'],
];

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
