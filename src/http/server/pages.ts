import { refuse } from './errors.js';

/** A page of ascending numbered rows; `limit` + 1 rows mean that there are more. */
export function numberedPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  rowNumberOf: (row: Row) => number,
  view: (row: Row) => Item,
): { data: Item[]; next_cursor: string | null; has_more: boolean } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  const cursor =
    last === undefined || !hasMore ? null : Buffer.from(`after ${rowNumberOf(last)}`).toString('base64url');
  return { data: shown.map(view), next_cursor: cursor, has_more: hasMore };
}

/** The number before a page's first row; -1 for the first page. Refuses an invalid cursor. */
export function parseCursor(cursor: string | undefined): number {
  if (cursor === undefined) return -1;
  const [, index] = /^after (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (index === undefined) throw refuse.invalid([{ pointer: '/cursor', message: 'is not a next_cursor of this list' }]);
  return Number(index);
}
