import type { SpanContext } from '@opentelemetry/api';
import type { RolloutOutcome } from '../../src/clients/container/client.js';
import type { TraceCall } from '../../src/models/client/traced-call.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import type { StoredPrompt } from '../../src/candidates/store/candidates.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { Claim } from '../../src/rollouts/store/exchange.js';
import type { ActivityDeps } from '../deps.js';
import type { Concurrency } from './concurrency.js';

export interface RolloutControl {
  signal: AbortSignal;
  concurrency: Concurrency;
  /** Called after each try at the container; false: no further try. */
  mayRetry(timedOut: boolean): boolean;
}

/** A claimed rollout, with what its source needs of its job. */
export interface ClaimedRollout<Spec = JobSpec> {
  deps: ActivityDeps;
  job: JobRef;
  spec: Spec;
  /** The container's. */
  apiKey: string | null;
  claim: Claim;
  /** The candidate's. */
  prompt: StoredPrompt;
  control: RolloutControl;
  /** null: the job is not traced. */
  span: SpanContext | null;
  trace: TraceCall | null;
}

/** Where rollouts run. Those of live traffic run at their callers, who report the rewards. */
export interface RolloutSource {
  /** Runs a rollout with its retries. Rejects with the signal's reason. */
  run(rollout: ClaimedRollout): Promise<RolloutOutcome>;
}
