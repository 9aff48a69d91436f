import { pathOf } from '../commands/jobs.js';
import type { Api } from '../service/api.js';

interface Page {
  limit: number;
  cursor?: string | undefined;
}
interface Listed {
  data: { candidate_id: string; decision: { outcome: string; reason: string | null } }[];
  next_cursor: string | null;
}
type Detail = { messages: object[] | null } | { prompts: object[] };

/** A page of candidates with their prompts; those of a graph job are the prompts of its steps. */
export async function candidatesOf(api: Api, id: string, { limit, cursor }: Page) {
  const query = new URLSearchParams({ limit: String(limit), ...(cursor !== undefined && { cursor }) });
  const { data, next_cursor } = await api.call<Listed>('GET', `${pathOf(id).path}/candidates?${query.toString()}`);
  const candidates = await Promise.all(
    data.map(async ({ decision: { outcome, reason }, ...candidate }) => {
      const detail = await candidateOf(api, id, candidate.candidate_id);
      const prompt = 'prompts' in detail ? { prompts: detail.prompts } : { messages: detail.messages };
      return { ...candidate, decision: { outcome, reason }, ...prompt };
    }),
  );
  return { candidates, next_cursor };
}

/** A candidate with its prompt, and why it was accepted or rejected. */
export function candidateOf(api: Api, id: string, candidateId: string): Promise<Detail> {
  return api.call<Detail>('GET', `${pathOf(id).path}/candidates/${encodeURIComponent(candidateId)}`);
}
