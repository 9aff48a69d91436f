import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { AnswerCode } from '../../../contracts/errors/index.js';
import type { App } from '../deps.js';
import { ApiError, renderError } from './errors.js';

const causes: Record<string, [status: number, code: AnswerCode, detail: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'The request did not arrive in time.'],
};

/** Answers connections that send no valid HTTP request, in the usual error shape. */
export function refuseBrokenHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = new ApiError(...(causes[error.code ?? ''] ?? [400, 'bad_request', 'Not a valid HTTP request.']));
  const id = randomUUID();
  const { type, body } = renderError(refusal, 'problem', { url: '', id });
  socket.end(
    [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
      `content-type: ${type}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${id}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/**
 * Closes the connections that a shutdown would wait for: those without a request, which browsers
 * open in advance, and those that have had their last answer, which clients keep.
 */
export function closeUnusedConnections(app: App, shutdown: AbortSignal): void {
  const silent = new Set<Socket>();
  let isClosing = false;
  app.server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  // Not a hook: admission answers before any.
  app.server.on('request', ({ socket }, response) => {
    silent.delete(socket);
    response.once('finish', () => {
      if (isClosing || shutdown.aborted) socket.destroySoon();
    });
  });
  app.addHook('preClose', async () => {
    isClosing = true;
    for (const socket of silent) socket.destroy();
  });
}
