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

/** A line for people, where a person watches: what is said, and of an error its message. */
const forPeople = {
  write(line: string): void {
    const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message?: string } };
    const name = level >= 50 ? 'error' : level >= 40 ? 'note' : 'info';
    process.stderr.write(`${name}: ${msg}${err?.message ? `: ${err.message}` : ''}\n`);
  },
};

/**
 * The service's log on stderr, so that stdout is the program's own: JSON lines, or plain ones where stderr is a terminal.
 * Secrets are left out wherever they might stand.
 */
export function createLog({ logLevel }: Pick<Config, 'logLevel'>): Logger {
  const redact = ['*.apiKey', '*.api_key', '*.authorization', '*.password', '*.secretKey', 'req.headers'];
  const destination = process.stderr.isTTY ? forPeople : pino.destination(2);
  return pino({ level: logLevel, redact, serializers: { err: describe, error: describe } }, destination);
}
