import acceptNegotiator from '@fastify/accept-negotiator';
import fastifyCompress from '@fastify/compress';
import type { FastifyRequest } from 'fastify';
import { constants, createGzip, type Gzip } from 'node:zlib';
import type { App } from './deps.js';

/** A smaller body is compressed at once, in less than a millisecond; a larger one on a thread. */
const syncBytes = 32 * 1024;

/** Compresses what is text; register before the routes. Answers of models stay as they are. */
export async function registerCompression(app: App): Promise<void> {
  app.addHook('onRoute', (route) => {
    if (route.config?.access === 'inference') route.compress = false;
  });
  await app.register(fastifyCompress, {
    encodings: ['br', 'gzip'],
    customTypes: /^text\/(?!event-stream)|[/+](json|jsonl|x-ndjson|xml)(;|$)/,
    syncThreshold: syncBytes,
    // A small compressed request could be a large body.
    globalDecompression: false,
  });
}

/** Compresses a stream of messages, each of which is sent at once; null: the client takes none. */
export function messageCompression({ headers }: FastifyRequest): Gzip | null {
  const accepted = headers['accept-encoding']?.toString() ?? '';
  if (acceptNegotiator.negotiate(accepted, ['gzip', 'identity']) !== 'gzip') return null;
  // 128 KB for each stream.
  return createGzip({ flush: constants.Z_SYNC_FLUSH, windowBits: 14, memLevel: 7 });
}
