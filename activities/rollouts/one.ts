import { rolloutWindowMs, type RolloutOutcome } from '../../src/clients/container/client.js';
import { issueInferenceKey } from '../../src/clients/container/inference-key.js';
import { demosForSeed } from '../../src/core/prompts/demos.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import type { StoredPrompt } from '../../src/storage/candidates/candidates.js';
import type { ConcurrencyNow } from '../../src/storage/jobs/concurrency.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import type { Claim } from '../../src/storage/rollouts/exchange.js';
import type { Outcome } from '../../src/storage/rollouts/outcomes.js';
import type { Concurrency } from './concurrency.js';
import type { ActivityDeps } from '../deps.js';
import { runGraph } from '../graphs/rollout.js';
import { containerOf } from '../jobs/spec.js';

/** What a runner knows of its job. `prompts`: by lever version, of the candidates whose rollouts it runs. */
export interface Slice {
  spec: JobSpec;
  apiKey: string | null;
  prompts: Map<number, StoredPrompt>;
  /** Where the job's last runner left its concurrency. */
  limit: ConcurrencyNow | null;
}

/** What came of a rollout, after so many milliseconds. */
export interface Answered {
  result: RolloutOutcome;
  latencyMs: number;
}

/** Has one rollout run, with the tries it is due; null where `signal` told it to stop meanwhile. */
export async function runOne(
  deps: ActivityDeps,
  job: JobRef,
  slice: Slice,
  claim: Claim,
  { signal, concurrency }: { signal: AbortSignal; concurrency: Concurrency },
): Promise<Answered | null> {
  const startedAt = performance.now();
  const { spec } = slice;
  const how = { signal, concurrency };
  let result: RolloutOutcome;
  try {
    result =
      spec.kind === 'graph'
        ? await runGraph(deps, job, spec, claim, promptOf(claim, slice.prompts), how)
        : await runAtContainer(deps, job, { ...slice, spec }, claim, how);
  } catch (error) {
    if (signal.aborted) return null;
    const message = error instanceof Error ? error.message : String(error);
    deps.log.error({ err: error, rollout_id: claim.rolloutId }, 'a rollout failed in a way the client does not know');
    result = { kind: 'failed', code: 'internal', message, infrastructure: true, connect: false };
  }
  return signal.aborted ? null : { result, latencyMs: performance.now() - startedAt };
}

function runAtContainer(
  deps: ActivityDeps,
  job: JobRef,
  { spec, apiKey, prompts }: Slice,
  claim: Claim,
  { signal, concurrency }: { signal: AbortSignal; concurrency: Concurrency },
): Promise<RolloutOutcome> {
  const { url, envName, envConfig } = containerOf(spec);
  const tryTimeoutMs = spec.rolloutTimeoutS * 1_000;
  const { messages, demos } = promptOf(claim, prompts);
  return deps.container.rollout(
    {
      url,
      apiKey,
      rolloutId: claim.rolloutId,
      seed: claim.seed,
      envName,
      envConfig,
      policy: spec.policy,
      messages,
      demos,
      inferenceUrl: `${deps.publicUrl}/api/gepa/v1/${job.jobId}/${claim.rolloutId}`,
      inferenceApiKey: issueInferenceKey(deps.secretKey, { ...job, rolloutId: claim.rolloutId }),
      tryTimeoutMs,
      deadline: Date.now() + rolloutWindowMs(tryTimeoutMs),
      onPushback: (because) => concurrency.lower(because),
      admit: (asked) => concurrency.admit(asked),
    },
    signal,
  );
}

function promptOf({ candidateId, seed }: Claim, prompts: Slice['prompts']): StoredPrompt {
  const prompt = candidateId ? prompts.get(Number(candidateId.split('_').at(-1))) : undefined;
  const demos = demosForSeed(prompt?.demos ?? [], seed);
  return { messages: prompt?.messages ?? null, demos, graph: prompt?.graph ?? null };
}

/** A claim's outcome as it is recorded; that the container refuses the job's key is none. */
export function outcomeOf(
  { rolloutId, attempt }: Claim,
  { result, latencyMs }: { result: Exclude<RolloutOutcome, { kind: 'refused_key' }>; latencyMs: number },
): Outcome {
  const row = { rolloutId, attempt, latencyMs, reward: null, feedback: null, details: null, error: null };
  switch (result.kind) {
    case 'reward': {
      const { reward, feedback, details } = result;
      return { ...row, status: 'succeeded', reward, feedback, details };
    }
    case 'pending':
      return { ...row, status: 'awaiting_reward' };
    case 'failed': {
      const { code, message, infrastructure, connect } = result;
      return { ...row, status: 'failed', error: { code, message, infrastructure, connect } };
    }
  }
}
