/** Numbers, money and times as people read them. */
import { RatchetError } from '../../../src/client/index.js';
import { firstKeyWords } from '../../../src/core/jobs/status-words.js';

export const unknown = '–';

export function reward(value: number | null | undefined): string {
  return value === null || value === undefined ? unknown : value.toFixed(3);
}

/** Dollars; small amounts keep two significant digits. null: a price is unknown. */
export function dollars(value: number | null | undefined): string {
  if (value === null || value === undefined) return unknown;
  if (value === 0) return '$0';
  if (value >= 1) return `$${value.toFixed(2)}`;
  const digits = Math.min(8, 1 - Math.floor(Math.log10(value)));
  return `$${value.toFixed(digits)}`;
}

const whole = new Intl.NumberFormat('en-US');
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? unknown : whole.format(value);
}

const short = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });
/** A number with thousands apart: whole, or with four significant digits. */
export const decimal = (value: number): string => (Number.isInteger(value) ? whole : short).format(value);

/** A rate with two digits, which are all that it deserves. */
export const pace = (value: number): string =>
  value >= 10 ? whole.format(Math.round(value)) : String(Number(value.toPrecision(2)));

export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return unknown;
  return value < 1_000 ? `${Math.round(value)} ms` : duration(value);
}

/** `4.2 s`, `3 min 5 s`, `2 h 7 min`. */
export function duration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** A time in the reader's zone: `14:03:07` today, `2026-11-26 14:03:07` on other days. */
export function clock(at: string, now = Date.now()): string {
  const [date, today] = [new Date(at), new Date(now)];
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return date.toDateString() === today.toDateString() ? time : `${dayOf(date)} ${time}`;
}

/** Date, time and zone, of the reader: `2026-11-26 14:03:07 GMT+9`. */
export function fullClock(at: string): string {
  const date = new Date(at);
  const zone = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' }).formatToParts(date);
  return `${clock(at, 0)} ${zone.find(({ type }) => type === 'timeZoneName')?.value ?? ''}`.trim();
}

const dayOf = (date: Date): string => [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(two).join('-');

/** How long ago: `12 s ago`, `3 h ago`, then the date in the reader's zone. */
export function ago(time: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return dayOf(new Date(time));
}

/** An id that fits a table: its kind and its last letters, which differ between neighbors. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 4)}…${id.slice(-6)}`;
}

/** The end of an id, which tells neighbors apart where there is no room for more. */
export const endOfId = (id: string): string => `…${id.slice(-6)}`;

/** A word of the API as text: `not_better` is "not better". */
export const words = (name: string): string => name.replaceAll('_', ' ');

/** Who made something, by the name of the key; null: no key did. */
export function makerOf(key: { key_id: string; key_name: string } | null | undefined): string {
  if (!key) return 'the service';
  return firstKeyWords(key) ?? key.key_name;
}

/** What a caught value says; of a refusal of the service, its detail. */
export function messageOf(error: unknown): string {
  if (error instanceof RatchetError && error.problem.detail) return error.problem.detail;
  return error instanceof Error ? error.message : String(error);
}
