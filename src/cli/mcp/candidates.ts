import type { Api } from '../service/api.js';
import { pathOf } from '../commands/jobs.js';

interface Page {
  limit: number;
  cursor?: string | undefined;
}
interface Listed {
  data: { candidate_id: string }[];
  next_cursor: string | null;
}
type Prompt = { messages: object[] | null } | { prompts: object[] };

/** A page of candidates with their prompts; those of a graph job are the prompts of its steps. */
export async function candidatesOf(api: Api, id: string, { limit, cursor }: Page) {
  const path = `${pathOf(id).path}/candidates`;
  const query = new URLSearchParams({ limit: String(limit), ...(cursor !== undefined && { cursor }) });
  const { data, next_cursor } = await api.call<Listed>('GET', `${path}?${query.toString()}`);
  const candidates = await Promise.all(
    data.map(async (candidate) => {
      const detail = await api.call<Prompt>('GET', `${path}/${encodeURIComponent(candidate.candidate_id)}`);
      return { ...candidate, ...('prompts' in detail ? { prompts: detail.prompts } : { messages: detail.messages }) };
    }),
  );
  return { candidates, next_cursor };
}
