import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import { payloadCodec } from './codec.js';

/** Where Temporal is: embedded, by its address; or the user's own, as `@temporalio/envconfig` reads it. */
export type TemporalTarget = { embedded: { address: string } } | { env: Record<string, string | undefined> };

/** Temporal does not answer at the address it was said to have. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
}

/** The options both sides of the connection share, and the namespace. */
function temporalOptions(target: TemporalTarget) {
  if ('embedded' in target) return { connection: { address: target.embedded.address }, namespace: 'default' };
  const overrideEnvVars = Object.fromEntries(
    Object.entries(target.env).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])),
  );
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars });
  return { connection: connectionOptions, namespace: namespace ?? 'default' };
}

/** How payloads are written: plain JSON, or encrypted where RATCHET_CODEC_KEY is set. */
export function dataConverter(codecKey: Buffer | null): DataConverter {
  return codecKey ? { payloadCodecs: [payloadCodec(codecKey)] } : {};
}

/**
 * While a workflow continues as new, Temporal turns signals away for a moment, as it does those that are too many
 * (RESOURCE_EXHAUSTED). The client would wait 1.7 s before it tries again, which is nearly all the time that a command has.
 */
const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ initialIntervalMs: () => 100 }));

/**
 * Connects a client; rejects when Temporal does not answer within 10 s. With `wait` false it connects at the first call, and
 * again after each loss.
 */
export async function connectClient(target: TemporalTarget, codecKey: Buffer | null, wait: boolean): Promise<Client> {
  const { connection, namespace } = temporalOptions(target);
  const options = { ...connection, connectTimeout: '10 seconds', interceptors: [retry] };
  const connected = wait
    ? await Connection.connect(options).catch((cause: Error) => {
        throw new TemporalUnreachableError(
          `Temporal at ${connection.address ?? 'its default address'} cannot be reached (${cause.message}): check TEMPORAL_ADDRESS.`,
          { cause },
        );
      })
    : Connection.lazy(options);
  return new Client({ connection: connected, namespace, dataConverter: dataConverter(codecKey) });
}

/** Connects what a worker polls with. */
export async function connectWorker(
  target: TemporalTarget,
): Promise<{ connection: NativeConnection; namespace: string }> {
  const { connection, namespace } = temporalOptions(target);
  const { address, tls, apiKey, metadata } = connection;
  return {
    connection: await NativeConnection.connect({
      ...(address ? { address } : {}),
      ...(tls === undefined ? {} : { tls }),
      ...(typeof apiKey === 'string' ? { apiKey } : {}),
      ...(metadata ? { metadata } : {}),
    }),
    namespace,
  };
}
