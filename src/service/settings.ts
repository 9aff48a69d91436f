/** The settings by environment variable, in the groups of docs/settings.md. */
import { trimEndOf } from '../util/text.js';
import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { chosenKey } from '../util/chosen-key.js';

const key32 = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64 (openssl rand -base64 32)')
  .transform((text) => Buffer.from(text, 'base64'));
const port = z.coerce.number('must be a port number').int().min(0).max(65_535);
const mebibytes = z.coerce.number('must be a number of MiB').int().min(1).max(65_536);
const days = z.coerce.number('must be a number of days').int('must be whole days').min(1).max(36_500).optional();
const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });
const postgresUrl = z.string().regex(/^\s*postgres(ql)?:\/\//i, 'must be a postgres:// URL');
const flag = (fallback: '0' | '1') =>
  z
    .enum(['0', '1'], 'must be 0 or 1')
    .default(fallback)
    .transform((value) => value === '1');
const commaSeparated = z.string().transform((list) =>
  list
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean),
);

/** As OpenTelemetry reads it: anything but `true` is false. */
const otelBoolean = z
  .string()
  .default('false')
  .transform((value) => value.trim().toLowerCase() === 'true');

/** Attaches the meaning of a variable, and its default where the schema has none. */
const about = <Schema extends z.ZodType>(schema: Schema, description: string, shown?: string): Schema =>
  schema.meta({ description, ...(shown !== undefined && { shown }) });

/** The same for a setting that holds a secret: a file may hold it, too. */
const secret = <Schema extends z.ZodType>(schema: Schema, description: string, shown: string): Schema =>
  schema.meta({ description, shown, secret: true });

/** As a Host header has them, in small letters and without a port. */
const hosts = commaSeparated
  .refine(
    (entries) => entries.every((entry) => isIPv6(entry) || /^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i.test(entry)),
    'must be host names or addresses, separated by commas',
  )
  .transform((entries) =>
    entries.map((entry) => (isIPv6(entry) ? `[${entry}]` : entry.replace(/:\d+$/, '')).toLowerCase()),
  );

const network = {
  PORT: about(
    port.default(8787),
    'Port of the API; 0 picks a free one. Where it is not set and taken, `ratchet dev` and commands take a free one.',
  ),
  HOST: about(z.string().default('127.0.0.1'), 'Address that the API listens on.'),
  RATCHET_PUBLIC_URL: about(
    webUrl.transform((url) => trimEndOf(url, '/')).optional(),
    'Base of the proxy URLs that containers get: set it when they run on another machine. `ratchet worker` requires it, and so does an API whose `HOST` is no loopback address. Requests for other hosts than its own, `HOST`, loopback names and `RATCHET_ALLOWED_HOSTS` are refused with `421`.',
    '`http://HOST:PORT`',
  ),
  RATCHET_ALLOWED_HOSTS: about(
    hosts.default([]),
    'Further hosts that requests may name, with any port, separated by commas: those by which callers inside a cluster reach the API.',
    'none',
  ),
  RATCHET_URL: about(
    webUrl.optional(),
    'The service that `ratchet optimize` and other commands, and the clients, use.',
    'a running service of this user',
  ),
  RATCHET_EGRESS: about(
    z.enum(['dev', 'public', 'allowlist'], 'must be dev, public or allowlist').optional(),
    'Which containers, scorers and webhooks may be called. `public`: public addresses. `dev`: loopback and private ones, too. `allowlist`: those of `RATCHET_EGRESS_ALLOW`. Link-local and metadata addresses are never allowed.',
    '`dev`; with `DATABASE_URL` `public`',
  ),
  RATCHET_EGRESS_ALLOW: about(
    commaSeparated.default([]),
    '`host`, `host:port` or `*.domain`, separated by commas.',
    'none',
  ),
};

const keys = {
  RATCHET_API_KEY: secret(
    z
      .string()
      .regex(chosenKey, 'must be 32 to 500 visible characters without spaces (openssl rand -hex 24)')
      .optional(),
    'The first API key, 32 to 500 visible characters. It has all scopes in the organization `default`, and its holder [operates](reference/access.md) the service. Another value replaces the key at the next start. `ratchet serve` requires it; commands and clients send it.',
    'generated, in `api-key` of the data folder',
  ),
  RATCHET_SECRET_KEY: secret(
    key32.optional(),
    "32 bytes in base64: encrypts stored secrets and peppers the hashes of API keys. With `DATABASE_URL` it is required and must be the same for all processes; a start with another key than the database's is refused.",
    'generated, in `secret-key` of the data folder',
  ),
  RATCHET_CODEC_KEY: secret(
    key32.optional(),
    "32 bytes in base64: encrypts payloads and failures in Temporal's histories, and the API serves [Temporal's codec protocol](operations.md#temporal).",
    'off',
  ),
};

const storage = {
  RATCHET_DATA_DIR: about(
    z.string().optional(),
    "Folder of the keys and of the embedded servers' data. Commands then use its service alone.",
    '`.ratchet`',
  ),
  DATABASE_URL: secret(
    postgresUrl.optional(),
    'Your Postgres, as libpq reads it. Migrations run as its role and create the roles of everything else ([managed Postgres](managed-postgres.md)).',
    'embedded Postgres 18',
  ),
  RATCHET_APP_DATABASE_URL: secret(
    postgresUrl.optional(),
    "The same database for the service's connections. Its role is yours; without a user it is the one that [`ratchet migrate-database`](managed-postgres.md#roles) made. Alone, without `DATABASE_URL`, nothing is migrated.",
    '`DATABASE_URL` with a role of its own',
  ),
  XDG_CACHE_HOME: about(
    z.string().optional(),
    'Its folder `ratchet` has the Temporal program, and a file for each running service of this user, by which commands find it.',
    '`~/.cache`',
  ),
  XDG_DATA_HOME: about(
    z.string().optional(),
    'The data of `ratchet mcp` in a folder that cannot be written, in its folder `ratchet`.',
    '`~/.local/share`',
  ),
};

