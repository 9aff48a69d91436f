/** Cron expressions of five fields, as Temporal reads them. */

interface Field {
  name: string;
  least: number;
  most: number;
  /** Of the values from the least one. */
  names: readonly string[];
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const days = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const fields: readonly Field[] = [
  { name: 'minute', least: 0, most: 59, names: [] },
  { name: 'hour', least: 0, most: 23, names: [] },
  { name: 'day of month', least: 1, most: 31, names: [] },
  { name: 'month', least: 1, most: 12, names: months },
  // Sunday is 0 and 7.
  { name: 'day of week', least: 0, most: 7, names: days },
];

/** Why a text is no cron expression that ever comes due, for a message behind a field; or null. */
export function cronProblem(text: string): string | null {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== fields.length)
    return 'must have five fields: minute, hour, day of month, month and day of week, such as "0 3 * * 1"';
  const read = parts.map((part, at) => valuesOf(part, fields[at]!));
  const wrong = read.find((values) => typeof values === 'string');
  if (wrong !== undefined) return wrong;
  const [, , dates, chosenMonths] = read as number[][];
  // Cron takes either of both days, Temporal only those that are both.
  if (parts[2] !== '*' && parts[4] !== '*')
    return 'must leave day of month or day of week as *: make two schedules in place of one with both';
  const first = Math.min(...dates!);
  if (chosenMonths!.every((month) => daysOfMonths[month - 1]! < first))
    return `never comes due: no month that it names has a day ${first}`;
  return null;
}

/** The values of a field, or what is wrong with it. */
function valuesOf(part: string, field: Field): number[] | string {
  const found: number[] = [];
  for (const item of part.split(',')) {
    const values = itemOf(item, field);
    if (typeof values === 'string') return values;
    found.push(...values);
  }
  return found;
}

function itemOf(item: string, field: Field): number[] | string {
  const { name, least, most } = field;
  const [, range = '', , from = '', , to, , step] = /^((\*)|(\w+)(-(\w+))?)(\/(\d+))?$/.exec(item) ?? [];
  const isRange = range === '*' || to !== undefined;
  if (range === '' || (step !== undefined && !isRange))
    return `has "${item.slice(0, 20)}" as ${name}, which must be *, a value, a range a-b, or either with a step as in */5`;
  const [low, high] = range === '*' ? [least, most] : [valueOf(from, field), valueOf(to ?? from, field)];
  const isInside = low !== null && high !== null && low <= high;
  if (!isInside || step === '0' || Number(step ?? 1) > most) {
    const names = field.names.length > 0 ? `, or ${field.names[0]} to ${field.names.at(-1)}` : '';
    return `has "${item.slice(0, 20)}" as ${name}, which goes from ${least} to ${most}${names}`;
  }
  const every = Number(step ?? 1);
  return Array.from({ length: Math.floor((high - low) / every) + 1 }, (_, index) => low + index * every);
}

function valueOf(text: string, { least, most, names }: Field): number | null {
  const named = names.indexOf(text.toUpperCase());
  if (named >= 0) return least + named;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : NaN;
  return value >= least && value <= most ? value : null;
}
