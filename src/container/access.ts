/** Who may call a container: holders of its key; without a key, programs of this machine. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../util/loopback.js';

/** Why a request is refused. */
interface Refusal {
  status: 401 | 421;
  message: string;
}

/** The check of each request, null: admitted. Throws if the key is empty. */
export function accessCheck(apiKey: string | undefined): (headers: IncomingHttpHeaders) => Refusal | null {
  if (apiKey === undefined) return ({ host = '' }) => (isOwnName(host) ? null : unknownHost);
  if (apiKey === '') throw new Error('apiKey is empty: give a key, or leave it out');
  const known = digest(apiKey);
  return ({ 'x-api-key': given = '' }) => (timingSafeEqual(digest(String(given)), known) ? null : wrongKey);
}

const wrongKey: Refusal = { status: 401, message: 'unauthorised: X-API-Key is not the key of this container' };
const unknownHost: Refusal = { status: 421, message: 'without an apiKey, only localhost and 127.0.0.1 are answered' };

/** Whether a Host header names this machine: that of a page by DNS rebinding does not. */
function isOwnName(host: string): boolean {
  return isLoopback(host.replace(/:\d+$/, ''));
}

/** Keys of different lengths compare in the same time. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
