import { GraphHandle, SessionHandle, type Ratchet } from '../../client/index.js';
import { changeLines, togetherLines } from '../../core/prompts/changes/report.js';
import { ConfigError } from '../../service/config.js';
import { jobOf } from '../commands/jobs.js';

interface Page {
  limit: number;
  cursor?: string | undefined;
}

/** A page of candidates with their prompts; those of a graph job are the prompts of its steps. */
export async function candidatesOf(client: Ratchet, id: string, query: Page) {
  const search = searchOf(client, id);
  const { data, next_cursor } = await (search.id.startsWith('grf_')
    ? client.request('listGraphJobCandidates', { path: { job_id: id }, query })
    : client.request('listSessionCandidates', { path: { session_id: id }, query }));
  const candidates = await Promise.all(
    data.map(async ({ decision: { outcome, reason }, ...candidate }) => {
      const detail = await search.candidate(candidate.candidate_id);
      const prompt = 'prompts' in detail ? { prompts: detail.prompts } : { messages: detail.messages };
      return { ...candidate, decision: { outcome, reason }, ...prompt };
    }),
  );
  return { candidates, next_cursor };
}

/** A candidate, with its edits of the baseline as lines. */
export async function candidateOf(client: Ratchet, id: string, candidateId: string) {
  const search = searchOf(client, id);
  const detail = await search.candidate(candidateId);
  const isKnown = 'prompts' in detail || detail.messages !== null;
  if (!isKnown) return { ...detail, changes: [] };
  const changes = await search.changes(candidateId);
  return { ...detail, changes: [...changeLines(changes), ...togetherLines(changes)] };
}

/** The search of an id. */
export function searchOf(client: Ratchet, id: string): SessionHandle | GraphHandle {
  const job = jobOf(client, id);
  if (job instanceof SessionHandle || job instanceof GraphHandle) return job;
  throw new ConfigError(`${id} is no id of a session or a graph job`);
}
