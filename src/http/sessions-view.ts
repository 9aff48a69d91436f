import type { z } from 'zod';
import type {
  candidateSchema,
  sessionHistorySchema,
  sessionPromptSchema,
  sessionResultsSchema,
  sessionSchema,
  sessionSummarySchema,
} from '../contracts/session.js';
import type { Message } from '../contracts/spec.js';
import type { Usage } from '../storage/usage.js';
import type { JobRow, SessionHead } from '../storage/jobs.js';
import type { CandidateRow, Prompt } from '../storage/reads.js';
import type { HttpDeps } from './deps.js';
import { jobView, usageView } from './job-view.js';

type Session = JobRow<SessionHead>;
type Candidate = z.output<typeof candidateSchema>;

/** The proxy URLs of a session. */
export function proxyUrls(jobId: string, publicUrl: string) {
  const base = `${publicUrl}/api/gepa/v1/${jobId}`;
  return { proxy_url: base, online_url: base, chat_completions_url: `${base}/chat/completions` };
}

/** A session in a list. */
export function sessionSummary(job: Session, deps: HttpDeps): z.output<typeof sessionSummarySchema> {
  const { projection: seen, spec } = job;
  const bestReward = seen.bestReward ?? null;
  return {
    session_id: job.jobId,
    ...jobView(job, deps),
    algorithm: spec.algorithm,
    correlation_id: job.correlationId,
    container_url: spec.container.url,
    policy: { model: spec.policy.model, provider: spec.policy.provider },
    progress: {
      generation: seen.generation ?? 0,
      total_generations: seen.totalGenerations ?? spec.gepa.generations,
      best_reward: bestReward,
      rollouts_completed: seen.rolloutsCompleted ?? 0,
      max_rollouts: spec.budget.maxRollouts,
    },
    best_reward: bestReward,
    best_candidate: seen.bestCandidateId ? { candidate_id: seen.bestCandidateId } : null,
  };
}

/** A session's live state. */
export function sessionView(
  job: Session,
  read: { candidates: CandidateRow[]; usage: Usage; resent: number },
  deps: HttpDeps,
): z.output<typeof sessionSchema> {
  const candidates = read.candidates.map(candidateView);
  return {
    ...sessionSummary(job, deps),
    best_candidate: best(job, candidates),
    candidates,
    ...levers(job, candidates),
    usage: usageView(read.usage),
    rollouts_resent: read.resent,
  };
}

/** What a session has found so far. */
export function sessionResults(
  job: Session,
  read: { candidates: CandidateRow[]; usage: Usage; prompt: Prompt | null },
): z.output<typeof sessionResultsSchema> {
  const candidates = read.candidates.map(candidateView);
  const bestReward = job.projection.bestReward ?? null;
  return {
    ...sessionHistory(job),
    status: job.status,
    best_reward: bestReward,
    best_candidate: best(job, candidates),
    best_prompt: read.prompt?.messages ? { messages: read.prompt.messages, reward: bestReward } : null,
    stopped_by: job.stoppedBy,
    error: job.errorDetails?.message ?? null,
    usage: usageView(read.usage),
    ...levers(job, candidates),
  };
}

/** The best reward after each generation. */
export function sessionHistory(job: Session): z.output<typeof sessionHistorySchema> {
  const history = job.projection.history ?? [];
  return {
    session_id: job.jobId,
    job_id: job.jobId,
    history: history.map(({ generation, bestReward }) => ({ generation, best_reward: bestReward })),
  };
}

/** Where a session's inference goes and which prompt it gets there. */
export function promptView(
  job: Session,
  prompt: { candidateId: string | null; messages: Message[] | null } | null,
  { publicUrl }: HttpDeps,
): z.output<typeof sessionPromptSchema> {
  const urls = proxyUrls(job.jobId, publicUrl);
  return {
    session_id: job.jobId,
    job_id: job.jobId,
    ...urls,
    correlation_url_template: `${urls.proxy_url}/{correlation_id}/chat/completions`,
    candidate_id: prompt?.candidateId ?? null,
    messages: prompt?.messages ?? [],
  };
}

function candidateView(row: CandidateRow): Candidate {
  return {
    candidate_id: row.id,
    parent_ids: row.parentIds,
    generation: row.generation,
    status: row.status,
    reward: row.reward,
    avg_reward: row.avgReward,
    rollout_count: row.rolloutCount,
    is_baseline: row.leverVersion === 0,
    lever_version: row.leverVersion,
  };
}

function best({ projection }: Session, candidates: Candidate[]): Candidate | null {
  return candidates.find(({ candidate_id }) => candidate_id === projection.bestCandidateId) ?? null;
}

/** The one prompt lever of a session: each candidate's text is a version of it, 0 the baseline. */
function levers(job: Session, candidates: Candidate[]) {
  const lever = `lever_${job.jobId.slice(4)}_system`;
  const winner = best(job, candidates);
  const baseline = candidates.find((candidate) => candidate.is_baseline);
  return {
    lever_summary: {
      prompt_lever_id: lever,
      candidate_lever_versions: Object.fromEntries(candidates.map((c) => [c.candidate_id, c.lever_version])),
      best_candidate_id: winner?.candidate_id ?? null,
      selected_candidate_id: winner?.candidate_id ?? null,
      baseline_candidate_id: baseline?.candidate_id ?? null,
      lever_count: 1,
      mutation_count: candidates.length - (baseline ? 1 : 0),
      latest_version: candidates.at(-1)?.lever_version ?? null,
    },
    lever_versions: winner ? { [lever]: winner.lever_version } : {},
    best_lever_version: winner?.lever_version ?? null,
  };
}
