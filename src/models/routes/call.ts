import type { Logger } from 'pino';
import type { ProviderReply } from '../client/ask-provider.js';
import type { ModelAnswer } from '../client/answers/provider-answer.js';
import type { ModelClient, Providers } from '../client/providers.js';
import type { CacheScope } from '../../core/jobs/answer-cache.js';
import type { CallRollout } from '../../rollouts/store/calls.js';
import type { Db } from '../../platform/db/db.js';
import type { Notifications } from '../../platform/db/notifications.js';
import type { Tracing } from '../../tracing/tracing.js';
import type { Permit } from '../../platform/http/admission/gate.js';
import type { AnswerForm } from './forms/form.js';
import type { BytesInFlight, HeldBytes } from './bytes-in-flight.js';
import type { MarkedSpan } from './lever-marks.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Dependencies of the proxy; times in milliseconds. */
export interface ProxyDeps {
  db: Db;
  notifications: Pick<Notifications, 'presence'>;
  providers: Providers;
  /** null: no collector. */
  tracing: Tracing | null;
  log: Logger;
  bytes: BytesInFlight;
  /** Time limit of a model call, up to its last byte. */
  callTimeoutMs?: number;
  /** Time to keep reading and recording an answer after the caller has disconnected. */
  lingerMs?: number;
  /** Maximum wait for an unavailable database before an answer fails. */
  recordPatienceMs?: number;
}

/** The model that answered, and its answer. */
export interface AskedModel {
  model: Pick<ForwardedCall, 'provider' | 'upstream'>;
  reply: ProviderReply;
}

/** A call to be answered by a provider or a graph. */
export interface ForwardedCall {
  provider: string;
  /** Sends with the keys of the caller's organization. */
  client: ModelClient;
  upstream: UpstreamRequest;
  bytes: HeldBytes;
  permit: Permit;
  /** The form of the answer; null: a chat completion. */
  form: AnswerForm | null;
  /** The id that the answer gets in place of the provider's. */
  answerId?: string;
  /** Gets the parameters of the policy that the model refuses and did not get. */
  onLeft?: (left: string[]) => void;
  /** Asks several models until one answers. Rejects as the first one. */
  askSeveral?: (signal: AbortSignal, onBytes: (bytes: number) => void) => Promise<AskedModel>;
  /** Answers instead of the provider. */
  answeredBy?: (signal: AbortSignal) => Promise<ModelAnswer>;
  /** Fields for log lines. */
  logged: Record<string, string>;
}

/** What is needed to ask for an answer. */
export type AskedCall = Pick<ForwardedCall, 'provider' | 'client' | 'upstream' | 'askSeveral' | 'answeredBy'> & {
  bytes: Pick<HeldBytes, 'add'>;
};

/** A resolved call of a job: provider, rollout, request. */
export interface ProxyCall extends ForwardedCall {
  orgId: string;
  /** The API key that the caller presents; null: an inference key of the job. */
  keyId: string | null;
  jobId: string;
  correlationId: string;
  rollout: CallRollout;
  candidateId: string | null;
  /** Under `max_cost_usd`: the call's maximum cost in dollars and the reservation's id. */
  reservation: { id: string; costUsd: number } | null;
  /** Where the answer of an earlier call may be used; null: nowhere. */
  cacheScope: CacheScope | null;
  /** Marked spans while the baseline is unknown; else marked components in order. */
  levers: (Pick<MarkedSpan, 'name'> & Partial<MarkedSpan>)[] | null;
}
