/** Tells a request that met a dead kept connection from one that broke while it was answered. */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { unsentFault } from './unsent.js';
import { errorCode } from './untrusted.js';

/** A server that closed the connection before tells so at once; later it had begun to work. */
const deadWithinMs = 2_000;
/** Requests that were written; on a socket that had served another: with its bytes read before. */
const written = new WeakMap<object, { socket: Socket; bytesRead: number; at: number } | null>();
const served = new WeakSet<Socket>();
const unanswered = new WeakSet<object>();

subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: object; socket: Socket };
  written.set(request, served.has(socket) ? { socket, bytesRead: socket.bytesRead, at: performance.now() } : null);
  served.add(socket);
});

subscribe('undici:request:error', (message) => {
  const { request, error } = message as { request: object; error: unknown };
  if (typeof error !== 'object' || error === null) return;
  const reused = written.get(request);
  // A reset may come between the choice of a connection and the first byte.
  const isUnwritten = reused === undefined && unsentFault(error) === null;
  const isDead = reused && reused.socket.bytesRead === reused.bytesRead && performance.now() - reused.at < deadWithinMs;
  if (isUnwritten || isDead) unanswered.add(error);
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
