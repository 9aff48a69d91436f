import type { Position } from '../../db/positions.js';
import { refuse, type ApiError } from './errors.js';

export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
  has_more: boolean;
}

/** A page of rows; `limit` + 1 rows mean that there are more. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  cursorAt: (row: Row) => string,
  view: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  const cursor = hasMore && last ? Buffer.from(cursorAt(last)).toString('base64url') : null;
  return { data: shown.map(view), next_cursor: cursor, has_more: hasMore };
}

/** A page of rows in the order of their numbers; `limit` + 1 rows mean that there are more. */
export function numberedPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  rowNumberOf: (row: Row) => number,
  view: (row: Row) => Item,
): Page<Item> {
  return pageOf(rows, limit, (row) => `after ${rowNumberOf(row)}`, view);
}

/** The number before a page's first row; -1 for the first page. Refuses an invalid cursor. */
export function parseCursor(cursor: string | undefined): number {
  if (cursor === undefined) return -1;
  const [, index] = /^after (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (index === undefined) throw refuse.invalid([{ pointer: '/cursor', message: 'is not a next_cursor of this list' }]);
  return Number(index);
}

/** As `parseCursor`, for rows whose numbers are seeds: any whole numbers. */
export function parseSeedCursor(cursor: string | undefined): number {
  if (cursor === undefined) return -Infinity;
  const [, seed] = /^after (-?\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (seed === undefined) throw refuse.invalid([{ pointer: '/cursor', message: 'is not a next_cursor of this list' }]);
  return Number(seed);
}

/** A page of rows from the newest on; `limit` + 1 rows mean that there are more. */
export function timedPage<Row extends { position: string }, Item>(
  rows: readonly Row[],
  limit: number,
  idOf: (row: Row) => string,
  view: (row: Row) => Item,
): Page<Item> {
  return pageOf(rows, limit, (row) => `${row.position} ${idOf(row)}`, view);
}

/** The cursor of a page that goes on after a position. */
export function cursorAfter({ createdAt, id }: Position): string {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url');
}

/** The row before a page's first one; undefined for the first page. Refuses an invalid cursor. */
export function parseTimeCursor(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined;
  const position = asPosition(Buffer.from(cursor, 'base64url').toString());
  if (!position) throw wrongCursor();
  return position;
}

export const wrongCursor = (): ApiError =>
  refuse.invalid([{ pointer: '/cursor', message: 'must be a next_cursor of this list' }]);

/** A time and an id; null: the text is no position. */
export function asPosition(text: string): Position | null {
  const [, createdAt = '', id = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) ([\w-]+)$/.exec(text) ?? [];
  const time = new Date(createdAt);
  // `Date` turns an invalid day such as February 30 into a day of the next month.
  const isTime = !Number.isNaN(time.getTime()) && createdAt.startsWith(time.toISOString().slice(0, 19));
  return isTime ? { createdAt, id } : null;
}
