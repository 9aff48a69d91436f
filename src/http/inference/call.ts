import type { Logger } from 'pino';
import type { ModelAnswer } from '../../clients/models/provider-answer.js';
import type { Providers } from '../../clients/models/providers.js';
import type { CallRollout } from '../../storage/rollouts/calls.js';
import type { Db } from '../../storage/db/db.js';
import type { Notifications } from '../../storage/db/notifications.js';
import type { MarkedSpan } from './lever-marks.js';
import type { UpstreamRequest } from './request.js';

/** What the proxy works with; times in milliseconds. */
export interface ProxyDeps {
  db: Db;
  notifications: Pick<Notifications, 'presence'>;
  providers: Providers;
  log: Logger;
  /** How long one model call may take, its last byte included. */
  callTimeoutMs?: number;
  /** How long an answer is still read, so that it is recorded, after its caller has gone. */
  lingerMs?: number;
  /** How long an answer waits for a database that does not take it. */
  recordPatienceMs?: number;
}

/** A call on its way to whoever answers it. */
export interface ForwardedCall {
  provider: string;
  upstream: UpstreamRequest;
  /** Answers in the place of the provider. */
  answeredBy?: (signal: AbortSignal) => Promise<ModelAnswer>;
  /** By what the log names it. */
  logged: Record<string, string>;
}

/** A call of a job, resolved: who answers, for which rollout, with which request. */
export interface ProxyCall extends ForwardedCall {
  orgId: string;
  jobId: string;
  correlationId: string;
  rollout: CallRollout;
  candidateId: string | null;
  /** Of a call under a budget of money: the most that it can cost, in dollars, and under which id that is reserved. */
  reservation: { id: string; costUsd: number } | null;
  /** What the request marks: its spans, which the baseline is made of, where that is not known; else the components by name, in the prompt's order. */
  levers: (Pick<MarkedSpan, 'name'> & Partial<MarkedSpan>)[] | null;
}
