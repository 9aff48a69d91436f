import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { ContainerClient } from '../src/clients/container/client.js';
import type { ScorerClient } from '../src/scorers/client/client.js';
import type { Providers } from '../src/models/client/providers.js';
import type { WebhookClient } from '../src/clients/webhooks/client.js';
import type { Metrics } from '../src/service/metrics.js';
import type { Db } from '../src/platform/db/db.js';
import type { Tracing } from '../src/tracing/tracing.js';
import type { Notifications } from '../src/platform/db/notifications.js';

/** Dependencies of activities; tests build them as production does. */
export interface ActivityDeps {
  db: Db;
  notifications: Notifications;
  container: ContainerClient;
  scorers: ScorerClient;
  webhooks: WebhookClient;
  providers: Providers;
  temporal: Client;
  secretKey: Buffer;
  /** Base URL of the inference proxy for containers, without a trailing slash. */
  publicUrl: string;
  metrics: Pick<Metrics, 'rollout' | 'retry' | 'proposal' | 'jobEnded' | 'stoodStill' | 'deploymentJudged'>;
  /** null: no collector. */
  tracing: Tracing | null;
  /** Aborted when the worker shuts down: start nothing new, let work in flight finish. */
  draining: AbortSignal;
  log: Logger;
}
