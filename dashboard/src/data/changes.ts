/** What a candidate changes, with evidence, and evaluations without one of its edits. */
import type { Answer, DryRun, Item } from '../../../src/client/index.js';
import { ablationMetadata } from '../../../src/core/prompts/changes/ablation-metadata.js';
import { client } from './client.js';
import { isActive } from './job.js';
import { kindOfRun } from './kinds.js';
import { useResource } from './resource.js';

export type Changes = Answer<'getSessionChanges'>;
export type Edit = Changes['edits'][number];
export type Author = Changes['authors'][number];

export function loadChanges(
  jobId: string,
  candidateId: string,
  against: string,
  signal: AbortSignal,
): Promise<Changes> {
  const job = kindOfRun(jobId) === 'graph' ? client.value.graphs.handle(jobId) : client.value.sessions.handle(jobId);
  return job.changes(candidateId, { against }, { signal });
}

/** The name of an edit in addresses and keys. */
export const editKey = ({ component, to }: Pick<Edit, 'component' | 'to'>): string => `${component}:${to}`;

export interface Ablation {
  job: Item<'listEvaluations'>;
  /** With the edit minus without it; null: not completed, or not comparable. */
  comparison: Answer<'compareCandidates'> | null;
}

const pollMs = 2_000;
const listed = 100;

/**
 * Evaluations without an edit of a candidate, the newest of each edit, by the edit's key.
 * `againstId` null: there can be none.
 */
export function useAblations(candidateId: string, againstId: string | null) {
  const found = useResource(`ablations ${candidateId} ${againstId}`, async (signal) =>
    againstId === null ? new Map<string, Ablation>() : loadAblations(candidateId, againstId, signal),
  );
  const isRunning = [...(found.data?.values() ?? [])].some(({ job }) => isActive(job.status));
  // Asks again while one of them runs.
  useResource(`running ablations ${candidateId} ${isRunning}`, () => found.reload(), isRunning ? pollMs : null);
  return found;
}

async function loadAblations(candidateId: string, againstId: string, signal: AbortSignal) {
  const metadata = JSON.stringify({
    [ablationMetadata.candidate]: candidateId,
    [ablationMetadata.against]: againstId,
  });
  const { data } = await client.value.request('listEvaluations', { query: { metadata, limit: listed }, signal });
  const newest = new Map<string, Item<'listEvaluations'>>();
  for (const job of data) {
    const { [ablationMetadata.component]: component, [ablationMetadata.sentence]: to } = job.metadata;
    const key = `${String(component)}:${String(to)}`;
    if (!newest.has(key)) newest.set(key, job);
  }
  const ablations = [...newest].map(async ([key, job]): Promise<[string, Ablation]> => {
    const comparison = job.status === 'completed' ? await compared(job.job_id, candidateId, signal) : null;
    return [key, { job, comparison }];
  });
  return new Map(await Promise.all(ablations));
}

/** null: the two have no row in common. */
async function compared(a: string, b: string, signal: AbortSignal): Promise<Ablation['comparison']> {
  try {
    return await client.value.request('compareCandidates', { query: { a, b }, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}

interface AblationRequest {
  sessionId: string;
  candidateId: string;
  edit: Edit;
  againstId: string;
}

const bodyOf = ({ edit, againstId }: AblationRequest) => ({
  component: edit.component,
  sentence: edit.to!,
  against: againstId,
});

/** What an evaluation without the edit would cost. */
export async function ablationPrice(request: AblationRequest, signal: AbortSignal): Promise<DryRun> {
  const path = { session_id: request.sessionId, candidate_id: request.candidateId };
  const query = { dry_run: 'true' as const };
  return (await client.value.request('createSessionAblation', {
    path,
    query,
    body: bodyOf(request),
    signal,
  })) as DryRun;
}

export const startAblation = (request: AblationRequest) =>
  client.value.sessions.handle(request.sessionId).ablate(request.candidateId, bodyOf(request));
