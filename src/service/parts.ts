import type { Logger } from 'pino';
import type { Providers } from '../models/client/providers.js';
import type { Config, Roles } from './config.js';
import type { Keys } from './keys.js';
import type { Metrics } from './metrics.js';
import type { Servers } from './servers.js';
import type { Db } from '../platform/db/db.js';
import type { Notifications } from '../platform/db/notifications.js';
import type { InstallationClient } from '../platform/temporal/installation-client.js';
import type { Tracing } from '../tracing/tracing.js';
import type { Lifetime } from './lifetime.js';

/** What a process is started with, and the parts of it that run. */
export interface Start {
  config: Config;
  roles: Roles;
  log: Logger;
  life: Lifetime;
}

/** What a process has once its servers run. */
export interface Basis extends Start, Keys {
  servers: Servers;
}

/** What the API and the worker of a process share. */
export interface Shared extends Basis {
  db: Db;
  notifications: Notifications;
  temporal: InstallationClient;
  metrics: Metrics;
  providers: Providers;
  /** null: no collector. */
  tracing: Tracing | null;
  /** Where callers and containers reach the API. */
  publicUrl: string;
}
