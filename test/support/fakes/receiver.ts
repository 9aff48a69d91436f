import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../loopback.js';

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
  return {
    requests,
    answer: (...statuses) => (next = statuses),
    reset() {
      requests.length = 0;
      next = [];
    },
    ...(await listen(server)),
  };
}
