import { pino, type Logger } from 'pino';
import type { Config } from './config.js';

/** Message and stack of an error only: drivers attach whole connections to theirs. */
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

/** A plain line for a terminal: the message, and the error's message. */
const forPeople = {
  write(line: string): void {
    const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message?: string } };
    const name = level >= 50 ? 'error' : level >= 40 ? 'note' : 'info';
    process.stderr.write(`${name}: ${msg}${err?.message ? `: ${err.message}` : ''}\n`);
  },
};

/** The service's log on stderr: JSON lines, or plain lines on a terminal. Secrets are redacted. */
export function createLog({ logLevel }: Pick<Config, 'logLevel'>): Logger {
  const redact = ['*.apiKey', '*.api_key', '*.authorization', '*.password', '*.secretKey', 'req.headers'];
  const destination = process.stderr.isTTY ? forPeople : pino.destination(2);
  return pino({ level: logLevel, redact, serializers: { err: describe, error: describe } }, destination);
}
