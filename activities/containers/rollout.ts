import { rolloutWindowMs, type RolloutOutcome } from '../../src/clients/container/client.js';
import { issueInferenceKey } from '../../src/clients/container/inference-key.js';
import { traceparentOf } from '../../src/tracing/spans.js';
import { containerOf } from '../jobs/spec.js';
import type { ClaimedRollout } from '../rollouts/source.js';
import { rootCause } from './root-cause.js';

/** Runs a rollout at the job's container. */
export async function runAtContainer(rollout: ClaimedRollout): Promise<RolloutOutcome> {
  const { deps, job, spec, apiKey, claim, prompt, control, span } = rollout;
  const { signal, concurrency, mayRetry } = control;
  const { rolloutId, seed } = claim;
  const { url, envName, envConfig } = containerOf(spec);
  const { messages, demos } = prompt;
  const tryTimeoutMs = spec.rolloutTimeoutS * 1_000;
  const outcome = await deps.container.rollout(
    {
      url,
      apiKey,
      rolloutId,
      seed,
      envName,
      envConfig,
      messages,
      demos,
      tryTimeoutMs,
      mayRetry,
      ...(span && { traceparent: traceparentOf(span) }),
      policy: spec.policy,
      inferenceUrl: `${deps.publicUrl}/api/gepa/v1/${job.jobId}/${rolloutId}`,
      inferenceApiKey: issueInferenceKey(deps.secretKey, { ...job, rolloutId }),
      deadline: performance.now() + rolloutWindowMs(tryTimeoutMs),
      onPushback: (reason) => concurrency.lower(reason),
      onRetry: () => deps.metrics.retry('container'),
      admit: (admitSignal) => concurrency.admit(admitSignal),
    },
    signal,
  );
  return rootCause(deps, job, rolloutId, outcome);
}
