/** Searches kept requests page by page; a page scans a limited number of them. */
import type { Db } from '../../../platform/db/db.js';
import type { Position } from '../../../platform/db/positions.js';
import type { exportQuerySchema } from '../contract/logged-requests.js';
import type { z } from 'zod';
import {
  readRequests,
  scanRequests,
  type RequestFilter,
  type RequestScope,
  type StoredRequest,
} from '../store/logged-requests.js';

export type FilterRequest = z.output<typeof exportQuerySchema>;

/** Which requests are searched for. */
export interface Searched {
  orgId: string;
  scope: RequestScope;
  filter: FilterRequest;
}

/** Requests that a part looks at, fewer if it reads their texts; bytes of texts that it returns. */
const mostScanned = { byColumns: 2_000, byText: 400 };
const maxBytes = 8 * 1024 * 1024;

/** The next requests that pass, at most `limit`; `last`: where the search goes on, if it does. */
export async function nextRequests(
  db: Db,
  { orgId, scope, filter }: Searched,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<{ rows: StoredRequest[]; last: Position | null }> {
  return db.org(orgId, async (tx) => {
    const scanned = filter.q === undefined ? mostScanned.byColumns : mostScanned.byText;
    const found = await scanRequests(tx, scope, filterOf(filter), { after, most: scanned });
    const wanted = found.filter(({ isWanted }) => isWanted);
    let bytes = 0;
    const read = wanted.slice(0, limit).filter((row, index) => index === 0 || (bytes += row.bytes) <= maxBytes);
    const isCut = read.length < wanted.length;
    const end = isCut ? read.at(-1) : found.length === scanned ? found.at(-1) : undefined;
    const rows = read.length === 0 ? [] : (await readRequests(tx, read)).filter((row) => hasText(row, filter.q));
    return { rows, last: end ? { createdAt: end.position, id: end.answerId } : null };
  });
}

/** All requests that pass, newest first. */
export async function* allRequests(db: Db, searched: Searched): AsyncGenerator<StoredRequest> {
  for (let after: Position | undefined; ;) {
    const { rows, last } = await nextRequests(db, searched, { after, limit: mostScanned.byColumns });
    yield* rows;
    if (last === null) return;
    after = last;
  }
}

/** Whether a text holds a part, beside the names of fields, which the scan reads, too. */
function hasText({ request, answer }: StoredRequest, part: string | undefined): boolean {
  if (part === undefined) return true;
  const wanted = part.toLowerCase();
  const isIn = (value: unknown): boolean =>
    typeof value === 'string'
      ? value.toLowerCase().includes(wanted)
      : typeof value === 'object' && value !== null && Object.values(value).some(isIn);
  return [request, answer].some((text) => text !== null && isIn(JSON.parse(text)));
}

function filterOf({ from, to, q, ...filter }: FilterRequest): RequestFilter {
  const { outcome, code, correlation_id: correlationId, feedback } = filter;
  return {
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
    text: q === undefined ? undefined : JSON.stringify(q).slice(1, -1),
    minReward: filter.min_reward,
    maxReward: filter.max_reward,
    ...{ outcome, code, correlationId, feedback },
  };
}
