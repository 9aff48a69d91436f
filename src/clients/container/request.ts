import { createHash } from 'node:crypto';
import { placeDemos, type Demo } from '../../core/prompts/demos.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import type { Message } from '../../core/prompts/message.js';

/** A rollout to run at a container. */
export interface RolloutRequest {
  /** The container's base URL; `/rollout` is appended. */
  url: string;
  apiKey: string | null;
  /** Also serves as correlation id, seed of the trace id and idempotency key. */
  rolloutId: string;
  /** The rollout's span; absent: derived from the rollout id. */
  traceparent?: string;
  seed: number;
  envName: string | null;
  envConfig: Record<string, unknown>;
  policy: PolicySpec;
  inferenceUrl: string;
  inferenceApiKey: string;
  /** The candidate's messages, sent as `prompt_template`; null: the container's own prompt. */
  messages: Message[] | null;
  /** The candidate's demonstrations for this rollout; absent: none. */
  demos?: readonly Demo[];
  /** Time limit of one try, up to the last byte of the answer. */
  tryTimeoutMs: number;
  /** End of the rollout by `performance.now()`; no try and no wait lasts longer. */
  deadline: number;
  /** Called on 429, 503 and time-out, to lower the concurrency for a while. */
  onPushback?: (because: string) => void;
  /** Called before each further try. */
  onRetry?: () => void;
  /** Called after each try; false: no further try. */
  mayRetry?: (timedOut: boolean) => boolean;
  /** Admits a try; the deadline moves by the wait. The result is called when the try has ended. */
  admit?: (signal: AbortSignal) => Promise<() => void>;
}

/** Headers of every call to a container. No encodings: a small body can expand hugely. */
export function containerHeaders(apiKey: string | null): Record<string, string> {
  return {
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
  };
}

/** Headers of `POST /rollout`; identical for every try, so that containers recognize a repeat. */
export function rolloutHeaders(request: RolloutRequest): Record<string, string> {
  return {
    ...containerHeaders(request.apiKey),
    'content-type': 'application/json',
    'idempotency-key': request.rolloutId,
    traceparent: request.traceparent ?? derivedTraceparent(request.rolloutId),
  };
}

/** Body of `POST /rollout`; identical for every try of a rollout. */
export function rolloutBody(request: RolloutRequest): Record<string, unknown> {
  const { provider, model, params } = request.policy;
  return {
    trace_correlation_id: request.rolloutId,
    rollout_id: request.rolloutId,
    env: { env_name: request.envName, seed: request.seed, config: request.envConfig },
    policy: {
      policy_name: model,
      config: {
        ...params,
        model,
        provider,
        inference_url: request.inferenceUrl,
        inference_api_key: request.inferenceApiKey,
        ...(request.messages && {
          prompt_template: {
            sections: placeDemos(request.messages, request.demos ?? []).map(
              ({ message: { role, content, name }, demo }, order) => ({
                role,
                content,
                order,
                ...(name !== undefined && { name }),
                ...(demo && { demo }),
              }),
            ),
          },
        }),
      },
    },
    safety: { max_time_s: request.tryTimeoutMs / 1000 },
  };
}

/** W3C trace context, derived from the rollout id: all tries belong to one trace. */
function derivedTraceparent(rolloutId: string): string {
  const digest = createHash('sha256').update(rolloutId).digest('hex');
  return `00-${digest.slice(0, 32)}-${digest.slice(32, 48)}-01`;
}
