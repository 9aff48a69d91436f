import type { z } from 'zod';
import type {
  sessionHistorySchema,
  sessionPromptSchema,
  sessionResultsSchema,
  sessionSchema,
  sessionListItemSchema,
} from '../contract/session.js';
import { renderPrompt } from '../../../core/prompts/demos.js';
import type { ResolvedCall } from '../../../rollouts/store/calls.js';
import type { CostBudget } from '../../../jobs/store/cost-budget.js';
import type { Usage } from '../../../jobs/store/usage.js';
import type { JobRow, SessionHead } from '../../../jobs/store/jobs.js';
import type { CandidateRow, Prompt } from '../../../candidates/store/reads.js';
import type { TrafficNow } from '../../../rollouts/store/slots.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import type { JudgeAgreement } from '../../../jobs/routes/agreement.js';
import { best, candidateView } from '../../../candidates/routes/view.js';
import {
  bestView,
  budgetView,
  estimateView,
  historyView,
  outcomeView,
  searchPhaseView,
} from '../../../candidates/routes/search-view.js';
import type { SeedSplit } from '../../../core/search/split.js';
import { concurrencyView, jobView, rowsView, usageView, type Concurrency } from '../../../jobs/routes/view.js';
import { leverView } from './levers-view.js';
import { sensorView, type Telemetry } from './sensors-view.js';

type Session = JobRow<SessionHead>;

/** The proxy URLs of a session. */
export function proxyUrls(jobId: string, publicUrl: string) {
  const base = `${publicUrl}/api/gepa/v1/${jobId}`;
  return { proxy_url: base, online_url: base, chat_completions_url: `${base}/chat/completions` };
}

/** A session in a list. */
export function sessionListItem(
  job: Session,
  totalCostUsd: number | null,
  deps: HttpDeps,
): z.output<typeof sessionListItemSchema> {
  const { estimated_reward } = estimateView(job);
  return { ...sessionSummary(job, deps), estimated_reward, total_cost_usd: totalCostUsd };
}

/** Fields of both views. */
function sessionSummary(job: Session, deps: HttpDeps) {
  const { projection: seen, spec } = job;
  const measured = bestView(job);
  return {
    session_id: job.jobId,
    ...jobView(job, deps),
    algorithm: spec.search.algorithm,
    correlation_id: job.correlationId,
    container_url: spec.container?.url ?? null,
    ...rowsView(spec.rows, job.datasetName),
    policy: { model: spec.policy.model, provider: spec.policy.provider },
    progress: {
      generation: seen.generation ?? 0,
      total_generations: seen.totalGenerations ?? spec.search.generations,
      best_reward: measured.best_reward,
      rollouts_completed: job.rolloutsCompleted,
      max_rollouts: spec.search.maxRollouts,
      phase: searchPhaseView(job),
    },
    ...measured,
    best_candidate: seen.bestCandidateId ? { candidate_id: seen.bestCandidateId } : null,
  };
}

/** A session's live state. */
export function sessionView(
  job: Session,
  read: {
    candidates: CandidateRow[];
    telemetry: Telemetry;
    usage: Usage;
    hint: string | null;
    resent: number;
    cost: CostBudget | null;
    concurrency: Concurrency;
    traffic: TrafficNow;
    split: SeedSplit | null;
    agreement: JudgeAgreement;
  },
  deps: HttpDeps,
): z.output<typeof sessionSchema> {
  const candidates = read.candidates.map(candidateView);
  return {
    ...sessionSummary(job, deps),
    best_candidate: best(job, candidates),
    candidates,
    ...estimateView(job),
    ...leverView(job, candidates, read.telemetry.levers),
    ...sensorView(job.jobId, read.telemetry),
    usage: usageView(read.usage),
    concurrency: concurrencyView(job, read.concurrency),
    traffic: job.spec.rollouts === 'caller' ? trafficView(read.traffic) : null,
    ...(read.split && { split: read.split }),
    ...read.agreement,
    hint: read.hint,
    budget: budgetView(job, read.cost),
    rollouts_resent: read.resent,
  };
}

function trafficView({ traffic, wanted, claimed }: TrafficNow) {
  return { compared: traffic, wanted, claimed };
}

/** A session's results so far. */
export function sessionResults(
  job: Session,
  read: {
    candidates: CandidateRow[];
    telemetry: Telemetry;
    usage: Usage;
    agreement: JudgeAgreement;
    prompt: Prompt | null;
    /** null: not shown. */
    baseline: Prompt | null;
    shorter: z.output<typeof sessionResultsSchema>['shorter_prompt'];
    found: Pick<z.output<typeof sessionResultsSchema>, 'diagnosis' | 'proposals'>;
  },
): z.output<typeof sessionResultsSchema> {
  const candidates = read.candidates.map(candidateView);
  const { best_reward: reward, best_reward_interval } = bestView(job);
  return {
    ...sessionHistory(job),
    status: job.status,
    best_reward: reward,
    best_reward_interval,
    best_candidate: best(job, candidates),
    shorter_prompt: read.shorter,
    baseline_prompt: read.baseline?.messages ? { messages: rendered(read.baseline) } : null,
    best_prompt: read.prompt?.messages ? { messages: rendered(read.prompt), reward } : null,
    stopped_by: job.stoppedBy,
    error: job.errorDetails?.message ?? null,
    ...read.found,
    ...outcomeView(job),
    ...read.agreement,
    usage: usageView(read.usage),
    ...leverView(job, candidates, read.telemetry.levers),
    ...sensorView(job.jobId, read.telemetry),
  };
}

/** The best reward after each generation. */
export function sessionHistory(job: Session): z.output<typeof sessionHistorySchema> {
  return { session_id: job.jobId, job_id: job.jobId, history: historyView(job) };
}

/** A session's inference URLs and the prompt that they serve. */
export function promptView(
  job: Session,
  prompt: Prompt | ResolvedCall | null,
  { publicUrl }: HttpDeps,
): z.output<typeof sessionPromptSchema> {
  const urls = proxyUrls(job.jobId, publicUrl);
  return {
    session_id: job.jobId,
    job_id: job.jobId,
    ...urls,
    correlation_url_template: `${urls.proxy_url}/{correlation_id}/chat/completions`,
    candidate_id: prompt?.candidateId ?? null,
    messages: prompt ? rendered(prompt) : [],
  };
}

const rendered = ({ messages, demos }: Pick<Prompt, 'messages' | 'demos'>) => renderPrompt(messages ?? [], demos);
