/** JSON over HTTP between the bench and its processes of worlds and models. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { runTypeScript } from '../test/support/children.js';

/** A server in its own process. */
export interface JsonServer {
  url: string;
  close(): Promise<void>;
}

/** Starts the TypeScript file with an absolute path, which calls `serveJson`. */
export async function startJsonServer(file: string, args: string[] = []): Promise<JsonServer> {
  const child = runTypeScript<{ url: string }>(file, args);
  const { url } = await child.first;
  return {
    url,
    async close() {
      const { process: server } = child;
      server.kill();
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    },
  };
}

/** The answer to a GET, or to a POST with `body`; rejects with any status but 2xx. */
export async function callJson<T>(url: string, body?: unknown): Promise<T> {
  const sent = body === undefined ? {} : { method: 'POST' as const, body: JSON.stringify(body) };
  // A model may take longer than the usual time-outs for the rows of a split.
  const response = await request(url, { ...sent, headersTimeout: 0, bodyTimeout: 0 });
  const text = await response.body.text();
  if (response.statusCode > 299) throw new Error(`${url}: ${response.statusCode} ${text}`);
  return JSON.parse(text) as T;
}

/** Serves answers to `METHOD path` on loopback, null as 404, and prints `{"url"}`. */
export function serveJson(answerTo: (at: string, body: unknown) => Promise<unknown>): void {
  const serve = async (request: IncomingMessage) => {
    const at = `${request.method} ${request.url?.split('?', 1)[0]}`;
    return answerTo(at, request.method === 'POST' ? await readJson(request) : null);
  };
  const server = createServer((request, response) => {
    serve(request).then(
      (answer) => reply(response, answer === null ? 404 : 200, answer ?? { detail: 'not served here' }),
      (error: unknown) => reply(response, 500, { detail: String(error) }),
    );
  });
  // Keep connections open during an optimizer's pauses.
  server.keepAliveTimeout = 3_600_000;
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`);
  });
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString());
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
