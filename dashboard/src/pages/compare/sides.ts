import type { Item } from '../../../../src/client/index.js';
import type { Message } from '../../../../src/core/jobs/spec.js';
import { client } from '../../data/client.js';
import { loadTrace } from '../../data/trace.js';
import { messagesOf } from '../../ui/trace/messages.js';
import { rowsOfRollouts, type Rollout, type SideRow } from './rows.js';
import type { Comparison } from './verdict.js';

export type SideOf = Comparison['a'];
const pageSize = 1_000;

/** The seeds of one side, in the order of their rollouts. */
export async function loadRows({ job_id, candidate_id }: SideOf, signal: AbortSignal): Promise<SideRow[]> {
  if (job_id.startsWith('evl_')) return evaluationRows(job_id, signal);
  if (candidate_id === null) return [];
  const path = { session_id: job_id, job_id, candidate_id };
  const args = { path, query: { limit: pageSize }, signal };
  const rollouts: Rollout[] = [];
  const list = job_id.startsWith('grf_')
    ? client.value.list('listGraphJobSeedEvals', args)
    : client.value.list('listSessionSeedEvals', args);
  for await (const item of list) if (item.seed !== null) rollouts.push(rolloutOf(item, item.seed));
  return rowsOfRollouts(rollouts);
}

const rolloutOf = (item: Item<'listSessionSeedEvals'>, seed: number): Rollout => ({
  ...{ seed, reward: item.reward, traceId: item.rollout_id, feedback: item.feedback },
  isSelected: item.stage !== 'heldout',
  isFinished: item.status === 'succeeded' || item.status === 'failed',
});

async function evaluationRows(jobId: string, signal: AbortSignal): Promise<SideRow[]> {
  const { results } = await client.value.request('getEvaluationResults', { path: { job_id: jobId }, signal });
  return results.map(({ seed, reward, trace_id }) => ({
    ...{ seed, reward, traceId: trace_id, feedback: null },
    isSelected: false,
  }));
}

/** The prompt of a candidate; null: the API knows none, as of an evaluation of given messages. */
export async function loadPrompt(side: SideOf, signal: AbortSignal): Promise<Message[] | null> {
  const { job_id, candidate_id } = side;
  if (job_id.startsWith('grf_') && candidate_id !== null) {
    const { prompts } = await client.value.request('getGraphJobCandidate', { path: { job_id, candidate_id }, signal });
    return prompts.map(({ component, text }) => ({ role: 'system', name: component, content: text }));
  }
  const path = { session_id: await searchOf(side, signal), candidate_id };
  if (path.session_id === null || path.candidate_id === null) return null;
  const found = { session_id: path.session_id, candidate_id: path.candidate_id };
  return (await client.value.request('getSessionCandidate', { path: found, signal })).messages;
}

/** The session that a candidate is of; an evaluation names it. */
async function searchOf({ job_id }: SideOf, signal: AbortSignal): Promise<string | null> {
  if (!job_id.startsWith('evl_')) return job_id;
  const { candidate } = await client.value.request('getEvaluation', { path: { job_id }, signal });
  return candidate?.session_id ?? null;
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
