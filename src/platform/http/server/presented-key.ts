import type { FastifyRequest } from 'fastify';
import { hashKey } from '../../../access/store/keys.js';

/** A request's key, or the fault of its headers. */
type PresentedKey = { key: string } | { fault: string };

/** A request's key: `Authorization: Bearer` or `X-API-Key`; both must be equal. */
export function presentedKey({ headers }: FastifyRequest): PresentedKey {
  const bearer =
    headers.authorization === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(headers.authorization)?.[1];
  if (headers.authorization !== undefined && bearer === undefined)
    return { fault: 'The Authorization header must be "Bearer <API key>".' };
  const header = headers['x-api-key']?.toString().trim();
  if (bearer !== undefined && header !== undefined && bearer !== header)
    return { fault: 'Authorization and X-API-Key differ; send one key.' };
  const key = bearer ?? header;
  return key ? { key } : { fault: 'Send your API key as "Authorization: Bearer <key>" or as X-API-Key.' };
}

/** The stored hash of a request's key in hex; null without a key. */
export type KeyHashOf = (request: FastifyRequest) => string | null;

/** Hashes the key of each request at most once. */
export function createKeyHash(secretKey: Buffer): KeyHashOf {
  const hashes = new WeakMap<FastifyRequest, string | null>();
  return (request) => {
    const known = hashes.get(request);
    if (known !== undefined) return known;
    const presented = presentedKey(request);
    const hash = 'key' in presented ? hashKey(secretKey, presented.key).toString('hex') : null;
    hashes.set(request, hash);
    return hash;
  };
}
