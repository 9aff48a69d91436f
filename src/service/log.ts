import { statSync } from 'node:fs';
import { join } from 'node:path';
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

/** A plain line for a person: the message, and the error's message. */
const forPeople = {
  write(line: string): void {
    const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message?: string } };
    const name = level >= 50 ? 'error' : level >= 40 ? 'note' : 'info';
    process.stderr.write(`${name}: ${msg}${err?.message ? `: ${err.message}` : ''}\n`);
  },
};

const largestFile = 10 * 1024 * 1024;

/** A command's log: on stderr until `toFile`, which keeps the terminal for the command. */
export interface CommandLog {
  log: Logger;
  file: string;
  /** Whether the file has an entry of this command. */
  isUsed(): boolean;
  toFile(): void;
}

/** The log of a service that runs inside a command. */
export function createCommandLog(config: Pick<Config, 'logLevel' | 'dataDir'>): CommandLog {
  const file = join(config.dataDir, 'command.log');
  const terminal = forPeople;
  let kept: ReturnType<typeof pino.destination> | null = null;
  let isUsed = false;
  const toFile = () => {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    kept = pino.destination({ dest: file, append: size <= largestFile, mode: 0o600, sync: true });
  };
  const write = (line: string) => {
    isUsed = kept !== null;
    (kept ?? terminal).write(line);
  };
  return { log: loggerOf(config, { write }), file, isUsed: () => isUsed, toFile };
}

/** The service's log on stderr: JSON lines, or plain lines on a terminal. Secrets are redacted. */
export function createLog(config: Pick<Config, 'logLevel'>): Logger {
  return loggerOf(config, onStderr());
}

/** Logs why a role ends, whatever its level. `error`: one that its message does not explain. */
export function logEnd(message: string, error?: unknown): void {
  const log = loggerOf({ logLevel: 'fatal' }, pino.destination({ dest: 2, sync: true }));
  log.fatal(error === undefined ? {} : { err: error }, message);
}

function onStderr(): { write(line: string): void } {
  return process.stderr.isTTY ? forPeople : pino.destination(2);
}

function loggerOf(
  { logLevel }: { logLevel: Config['logLevel'] | 'fatal' },
  destination: { write(line: string): void },
): Logger {
  const redact = ['*.apiKey', '*.api_key', '*.authorization', '*.password', '*.secretKey', 'req.headers'];
  return pino({ level: logLevel, redact, serializers: { err: describe, error: describe } }, destination);
}
