import { pino, type Logger } from 'pino';
import type { Config } from './config.js';

/** Of an error only what it says and where: drivers hang whole connections on theirs. */
function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, code, cause } = error as Error & { code?: unknown };
  return {
    type: name,
    message,
    ...(typeof code === 'string' && { code }),
    stack,
    ...(cause instanceof Error ? { cause: describe(cause) } : {}),
  };
}

/** The service's log, JSON lines on stderr, so that stdout is the program's own; secrets are left out wherever they might stand. */
export function createLog({ logLevel }: Pick<Config, 'logLevel'>): Logger {
  const redact = ['*.apiKey', '*.api_key', '*.authorization', '*.password', '*.secretKey', 'req.headers'];
  return pino({ level: logLevel, redact, serializers: { err: describe, error: describe } }, pino.destination(2));
}
