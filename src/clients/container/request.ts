import { createHash } from 'node:crypto';
import { placeDemos, type Demo } from '../../core/prompts/demos.js';
import type { Message, PolicySpec } from '../../core/jobs/spec.js';

/** One rollout to be run by a container. */
export interface RolloutRequest {
  /** The container's base URL; `/rollout` is appended. */
  url: string;
  apiKey: string | null;
  /** Also the correlation id, the trace id's seed and the idempotency key. */
  rolloutId: string;
  seed: number;
  envName: string | null;
  envConfig: Record<string, unknown>;
  policy: PolicySpec;
  inferenceUrl: string;
  inferenceApiKey: string;
  /** The candidate's messages, told as `prompt_template`; null: the container uses its own prompt. */
  messages: Message[] | null;
  /** The candidate's demonstrations that this rollout is shown; absent: none. */
  demos?: readonly Demo[];
  /** How long one try may take, the answer's last byte included. */
  tryTimeoutMs: number;
  /** Epoch milliseconds by which the rollout must have ended: no try and no wait lasts beyond it. */
  deadline: number;
  /** Called at each 429, 503 and time-out of a try, so that fewer are sent at once for a while. */
  onPushback?: (because: string) => void;
  /** Waited for before each try; answers what to call when the try is over. The deadline moves by the wait. */
  admit?: (signal: AbortSignal) => Promise<() => void>;
}

/** Headers that every call to a container carries. Encodings are declined: a small compressed answer may be a huge one. */
export function containerHeaders(apiKey: string | null): Record<string, string> {
  return {
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
  };
}

/** The headers of `POST /rollout`. They depend on the rollout alone, so that a re-sent one is recognized as the same. */
export function rolloutHeaders(request: RolloutRequest): Record<string, string> {
  return {
    ...containerHeaders(request.apiKey),
    'content-type': 'application/json',
    'idempotency-key': request.rolloutId,
    traceparent: traceparent(request.rolloutId),
  };
}

/** The body of `POST /rollout`; the same for every try of a rollout. */
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
                ...{ role, content, order },
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

/** W3C trace context derived from the rollout id, so that all tries belong to one trace. */
function traceparent(rolloutId: string): string {
  const digest = createHash('sha256').update(rolloutId).digest('hex');
  return `00-${digest.slice(0, 32)}-${digest.slice(32, 48)}-01`;
}
