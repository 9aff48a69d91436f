import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { ContainerClient } from '../src/clients/container/client.js';
import type { Providers } from '../src/clients/models/providers.js';
import type { Metrics } from '../src/metrics.js';
import type { Db } from '../src/storage/db/db.js';
import type { Notifications } from '../src/storage/db/notifications.js';

/** What activities work with; tests build exactly what production builds. */
export interface ActivityDeps {
  db: Db;
  notifications: Notifications;
  container: ContainerClient;
  providers: Providers;
  temporal: Client;
  secretKey: Buffer;
  /** Base of the proxy URLs that containers are given, without a slash at the end. */
  publicUrl: string;
  metrics: Pick<Metrics, 'rollout'>;
  /** Aborted when the worker is to stop: start nothing new, let what is in flight end. */
  draining: AbortSignal;
  log: Logger;
}
