import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
  ServiceError,
} from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { directGrpc, proxyFor, readProxySettings } from '../../util/proxy.js';
import { lenientCodec, payloadCodec } from './codec.js';
import { connectionFault, type TlsSettings } from './diagnosis.js';
import { InstallationClient, type Installation } from './installation-client.js';

/** The Temporal server: embedded at an address, or external as `@temporalio/envconfig` reads it. */
export type TemporalTarget = { embedded: { address: string } } | { env: Record<string, string | undefined> };

/** Temporal does not answer at its address, or refuses the service; the message is one line. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
}

/** gRPC codes NOT_FOUND, PERMISSION_DENIED and UNAUTHENTICATED. */
const notFound = 5;
const denied = 7;
const unauthenticated = 16;

interface TemporalOptions {
  connection: ClientConnectConfig['connectionOptions'];
  namespace: string;
  proxy: string | null;
}

/** Connection options of clients and workers, and the namespace. */
function temporalOptions(target: TemporalTarget): TemporalOptions {
  if ('embedded' in target)
    return { connection: { address: target.embedded.address }, namespace: 'default', proxy: null };
  const overrideEnvVars = Object.fromEntries(
    Object.entries(target.env).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])),
  );
  const { connectionOptions, namespace } = readTemporalSettings(overrideEnvVars);
  const { settings } = readProxySettings(target.env);
  const proxy = proxyFor(settings, `https://${connectionOptions.address ?? 'localhost'}`);
  return { connection: connectionOptions, namespace: namespace ?? 'default', proxy };
}

function readTemporalSettings(overrideEnvVars: Record<string, string>) {
  try {
    return loadClientConnectConfig({ overrideEnvVars });
  } catch (cause) {
    const { message } = cause as Error;
    throw new TemporalUnreachableError(
      `The settings of Temporal cannot be used (${message}). Check TEMPORAL_CONFIG_FILE and TEMPORAL_TLS_….`,
      { cause },
    );
  }
}

/** Whether an error is that of a call to Temporal, which nobody has explained yet. */
export const isFaultOfTemporal = (error: unknown) => error instanceof ServiceError || isGrpcServiceError(error);

/** The error that says why a call to Temporal failed, and which setting to check. */
export async function explainFault(target: TemporalTarget, cause: Error): Promise<TemporalUnreachableError> {
  const { connection, namespace, proxy } = temporalOptions(target);
  const { address = 'localhost:7233', apiKey } = connection;
  const at = `Temporal at ${address}`;
  const fault = (message: string) => new TemporalUnreachableError(message, { cause });
  const { code, message } = grpcErrorIn(cause) ?? { code: null, message: cause.message };
  switch (code) {
    case unauthenticated:
      return fault(
        `${at} ${apiKey === undefined ? 'requires an API key' : 'refuses the API key'} (${message}). Check TEMPORAL_API_KEY.`,
      );
    case denied:
      return fault(
        `${at} refuses access to the namespace "${namespace}" (${message}). Check TEMPORAL_NAMESPACE, and what the API key or the certificate may use.`,
      );
    case notFound:
      return fault(
        `Temporal namespace "${namespace}" not found. Set TEMPORAL_NAMESPACE, or run: temporal operator namespace create --namespace ${namespace}`,
      );
    default: {
      // Behind a proxy for connections, only that sees the server.
      const found = proxy === null ? await connectionFault(address, tlsOf(connection)) : null;
      return fault(`${at} is unreachable (${found ?? message}). Check TEMPORAL_ADDRESS.`);
    }
  }
}

/** The settings of TLS; null: none. An API key alone turns it on. */
function tlsOf({ tls, apiKey }: TemporalOptions['connection']): TlsSettings | null {
  if (tls === undefined || tls === null) return apiKey === undefined ? null : {};
  return typeof tls === 'boolean' ? (tls ? {} : null) : tls;
}

/** The answer of the server in an error; null: there was none. */
function grpcErrorIn(error: unknown): { code: number; message: string } | null {
  if (!(error instanceof Error)) return null;
  if (isGrpcServiceError(error)) return { code: Number(error.code), message: error.message };
  return grpcErrorIn(error.cause);
}

/**
 * Converts payloads to plain JSON. With RATCHET_CODEC_KEY they are encrypted, as are messages and
 * stack traces of failures.
 */
export function dataConverter(codecKey: Buffer | null): DataConverter {
  if (!codecKey) return {};
  const failureConverterPath = fileURLToPath(new URL('failure-converter.mjs', import.meta.url));
  return { payloadCodecs: [lenientCodec(payloadCodec(codecKey))], failureConverterPath };
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
    ? await Connection.connect(options).catch(async (cause: Error) => {
        throw await explainFault(target, cause);
      })
    : Connection.lazy(options);
  return new Client({ connection: connected, namespace, dataConverter: dataConverter(codecKey) });
}

/** The same connection, for the workflows of an installation. */
export function clientOf({ connection, options }: Client, codecKey: Buffer | null, installation: Installation) {
  const { namespace } = options;
  return new InstallationClient({ connection, namespace, dataConverter: dataConverter(codecKey) }, installation);
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
    }).catch(async (cause: Error) => {
      throw await explainFault(target, cause);
    }),
    namespace,
  };
}
