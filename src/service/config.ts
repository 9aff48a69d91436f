import { trimEndOf } from '../util/text.js';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import { readEnvironment } from './environment.js';
import { settings } from './settings.js';
import { homeCache, homeFolder } from '../platform/embedded/home.js';
import { isLoopback } from '../util/loopback.js';
import { readProxySettings } from '../util/proxy.js';

/** An invalid setting; the message is one line with its name and format. The exit code is 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads and validates all settings; throws a ConfigError that names every invalid one. */
export function readConfig(env: Record<string, string | undefined> = process.env) {
  const { values: given, notes, problems } = readEnvironment(env);
  const parsed = settings.safeParse(given);
  const wrong = parsed.error?.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`) ?? [];
  if (!parsed.success || problems.length > 0) throw new ConfigError([...problems, ...wrong].join('; '));
  const s = parsed.data;
  for (const name of ['HOST', 'RATCHET_METRICS_HOST'] as const)
    if (isIP(s[name]) === 0 && !/^[a-z0-9.-]+$/i.test(s[name]))
      throw new ConfigError(`${name} must be a host name or an address`);
  const database = databaseOf(s);
  const proxies = readProxySettings(given);
  return {
    port: s.PORT,
    /** Whether the port is the user's wish: then no other one is taken in its place. */
    isPortFixed: given['PORT'] !== undefined || !isLoopback(s.HOST),
    host: s.HOST,
    ...foldersOf(s),
    /** null: that of the database's installation. */
    taskQueue: s.RATCHET_TASK_QUEUE ?? null,
    temporalPort: s.RATCHET_TEMPORAL_PORT,
    isTemporalPortFixed: given['RATCHET_TEMPORAL_PORT'] !== undefined,
    publicUrl: s.RATCHET_PUBLIC_URL ?? null,
    /** Further hosts of requests, as a Host header has them, without a port. */
    allowedHosts: s.RATCHET_ALLOWED_HOSTS,
    apiKey: s.RATCHET_API_KEY ?? null,
    // With an external database the service may have foreign users; embedded it has none.
    egress: {
      mode: s.RATCHET_EGRESS ?? (database.ownDatabase ? 'public' : 'dev'),
      allowlist: s.RATCHET_EGRESS_ALLOW,
      proxy: proxies.settings,
    },
    /** Variables that are not used, and why. */
    notes: [...notes, ...proxies.problems],
    /** The organizations whose jobs may bring JavaScript functions; `*`: all. */
    javascriptOrgs: s.RATCHET_ALLOW_JAVASCRIPT_SCORERS,
    allowLocalProvider: s.RATCHET_ALLOW_LOCAL_PROVIDER,
    /** Of a model's answer that is not streamed. */
    maxAnswerBytes: s.RATCHET_MAX_ANSWER_MIB * 1024 * 1024,
    /** Of requests and answers that the process holds for calls of models. */
    maxBytesInFlight: s.RATCHET_MAX_IN_FLIGHT_MIB * 1024 * 1024,
    /** How long closed jobs, their parts and audit entries are kept; null: for ever. */
    keepDays: {
      traces: s.RATCHET_KEEP_TRACES_DAYS ?? null,
      events: s.RATCHET_KEEP_EVENTS_DAYS ?? null,
      job: s.RATCHET_KEEP_JOBS_DAYS ?? null,
      audit: s.RATCHET_KEEP_AUDIT_DAYS ?? null,
    },
    secretKey: s.RATCHET_SECRET_KEY ?? null,
    codecKey: s.RATCHET_CODEC_KEY ?? null,
    /** The service that commands use; null: the one at `port`, or a new one. */
    serviceUrl: s.RATCHET_URL === undefined ? null : trimEndOf(s.RATCHET_URL, '/'),
    logLevel: s.RATCHET_LOG_LEVEL,
    ...database,
    /** Whether the environment names an external Temporal. */
    ownTemporal: s.TEMPORAL_ADDRESS !== undefined || s.TEMPORAL_CONFIG_FILE !== undefined,
    /** Whether the embedded Temporal serves its UI. */
    temporalUi: s.RATCHET_TEMPORAL_UI,
    temporalUiUrl: s.RATCHET_TEMPORAL_UI_URL ?? null,
    /** Port of the metrics; null: off. */
    metricsPort: s.RATCHET_METRICS_PORT ?? null,
    /** Address of that port. */
    metricsHost: s.RATCHET_METRICS_HOST,
    /** The rest of OTEL_* is read by OpenTelemetry's SDK; null: no collector. */
    tracing: isTraced(s) ? { captureContent: s.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT } : null,
    /** Build id for Temporal's worker versioning; null: no versioning. */
    workerBuildId: s.RATCHET_WORKER_BUILD_ID ?? null,
    /** The environment itself, for providers and Temporal's connection. */
    env: given,
  };
}

type Settings = z.output<typeof settings>;

function databaseOf({ DATABASE_URL, RATCHET_APP_DATABASE_URL }: Settings) {
  return {
    /** Of the role that migrates; null: the embedded Postgres, or nothing is migrated here. */
    databaseUrl: DATABASE_URL ?? null,
    /** Of the service's connections; null: a role of its own at `databaseUrl`. */
    appDatabaseUrl: RATCHET_APP_DATABASE_URL ?? null,
    /** Whether the environment names an external Postgres. */
    ownDatabase: DATABASE_URL !== undefined || RATCHET_APP_DATABASE_URL !== undefined,
  };
}

function foldersOf({ RATCHET_DATA_DIR, XDG_DATA_HOME, XDG_CACHE_HOME }: Settings) {
  const dataDir = resolve(RATCHET_DATA_DIR ?? '.ratchet');
  const home = homeFolder();
  const userData = XDG_DATA_HOME ?? (home && join(home, '.local', 'share'));
  return {
    dataDir,
    /** Whether the user named the data folder: then commands use its service alone. */
    isDataDirFixed: RATCHET_DATA_DIR !== undefined,
    /** In place of `dataDir` where no setting names it and the working folder cannot have it. */
    userDataDir: RATCHET_DATA_DIR === undefined && userData !== null ? join(userData, 'ratchet') : null,
    /** Cache of downloaded or built programs (Temporal). */
    cacheDir: XDG_CACHE_HOME !== undefined ? join(XDG_CACHE_HOME, 'ratchet') : (homeCache() ?? join(dataDir, 'cache')),
  };
}

function isTraced(s: Settings): boolean {
  const endpoint = s.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? s.OTEL_EXPORTER_OTLP_ENDPOINT;
  return endpoint !== undefined && !s.OTEL_SDK_DISABLED && s.OTEL_TRACES_EXPORTER !== 'none';
}

/** Names the proxy for gRPC, which reads it from this variable alone. */
export function setGrpcProxy({ egress: { proxy } }: Config): void {
  const url = proxy.https ?? proxy.http;
  if (url !== null) process.env['grpc_proxy'] ??= url;
}

/** Hands headers of a file to OpenTelemetry's SDK, which reads only the environment. */
export function setTraceHeaders({ env }: Config): void {
  for (const name of ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'])
    if (env[name] !== undefined) process.env[name] = env[name];
}

/** The validated settings; keys as bytes. */
export type Config = ReturnType<typeof readConfig>;

/** The roles of a process: `ratchet serve`, `ratchet worker`, or both (`ratchet dev`). */
export interface Roles {
  serve: boolean;
  work: boolean;
  /** API processes that share the port and the connections of one; default 1. */
  processes?: number;
}

/**
 * Throws a ConfigError with every missing setting: separate API and worker processes share
 * Postgres, Temporal and keys, so nothing is embedded and no key is generated.
 */
export function checkRoles(config: Config, roles: Roles): void {
  const alone = !(roles.serve && roles.work);
  const isExposed = roles.serve && !isLoopback(config.host);
  const needs: [string, boolean][] = [
    ['DATABASE_URL', alone && !config.ownDatabase],
    ['TEMPORAL_ADDRESS', alone && !config.ownTemporal],
    [
      'RATCHET_SECRET_KEY (32 bytes in base64: openssl rand -base64 32)',
      (alone || config.ownDatabase) && !config.secretKey,
    ],
    ['RATCHET_API_KEY (the first API key)', alone && roles.serve && !config.apiKey],
    [
      'RATCHET_PUBLIC_URL (where callers and containers reach the API)',
      !config.publicUrl && ((alone && roles.work) || isExposed),
    ],
  ];
  const missing = needs.filter(([, lacks]) => lacks).map(([name]) => name);
  if (missing.length === 0) return;
  if (alone) {
    const role = roles.serve ? 'serve' : 'worker';
    throw new ConfigError(`ratchet ${role} needs ${missing.join(', ')}; "ratchet dev" runs everything by itself`);
  }
  const cause = isExposed && !config.publicUrl ? `HOST=${config.host}` : 'DATABASE_URL';
  throw new ConfigError(`${cause} needs ${missing.join(', ')} beside it`);
}

/** What others on the network could misuse of an API that listens beyond this machine. */
export function exposureWarnings({ host, publicUrl, egress }: Config): string[] {
  if (isLoopback(host)) return [];
  return [
    ...(egress.mode === 'dev'
      ? [`HOST=${host} with RATCHET_EGRESS=dev: holders of a key reach private addresses; set public or allowlist`]
      : []),
    ...(publicUrl?.startsWith('http:')
      ? [`HOST=${host} with RATCHET_PUBLIC_URL=${publicUrl}: keys travel unencrypted; use https, behind a proxy`]
      : []),
  ];
}
