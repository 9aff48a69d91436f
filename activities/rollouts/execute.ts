import { rolloutWindowMs, type RolloutOutcome } from '../../src/clients/container/client.js';
import { demosForSeed } from '../../src/core/prompts/demos.js';
import type { GraphSpec, JobSpec } from '../../src/core/jobs/spec.js';
import type { TracedRun } from '../../src/core/jobs/trace.js';
import type { StoredPrompt } from '../../src/candidates/store/candidates.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { Claim } from '../../src/rollouts/store/exchange.js';
import type { Outcome } from '../../src/rollouts/store/outcomes.js';
import { rolloutSpan } from '../../src/tracing/spans.js';
import { runAtContainer } from '../containers/rollout.js';
import { runRow, type RowsJob } from '../datasets/rollout.js';
import type { ActivityDeps } from '../deps.js';
import { messageOf } from '../errors.js';
import { runGraph } from '../graphs/rollout.js';
import type { ClaimedRollout, RolloutControl, RolloutSource } from './source.js';

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
    const { spec, apiKey, prompts } = runnable;
    const span = runnable.trace && rolloutSpan(runnable.trace, claim.rolloutId);
    const trace = deps.tracing?.callsOf(span) ?? null;
    const prompt = promptOf(claim, prompts);
    outcome = await sourceOf(spec).run({ deps, job, spec, apiKey, claim, prompt, control, span, trace });
  } catch (error) {
    if (signal.aborted) return null;
    deps.log.error({ err: error, rollout_id: claim.rolloutId }, 'rollout failed with an unexpected error');
    outcome = { kind: 'failed', code: 'internal', message: messageOf(error), infrastructure: true, connect: false };
  }
  return signal.aborted ? null : { outcome, latencyMs: performance.now() - startedAt };
}

/** Each source of rollouts; another one is a line here and its file. */
const sources = {
  container: { run: runAtContainer },
  rows: { run: (rollout) => runRow({ ...rollout, spec: rowsJobOf(rollout.spec) }) },
  graph: { run: (rollout) => runGraph(rollout as ClaimedRollout<GraphSpec>) },
} satisfies Record<string, RolloutSource>;

function sourceOf(spec: JobSpec): RolloutSource {
  if (spec.kind === 'graph') return sources.graph;
  return spec.rows ? sources.rows : sources.container;
}

/** A try of a judge. */
const judgeMs = 120_000;
/** The longest wait for a provider between two tries. */
const providerWaitMs = 60_000;

/** The longest time between the ends of two calls of a healthy rollout. */
export function longestCallMs(spec: JobSpec): number {
  const ownMs = spec.rolloutTimeoutS * 1_000;
  if (spec.kind !== 'graph' && !spec.rows) return rolloutWindowMs(ownMs);
  return Math.max(ownMs, judgeMs) + providerWaitMs;
}

function rowsJobOf(spec: JobSpec): RowsJob {
  if (spec.kind === 'graph' || !spec.rows) throw new TypeError('The job has no data set.');
  const { rows, policy, rolloutTimeoutS, answerCache = null, budget = null } = spec;
  return { rows, policy, rolloutTimeoutS, answerCache, budget };
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
