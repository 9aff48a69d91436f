import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account } from './command.js';
import { StartupError } from './errors.js';
import { end, lives, processMark, type ProcessMark } from './process.js';

/** A server to start, and its readiness check. */
export interface Launch {
  name: string;
  file: string;
  args: readonly string[];
  /** The complete environment; nothing is inherited. */
  env: Record<string, string>;
  account?: Account | undefined;
  logFile: string;
  stopSignals: readonly NodeJS.Signals[];
  readyWithinMs: number;
  /** Readiness check: rejects while the server does not answer. */
  probe(): Promise<void>;
  /** Called at once with the new process, so that a restart can find it after a kill. */
  onSpawn(mark: ProcessMark): void;
}

/** A running server; `gone` resolves when it has exited. */
export interface ServerProcess {
  mark: ProcessMark;
  gone: Promise<void>;
}

const largestLog = 10 * 1024 * 1024;

/**
 * Starts a server in its own process group and session (out of reach of Ctrl-C), logging to a file,
 * and waits until it answers. Throws a StartupError with the end of its output.
 */
export async function launch(what: Launch, signal: AbortSignal): Promise<ServerProcess> {
  const logSize = statSync(what.logFile, { throwIfNoEntry: false })?.size ?? 0;
  const appended = logSize <= largestLog;
  const log = openSync(what.logFile, appended ? 'a' : 'w', 0o600);
  const child = spawn(what.file, what.args, {
    ...what.account,
    cwd: '/',
    env: what.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  if (child.pid === undefined) {
    const [error] = (await once(child, 'error')) as [Error];
    throw new StartupError(`${what.name} could not be started: ${error.message}.`, { cause: error });
  }
  const mark = processMark(child.pid) ?? { pid: child.pid, startTime: 'it has exited' };
  const running = { mark, gone: once(child, 'exit').then(() => undefined) };
  try {
    what.onSpawn(mark);
    await untilReady(what, mark, signal);
    return running;
  } catch (error) {
    await end(mark, what.stopSignals);
    const words = lastWords(what.logFile, appended ? logSize : 0);
    throw new StartupError(`${what.name} did not start: ${(error as Error).message}; ${words} (${what.logFile}).`, {
      cause: error,
    });
  }
}

async function untilReady(what: Launch, mark: ProcessMark, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + what.readyWithinMs;
  for (;;) {
    try {
      await what.probe();
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!lives(mark)) throw new Error('it exited', { cause: error });
      if (Date.now() > deadline) throw new Error(`no answer after ${what.readyWithinMs / 1000} s`, { cause: error });
    }
    await sleep(20);
  }
}

function lastWords(logFile: string, from: number): string {
  const lines = readFileSync(logFile).subarray(from).toString().trim().split('\n');
  // The lines after the error explain it.
  const error = lines.findLastIndex((line) => /fatal|panic|error/i.test(line));
  return `end of its output: "${lines.slice(error).join(' ').slice(0, 500)}"`;
}
