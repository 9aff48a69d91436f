import type { Message } from '../../../../src/core/prompts/message.js';
import { client } from '../../data/client.js';
import { kindOfRun, type RunKind } from '../../data/kinds.js';
import { loadTrace } from '../../data/trace.js';
import { messagesOf } from '../../ui/trace/messages.js';
import type { Column } from './types.js';

type Side = Pick<Column, 'job_id' | 'candidate_id'>;

/** The prompt of a candidate; null: the API knows none, as of an evaluation of given messages. */
export function loadPrompt(side: Side, signal: AbortSignal): Promise<Message[] | null> {
  return loaders[kindOfRun(side.job_id)](side, signal);
}

const loaders: Record<RunKind, (side: Side, signal: AbortSignal) => Promise<Message[] | null>> = {
  session: ({ job_id, candidate_id }, signal) => sessionPrompt(job_id, candidate_id, signal),
  graph: graphPrompt,
  evaluation: evaluatedPrompt,
};

async function graphPrompt({ job_id, candidate_id }: Side, signal: AbortSignal): Promise<Message[] | null> {
  if (candidate_id === null) return null;
  const { prompts } = await client.value.request('getGraphJobCandidate', { path: { job_id, candidate_id }, signal });
  return prompts.map(({ component, text }) => ({ role: 'system', name: component, content: text }));
}

/** An evaluation names the session that its candidate is of. */
async function evaluatedPrompt({ job_id, candidate_id }: Side, signal: AbortSignal): Promise<Message[] | null> {
  const { candidate } = await client.value.request('getEvaluation', { path: { job_id }, signal });
  return sessionPrompt(candidate?.session_id ?? null, candidate_id, signal);
}

async function sessionPrompt(
  session_id: string | null,
  candidate_id: string | null,
  signal: AbortSignal,
): Promise<Message[] | null> {
  if (session_id === null || candidate_id === null) return null;
  return (await client.value.request('getSessionCandidate', { path: { session_id, candidate_id }, signal })).messages;
}

/** The texts that the first model call of a rollout sent. */
export async function loadSent(jobId: string, traceId: string, signal: AbortSignal): Promise<Message[] | null> {
  const [call] = (await loadTrace(jobId, traceId, signal)).calls;
  if (!call) return null;
  return messagesOf(call.request).flatMap(({ role, parts }): Message[] => {
    const content = parts.map(({ text }) => text).join('\n');
    return role === 'system' || role === 'user' || role === 'assistant' ? [{ role, content }] : [];
  });
}
