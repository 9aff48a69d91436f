import type { Item } from '../../../src/client/index.js';
import { client } from './client.js';
import { isActive } from './job.js';
import { kinds, runKinds, type RunKind } from './kinds.js';

export type Status = Item<'listSessions'>['status'];
export const statuses: readonly Status[] = ['pending', 'running', 'paused', 'completed', 'failed', 'cancelled'];

type Listed = Item<(typeof kinds)[RunKind]['list']>;
/** A job in the list of all kinds. */
export type Run = Listed & { kind: RunKind };

export interface RunFilter {
  kind: RunKind | null;
  state: Status | null;
  name: string;
  tag: string;
  archived: boolean;
}

/** That of the API's lists. */
const maxPageSize = 1_000;

/** The newest jobs of all kinds that pass the filter; one more than `limit` if there are more. */
export async function newestRuns(filter: RunFilter, limit: number, signal: AbortSignal): Promise<Run[]> {
  const query = {
    // One request for each kind, however many rows are shown.
    limit: Math.min(limit + 1, maxPageSize),
    ...(filter.state && { state: filter.state }),
    ...(filter.name && { name: filter.name }),
    ...(filter.tag && { tag: filter.tag }),
    // What runs costs money, so a list of it hides nothing.
    ...((filter.archived || (filter.state && isActive(filter.state))) && { archived: 'true' as const }),
  };
  const wanted = runKinds.filter((kind) => filter.kind === null || filter.kind === kind);
  const sources = wanted.map((kind) => ({ kind, list: client.value.list(kinds[kind].list, { query, signal }) }));
  return newestFirst(sources, limit + 1);
}

/** Merges lists that are each newest first. */
async function newestFirst(
  sources: { kind: RunKind; list: AsyncGenerator<Listed, void> }[],
  limit: number,
): Promise<Run[]> {
  const heads = await Promise.all(sources.map(({ list }) => list.next()));
  const runs: Run[] = [];
  while (runs.length < limit) {
    let newest = -1;
    for (const [n, { value }] of heads.entries())
      if (value && (newest < 0 || value.created_at > heads[newest]!.value!.created_at)) newest = n;
    if (newest < 0) break;
    runs.push({ ...heads[newest]!.value!, kind: sources[newest]!.kind });
    heads[newest] = await sources[newest]!.list.next();
  }
  return runs;
}
