import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import type { ProviderInfo } from '../clients/models/providers.js';
import type { Db } from '../storage/db/db.js';
import type { Notifications } from '../storage/db/notifications.js';
import type { Commander } from '../temporal/commands.js';
import type { Check } from '../temporal/readiness.js';

/** The server with zod schemas as its types. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Waits in milliseconds; tests shorten them. */
export interface Timing {
  /** How long a command's outcome is waited for before the answer is 202. */
  commandWaitMs: number;
  /** How long a create waits for the start of its workflow; what does not start in time the reconciler starts. */
  startWaitMs: number;
  /** Between two looks at the database where a notification may have been lost. */
  pollMs: number;
  /** Between two comments on an event stream. */
  heartbeatMs: number;
  /** After this long without reading, a reader of an event stream is dropped. */
  stallMs: number;
}

export const defaultTiming: Timing = {
  commandWaitMs: 2_000,
  startWaitMs: 2_000,
  pollMs: 1_000,
  heartbeatMs: 15_000,
  stallMs: 10_000,
};

/** Everything the HTTP server needs from the rest of the service. */
export interface HttpDeps {
  db: Db;
  notifications: Notifications;
  log: Logger;
  commander: Commander;
  /** 32 bytes: peppers the hashes of API keys and seals what callers entrust to us. */
  secretKey: Buffer;
  /** Base of the URLs handed out, without a slash at the end. */
  publicUrl: string;
  version: string;
  /** Where operators see a workflow, or null when there is no Temporal UI. */
  temporalUrl(workflowId: string): string | null;
  /** Why the service may not call this container, as far as the URL alone tells; null: it may. */
  checkContainerUrl(url: string): string | null;
  /** Why this provider cannot be used: unknown, or without a key; null: it can. */
  checkProvider(provider: string): string | null;
  listProviders(): ProviderInfo[];
  readiness(): Promise<Check[]>;
  /** The organization whose job this inference key was issued to, or null when it is not that job's key. */
  verifyInferenceKey(presented: string, job: { jobId: string; rolloutId: string }): string | null;
  /** Told of every answer: its route's pattern, status and seconds. */
  observe?(method: string, route: string, status: number, seconds: number): void;
  /** Adds the inference routes. */
  registerInference(app: App): void;
  /** Aborted when a graceful shutdown begins: no new work, streams end. */
  shutdown: AbortSignal;
  timing?: Partial<Timing>;
}
