import type { Answer, Body } from '../../../src/client/index.js';
import { client } from './client.js';
import type { RunsPage, RunsQuery } from './run-types.js';

/** The value of an API filter for runs without a data set, or without a tag. */
export const without = '-';

export type Action = Body<'commandRuns'>['action'];
export type Commanded = Answer<'commandRuns'>['runs'];

/** That of the API's lists. */
export const maxPageSize = 1_000;

export const loadRuns = (query: RunsQuery, signal: AbortSignal): Promise<RunsPage> =>
  client.value.runs.page(query, { signal });

/** Of each run, what an action did; with `isDry` what it would do. */
export async function commandRuns(
  action: Action,
  jobIds: string[],
  { tag, isDry = false }: { tag?: string; isDry?: boolean },
): Promise<Commanded> {
  const body = { action, job_ids: jobIds, dry_run: isDry, ...(tag !== undefined && { tag }) };
  return (await client.value.runs.command(body)).runs;
}
