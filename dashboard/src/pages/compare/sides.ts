import type { Message } from '../../../../src/core/prompts/message.js';
import { client } from '../../data/client.js';
import { kindOfRun, type RunKind } from '../../data/kinds.js';
import { allRows, rowsOf } from '../../data/rows/source.js';
import { loadTrace } from '../../data/trace.js';
import { messagesOf } from '../../ui/trace/messages.js';
import { rowsOfResults, type SideRow } from './rows.js';
import type { Comparison } from './verdict.js';

export type SideOf = Comparison['a'];

/** What a kind of job knows of a side. `prompt`: null where the API knows none. */
interface SideLoader {
  rows(side: SideOf, signal: AbortSignal): Promise<SideRow[]>;
  prompt(side: SideOf, signal: AbortSignal): Promise<Message[] | null>;
}

const loaders: Record<RunKind, SideLoader> = {
  session: {
    rows: searchRows,
    prompt: ({ job_id, candidate_id }, signal) => sessionPrompt(job_id, candidate_id, signal),
  },
  graph: { rows: searchRows, prompt: graphPrompt },
  evaluation: { rows: evaluationRows, prompt: evaluatedPrompt },
};

/** The seeds of one side, in the order of their rollouts. */
export function loadRows(side: SideOf, signal: AbortSignal): Promise<SideRow[]> {
  return loaders[kindOfRun(side.job_id)].rows(side, signal);
}

/** The prompt of a candidate; null: the API knows none, as of an evaluation of given messages. */
export function loadPrompt(side: SideOf, signal: AbortSignal): Promise<Message[] | null> {
  return loaders[kindOfRun(side.job_id)].prompt(side, signal);
}

async function searchRows({ job_id, candidate_id }: SideOf, signal: AbortSignal): Promise<SideRow[]> {
  if (candidate_id === null) return [];
  const rows = await allRows(rowsOf(job_id, candidate_id), {}, signal);
  return rows.flatMap(({ seed, input, after }): SideRow[] => {
    if (!after) return [];
    const { reward, traceId, answer, feedback } = after;
    return [{ seed, reward, traceId, texts: { input, answer, feedback } }];
  });
}

async function evaluationRows({ job_id }: SideOf, signal: AbortSignal): Promise<SideRow[]> {
  const { results } = await client.value.evaluations.handle(job_id).results({}, { signal });
  return rowsOfResults(results.map(({ seed, reward, trace_id: traceId }) => ({ seed, reward, traceId, texts: null })));
}

async function graphPrompt({ job_id, candidate_id }: SideOf, signal: AbortSignal): Promise<Message[] | null> {
  if (candidate_id === null) return null;
  const { prompts } = await client.value.request('getGraphJobCandidate', { path: { job_id, candidate_id }, signal });
  return prompts.map(({ component, text }) => ({ role: 'system', name: component, content: text }));
}

/** An evaluation names the session that its candidate is of. */
async function evaluatedPrompt({ job_id, candidate_id }: SideOf, signal: AbortSignal): Promise<Message[] | null> {
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
