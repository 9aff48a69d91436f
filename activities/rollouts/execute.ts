import { rolloutWindowMs, type RolloutOutcome } from '../../src/clients/container/client.js';
import { issueInferenceKey } from '../../src/clients/container/inference-key.js';
import type { SpanContext } from '@opentelemetry/api';
import { demosForSeed } from '../../src/core/prompts/demos.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import type { TracedRun } from '../../src/core/jobs/trace.js';
import type { StoredPrompt } from '../../src/storage/candidates/candidates.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import type { Claim } from '../../src/storage/rollouts/exchange.js';
import type { Outcome } from '../../src/storage/rollouts/outcomes.js';
import { rolloutSpan, traceparentOf } from '../../src/tracing/spans.js';
import type { Concurrency } from './concurrency.js';
import type { ActivityDeps } from '../deps.js';
import { messageOf } from '../errors.js';
import { runGraph } from '../graphs/rollout.js';
import { runRow } from '../datasets/rollout.js';
import { containerOf } from '../jobs/spec.js';
import { rootCause } from './root-cause.js';

/** The data of a job that its rollouts need. */
export interface RunnableJob {
  spec: JobSpec;
  apiKey: string | null;
  /** null: the job is not traced. */
  trace: TracedRun | null;
  /** By lever version: the candidates whose rollouts are open. */
  prompts: Map<number, StoredPrompt>;
}

/** The result of a rollout, and how long it took. */
export interface RolloutResult {
  outcome: RolloutOutcome;
  latencyMs: number;
}

export interface RolloutControl {
  signal: AbortSignal;
  concurrency: Concurrency;
  /** Called after each try at the container; false: no further try. */
  mayRetry(timedOut: boolean): boolean;
}

/** Runs a claimed rollout with its retries; null: `signal` stopped it. */
export async function executeRollout(
  deps: ActivityDeps,
  job: JobRef,
  runnable: RunnableJob,
  claim: Claim,
  control: RolloutControl,
): Promise<RolloutResult | null> {
  const startedAt = performance.now();
  const { signal } = control;
  let outcome: RolloutOutcome;
  try {
    outcome = await run(deps, job, runnable, claim, control);
  } catch (error) {
    if (signal.aborted) return null;
    deps.log.error({ err: error, rollout_id: claim.rolloutId }, 'rollout failed with an unexpected error');
    outcome = { kind: 'failed', code: 'internal', message: messageOf(error), infrastructure: true, connect: false };
  }
  return signal.aborted ? null : { outcome, latencyMs: performance.now() - startedAt };
}

function run(
  deps: ActivityDeps,
  job: JobRef,
  runnable: RunnableJob,
  claim: Claim,
  control: RolloutControl,
): Promise<RolloutOutcome> {
  const { spec, prompts } = runnable;
  const trace = deps.tracing?.callsOf(spanOf(runnable, claim)) ?? null;
  const traced = { ...control, trace };
  if (spec.kind === 'graph') return runGraph(deps, job, spec, claim, promptOf(claim, prompts), traced);
  const { rows, policy, rolloutTimeoutS, answerCache = null } = spec;
  if (!rows) return callContainer(deps, job, runnable, claim, control);
  const budget = spec.kind === 'session' ? spec.budget : null;
  const rowsJob = { rows, policy, budget, rolloutTimeoutS, answerCache };
  return runRow(deps, job, rowsJob, claim, promptOf(claim, prompts), traced);
}

function spanOf({ trace }: RunnableJob, { rolloutId }: Claim): SpanContext | null {
  return trace && rolloutSpan(trace, rolloutId);
}

async function callContainer(
  deps: ActivityDeps,
  job: JobRef,
  runnable: RunnableJob,
  claim: Claim,
  { signal, concurrency, mayRetry }: RolloutControl,
): Promise<RolloutOutcome> {
  const { spec, apiKey, prompts } = runnable;
  const span = spanOf(runnable, claim);
  const { url, envName, envConfig } = containerOf(spec);
  const tryTimeoutMs = spec.rolloutTimeoutS * 1_000;
  const { messages, demos } = promptOf(claim, prompts);
  const outcome = await deps.container.rollout(
    {
      url,
      apiKey,
      rolloutId: claim.rolloutId,
      ...(span && { traceparent: traceparentOf(span) }),
      seed: claim.seed,
      envName,
      envConfig,
      policy: spec.policy,
      messages,
      demos,
      inferenceUrl: `${deps.publicUrl}/api/gepa/v1/${job.jobId}/${claim.rolloutId}`,
      inferenceApiKey: issueInferenceKey(deps.secretKey, { ...job, rolloutId: claim.rolloutId }),
      tryTimeoutMs,
      deadline: performance.now() + rolloutWindowMs(tryTimeoutMs),
      onPushback: (reason) => concurrency.lower(reason),
      onRetry: () => deps.metrics.retry('container'),
      mayRetry,
      admit: (admitSignal) => concurrency.admit(admitSignal),
    },
    signal,
  );
  return rootCause(deps, job, claim.rolloutId, outcome);
}

function promptOf({ candidateId, seed }: Claim, prompts: RunnableJob['prompts']): StoredPrompt {
  const prompt = candidateId ? prompts.get(Number(candidateId.split('_').at(-1))) : undefined;
  const demos = demosForSeed(prompt?.demos ?? [], seed);
  return { messages: prompt?.messages ?? null, demos, graph: prompt?.graph ?? null };
}

/** The stored outcome of a claim. A refusal of all rollouts is none: it ends the job. */
export function storedOutcome(
  { rolloutId, attempt }: Claim,
  outcome: Exclude<RolloutOutcome, { kind: 'refused_key' | 'quota_exceeded' }>,
  latencyMs: number,
): Outcome {
  const row = { rolloutId, attempt, latencyMs, reward: null, feedback: null, details: null, empty: null, error: null };
  switch (outcome.kind) {
    case 'reward': {
      const { reward, feedback, details, empty = null } = outcome;
      return { ...row, status: 'succeeded', reward, feedback, details, empty };
    }
    case 'pending':
      return { ...row, status: 'awaiting_reward' };
    case 'failed': {
      const { code, message, infrastructure, connect } = outcome;
      return { ...row, status: 'failed', error: { code, message, infrastructure, connect } };
    }
  }
}
