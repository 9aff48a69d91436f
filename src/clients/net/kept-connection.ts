/** Tells a request that met a dead kept connection from one that broke while it was answered. */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { errorCode } from './untrusted.js';

/** The socket of a request, if it had served another one before, and its bytes read until then. */
const reused = new WeakMap<object, { socket: Socket; bytesRead: number }>();
const served = new WeakSet<Socket>();
const unanswered = new WeakSet<object>();

subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: object; socket: Socket };
  if (served.has(socket)) reused.set(request, { socket, bytesRead: socket.bytesRead });
  served.add(socket);
});

subscribe('undici:request:error', (message) => {
  const { request, error } = message as { request: object; error: unknown };
  const sent = reused.get(request);
  if (sent && sent.socket.bytesRead === sent.bytesRead && typeof error === 'object' && error) unanswered.add(error);
});

const closed = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/**
 * Whether a kept connection was closed before any byte of an answer: then the server had most
 * likely closed it before the request, which may be sent again on a fresh one.
 */
export function metDeadConnection(error: unknown): boolean {
  const code = errorCode(error);
  return code !== null && closed.has(code) && unanswered.has(error as object);
}