const temporal = {
  TEMPORAL_ADDRESS: about(
    z.string().optional(),
    "Your Temporal. `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS…` work as in Temporal's own tools.",
    'embedded Temporal',
  ),
  TEMPORAL_CONFIG_FILE: about(z.string().optional(), 'A file with a profile, in place of the address.', 'none'),
  RATCHET_TASK_QUEUE: about(
    z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/, 'must be 1 to 200 letters, digits, dots, dashes and underscores')
      .optional(),
    "Task queue of this installation's jobs in Temporal: API and workers of a database share it, and no other database may use it ([operations](operations.md#several-installations)). It may change while no job is open.",
    '`ratchet-` and an id of the database',
  ),
  RATCHET_TEMPORAL_PORT: about(port.default(7233), 'Port of the embedded Temporal; 0: a free one.'),
  RATCHET_TEMPORAL_UI: about(flag('0'), '`1`: the embedded Temporal serves its UI, 1,000 ports above.'),
  RATCHET_TEMPORAL_UI_URL: about(
    z.url('must be a URL').optional(),
    'Base of the `temporal_url` in answers. Pages of its origin may call the codec.',
    "the embedded one's",
  ),
  RATCHET_WORKER_BUILD_ID: about(
    z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,200}$/, 'must be 1 to 200 letters, digits, dots, dashes and underscores')
      .optional(),
    "Name of the worker's build: jobs then end on the build that began them ([operations](operations.md#a-new-version-beside-running-jobs)).",
    'off',
  ),
};

const models = {
  RATCHET_ALLOW_LOCAL_PROVIDER: about(flag('1'), '`0`: the provider `local` is off. Set it for API and workers.'),
  RATCHET_ALLOW_JAVASCRIPT_SCORERS: about(
    commaSeparated
      .refine(
        (ids) => ids.every((id) => /^(\*|default|org_\w+)$/.test(id)),
        'must be `*`, or ids of organizations such as default, separated by commas',
      )
      .default([]),
    'Organizations whose jobs may bring functions, which run on the machine of the worker: ids separated by commas, or `*` for all. See [scorers](reference/scorers.md#javascript). Set it for API and workers.',
    'none',
  ),
  RATCHET_MAX_ANSWER_MIB: about(mebibytes.default(8), 'Largest answer of a model without `stream`.'),
  RATCHET_MAX_IN_FLIGHT_MIB: about(
    mebibytes.default(128),
    'Requests and answers of model calls, of proxy and deployments, that a process of the API holds. Beyond it they answer 503 with `retry-after`.',
  ),
};

const retention = {
  RATCHET_KEEP_TRACES_DAYS: about(
    days,
    'How long closed jobs keep traces: model calls and details of rollouts.',
    'for ever',
  ),
  RATCHET_KEEP_EVENTS_DAYS: about(days, 'How long closed jobs keep events.', 'for ever'),
  RATCHET_KEEP_JOBS_DAYS: about(days, 'How long closed jobs are kept at all.', 'for ever'),
  RATCHET_KEEP_AUDIT_DAYS: about(days, 'How long entries of the audit log are kept, by their own age.', 'for ever'),
};

const observation = {
  RATCHET_LOG_LEVEL: about(
    z.enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent').default('warn'),
    '`debug`, `info`, `warn`, `error` or `silent`. Logs are JSON on stderr, and plain lines in a terminal.',
  ),
  RATCHET_METRICS_PORT: about(
    port.optional(),
    'Prometheus metrics at `http://127.0.0.1:PORT/metrics` ([list](operations.md#health-and-metrics)), and `/livez` and `/readyz` of this process; with `npm start`, of API and worker together.',
    'off',
  ),
  RATCHET_METRICS_HOST: about(
    z.string().default('127.0.0.1'),
    'Address that this port listens on; it asks for no key.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: about(
    webUrl.optional(),
    '[Traces](operations.md#traces): base URL of a collector for OTLP over HTTP with protobuf. Set it for API and workers.',
    'off',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: about(webUrl.optional(), 'The same, as the whole URL.', 'off'),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: about(otelBoolean, '`true` adds prompts and answers to spans.'),
  OTEL_SDK_DISABLED: about(otelBoolean, '`true`: no traces.'),
  OTEL_TRACES_EXPORTER: about(z.enum(['otlp', 'none'], 'must be otlp or none').default('otlp'), '`otlp` or `none`.'),
};

/** Groups by title. */
export const settingGroups = {
  Network: network,
  Keys: keys,
  Storage: storage,
  Temporal: temporal,
  'Models and scorers': models,
  Retention: retention,
  Observation: observation,
};

/** All settings. An empty value counts as absent. */
export const settings = z.object({
  ...network,
  ...keys,
  ...storage,
  ...temporal,
  ...models,
  ...retention,
  ...observation,
});

/** Names of the settings that hold a secret; `NAME_FILE` names a file with it. */
export const secretNames: readonly string[] = Object.entries(settings.shape)
  .filter(([, schema]) => schema.meta()?.['secret'] === true)
  .map(([name]) => name);

/** Names of the settings above; providers and Temporal have further ones. */
export const settingNames: readonly string[] = Object.keys(settings.shape);
