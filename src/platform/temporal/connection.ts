import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { directGrpc, proxyFor, readProxySettings } from '../../util/proxy.js';
import { payloadCodec } from './codec.js';

/** The Temporal server: embedded at an address, or external as `@temporalio/envconfig` reads it. */
export type TemporalTarget = { embedded: { address: string } } | { env: Record<string, string | undefined> };

/** Temporal does not answer at its address. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
}

/** Connection options of clients and workers, and the namespace. */
function temporalOptions(target: TemporalTarget) {
  if ('embedded' in target)
    return { connection: { address: target.embedded.address }, namespace: 'default', proxy: null };
  const overrideEnvVars = Object.fromEntries(
    Object.entries(target.env).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])),
  );
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars });
  const { settings } = readProxySettings(target.env);
  const proxy = proxyFor(settings, `https://${connectionOptions.address ?? 'localhost'}`);
  return { connection: connectionOptions, namespace: namespace ?? 'default', proxy };
}

/**
 * Converts payloads to plain JSON. With RATCHET_CODEC_KEY they are encrypted, as are messages and
 * stack traces of failures.
 */
export function dataConverter(codecKey: Buffer | null): DataConverter {
  if (!codecKey) return {};
  const failureConverterPath = fileURLToPath(new URL('failure-converter.mjs', import.meta.url));
  return { payloadCodecs: [payloadCodec(codecKey)], failureConverterPath };
}

/**
 * Temporal rejects signals with RESOURCE_EXHAUSTED while a workflow continues as new. By default
 * the client retries after 1.7 s, nearly all the time that a command has.
 */
const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ initialIntervalMs: () => 100 }));

/**
 * Rejects when Temporal does not answer within 10 s. With `wait` false it connects at the first
 * call, and again after each disconnect.
 */
export async function connectClient(target: TemporalTarget, codecKey: Buffer | null, wait: boolean): Promise<Client> {
  const { connection, namespace, proxy } = temporalOptions(target);
  const options = {
    ...connection,
    connectTimeout: '10 seconds',
    interceptors: [retry],
    ...(proxy === null && { channelArgs: directGrpc }),
  };
  const connected = wait
    ? await Connection.connect(options).catch((cause: Error) => {
        throw new TemporalUnreachableError(
          `Temporal at ${connection.address ?? 'its default address'} is unreachable (${cause.message}). Check TEMPORAL_ADDRESS.`,
          { cause },
        );
      })
    : Connection.lazy(options);
  return new Client({ connection: connected, namespace, dataConverter: dataConverter(codecKey) });
}

/** The form of the worker's connection; the client's gRPC reads the environment itself. */
function connectProxy(proxy: string) {
  const { hostname, port, protocol, username, password } = new URL(proxy);
  const targetHost = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  const basicAuth = { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  return { type: 'http-connect' as const, targetHost, ...(username !== '' && { basicAuth }) };
}

export async function connectWorker(
  target: TemporalTarget,
): Promise<{ connection: NativeConnection; namespace: string }> {
  const { connection, namespace, proxy } = temporalOptions(target);
  const { address, tls, apiKey, metadata } = connection;
  return {
    connection: await NativeConnection.connect({
      ...(address ? { address } : {}),
      ...(tls === undefined ? {} : { tls }),
      ...(typeof apiKey === 'string' ? { apiKey } : {}),
      ...(metadata ? { metadata } : {}),
      ...(proxy !== null && { proxy: connectProxy(proxy) }),
      // On loopback, compression costs more than it saves.
      ...('embedded' in target && { grpcCompression: { codec: 'none' } }),
    }),
    namespace,
  };
}
