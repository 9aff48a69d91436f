import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { StartupError } from '../platform/embedded/errors.js';
import {
  readinessAnswer,
  readinessQuerySchema,
  type ReadinessAnswer,
  type ReadinessQuery,
} from '../platform/http/server/health.js';
import type { Readiness } from '../platform/temporal/readiness.js';

/** What a process says on its port of metrics and health. */
export interface HealthSources {
  /** In Prometheus text format. */
  metrics(): Promise<string>;
  readiness(query: ReadinessQuery): Promise<ReadinessAnswer>;
}

/** The readiness of a process; `current` is null while it starts. */
export function readinessOf(current: () => Readiness | null, isStopping: () => boolean): HealthSources['readiness'] {
  const starting: Readiness = () => Promise.resolve([{ name: 'start', ok: false, detail: null }]);
  return async (query) => {
    const checks = await (current() ?? starting)();
    return readinessAnswer(checks, query, { isDraining: isStopping(), showsDetails: false });
  };
}

/** Serves /metrics, /livez (and /healthz) and /readyz without a key; resolves with its stop. */
export async function serveHealth(
  sources: HealthSources,
  { port, host }: { port: number; host: string },
): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    answer(sources, request, response).catch((error: Error) => response.writeHead(500).end(error.message));
  });
  server.listen(port, host);
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const setting =
      cause.code === 'EADDRINUSE' ? 'RATCHET_METRICS_PORT' : 'RATCHET_METRICS_HOST or RATCHET_METRICS_PORT';
    throw new StartupError(`The metrics cannot be served at ${host}:${port} (${cause.code}): change ${setting}.`, {
      cause,
    });
  });
  return async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
}

async function answer(sources: HealthSources, { url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path, query = ''] = url.split('?', 2);
  if (path === '/metrics')
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(await sources.metrics());
  else if (path === '/livez' || path === '/healthz') sendJson(response, 200, { status: 'live' });
  else if (path === '/readyz') {
    const asked = readinessQuerySchema.safeParse(Object.fromEntries(new URLSearchParams(query)));
    if (!asked.success) return sendJson(response, 422, { status: 'invalid', detail: asked.error.issues[0]?.message });
    const found = await sources.readiness(asked.data);
    sendJson(response, found.status === 'ready' ? 200 : 503, found);
  } else response.writeHead(404).end();
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
