import { once } from 'node:events';
import { createServer } from 'node:http';
import { AggregatorRegistry } from 'prom-client';
import { StartupError } from '../../platform/embedded/errors.js';
import type { MetricValues } from '../metrics.js';

/** The metrics of several processes as one, in Prometheus text format. */
export async function mergeMetrics(processes: readonly (() => Promise<MetricValues>)[]): Promise<string> {
  const values = await Promise.all(processes.map((valuesOf) => valuesOf()));
  return AggregatorRegistry.aggregate(values).metrics();
}

/** Serves the metrics at /metrics; resolves with a function that stops it. */
export async function serveMetrics(
  textOf: () => Promise<string>,
  { port, host }: { port: number; host: string },
): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    textOf().then(
      (text) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text),
      (error: Error) => response.writeHead(500).end(error.message),
    );
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
