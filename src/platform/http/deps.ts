import type { PayloadCodec } from '@temporalio/common';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import type { ListedEnds } from '../../models/client/listed-ends.js';
import type { ProviderInfo } from '../../models/client/providers.js';
import type { ModelCheck } from '../../contracts/model-check.js';
import type { Payer } from '../../core/jobs/payer.js';
import type { Db } from '../db/db.js';
import type { Notifications } from '../db/notifications.js';
import type { Commander } from '../temporal/commands.js';
import type { Scheduler } from '../temporal/schedules.js';
import type { Tracing } from '../../tracing/tracing.js';
import type { Check } from '../temporal/readiness.js';
import type { TaskQueueBacklog } from '../temporal/task-queues.js';
import type { LoginTokens } from './dashboard/login-tokens.js';

/** Fastify with zod as the type provider. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Wait times in milliseconds; tests shorten them. */
export interface Timing {
  /** Maximum wait for a command's outcome before a 202. */
  commandWaitMs: number;
  /** Maximum wait of a create for its workflow; the reconciler starts it otherwise. */
  startWaitMs: number;
  /** Poll interval of the database, in case a notification is lost. */
  pollMs: number;
  /** Interval of comments on an event stream. */
  heartbeatMs: number;
  /** Time after which a stalled reader of an event stream is dropped. */
  stallMs: number;
}

export const defaultTiming: Timing = {
  commandWaitMs: 2_000,
  startWaitMs: 2_000,
  pollMs: 1_000,
  heartbeatMs: 15_000,
  stallMs: 10_000,
};

/** The codec of Temporal's payloads, for Temporal's own UI and command line. */
export interface CodecServer {
  codec: PayloadCodec;
  namespace: string;
  /** The origin of the Temporal UI; null: none. */
  uiOrigin: string | null;
}

/** Dependencies of the HTTP server. */
export interface HttpDeps {
  db: Db;
  notifications: Notifications;
  log: Logger;
  commander: Commander;
  scheduler: Scheduler;
  /** 32 bytes: pepper of API key hashes and key of stored secrets. */
  secretKey: Buffer;
  /** Base of public URLs, without a trailing slash. */
  publicUrl: string;
  /** The host name or address that the server listens on. */
  listenHost: string;
  /** Further hosts that requests may name. */
  allowedHosts: readonly string[];
  version: string;
  /** URL of a workflow in the Temporal UI; null: no UI. */
  temporalUrl(workflowId: string): string | null;
  /** The codec of Temporal's payloads; null: they are not encrypted. */
  codec: CodecServer | null;
  /** Why the service may not call this container URL (static check), or null. */
  checkContainerUrl(url: string): string | null;
  /** Why the service may not call this webhook URL (static check), or null. */
  checkWebhookUrl(url: string): string | null;
  /** Why a scorer's code is not accepted (not allowed, no function), or null. */
  checkJavascript(code: string, orgId: string): string | null;
  /** Why a provider is not usable, or null; `own`: those with a key of the organization. */
  checkProvider(provider: string, own?: ReadonlySet<string>): string | null;
  listProviders(own: ReadonlySet<string>): ProviderInfo[];
  /** The ends of models in a provider's own list; null: its vendor gives none there. */
  listedEnds: ListedEnds;
  /** Calls a model for the payer, to see what it takes. */
  checkModel(payer: Payer, asked: { provider: string; model: string }, signal: AbortSignal): Promise<ModelCheck>;
  /** Why a workflow cannot start in the namespace, or null; also null while Temporal is away. */
  startProblem(): Promise<string | null>;
  readiness(): Promise<Check[]>;
  /** Tasks that wait for a worker. Rejects while Temporal is away. */
  taskQueues(): Promise<TaskQueueBacklog[]>;
  /** The organization of a job's inference key; null: not a key of this job. */
  verifyInferenceKey(presented: string, job: { jobId: string; rolloutId: string }): string | null;
  /** null: no login links, as the API key is not known to this process alone. */
  loginTokens: LoginTokens | null;
  /** null: no collector. */
  tracing: Tracing | null;
  /** Called for every response: route pattern, status, seconds. */
  observe?(method: string, route: string, status: number, seconds: number): void;
  /** Called for events that a stream delivers while they happen: seconds since the oldest. */
  observeEventLag?(seconds: number): void;
  /** Called for a reward of a deployment that counts. */
  observeReward?(counted: { organization: string; deployment: string; reward: number }): void;
  /** Registers the inference routes. */
  registerInference(app: App): void;
  /** Aborted at the start of a graceful shutdown: no new work, streams end. */
  shutdown: AbortSignal;
  timing?: Partial<Timing>;
}
