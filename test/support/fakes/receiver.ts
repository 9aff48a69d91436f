import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';

/** A receiver of webhooks over HTTP. */
export interface Receiver {
  url: string;
  requests: { path: string; headers: IncomingHttpHeaders; body: string }[];
  /** The statuses of the next answers; afterwards 204. 0: no answer. */
  answer(...statuses: number[]): void;
  reset(): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const requests: Receiver['requests'] = [];
  let next: number[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push({ path: request.url!, headers: request.headers, body });
      const status = next.shift() ?? 204;
      if (status !== 0) response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (...statuses) => (next = statuses),
    reset() {
      requests.length = 0;
      next = [];
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
