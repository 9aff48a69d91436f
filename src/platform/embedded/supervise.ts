import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServerProcess } from './launch.js';
import { end } from './process.js';

interface Supervision {
  name: string;
  first: ServerProcess;
  start(signal: AbortSignal): Promise<ServerProcess>;
  stopSignals: readonly NodeJS.Signals[];
  /** Time between two of the signals; default: that of `end`. */
  stopWithinMs?: number;
  log: Logger;
  /** Called once when the server has died too often: no further restart. */
  onExit(error: Error): void;
}

/** A supervised server: restarted when it dies. */
export interface SupervisedServer {
  readonly pid: number;
  /** Stops the server; resolves when its process has exited. */
  stop(): Promise<void>;
}

const firstPauseMs = 100;
const longestPauseMs = 3_200;
/** Starts without a settled server: about 25 s in total. */
const maxStarts = 12;
/** Uptime of a settled server: what ends it later is not its start. */
const settledAfterMs = 1_000;
/** Uptime after which the delay is the first one again. */
const forgivenAfterMs = 60_000;

/**
 * Restarts a server when it dies, after a delay that doubles each time. Gives up one that does not
 * settle, never one that does and is killed.
 */
export function supervise(how: Supervision): SupervisedServer {
  const { name, first, start, stopSignals, stopWithinMs, log, onExit } = how;
  const stopping = new AbortController();
  const { signal } = stopping;
  let running = first;

  async function watch(): Promise<void> {
    let pauseMs = firstPauseMs;
    let starts = 0;
    for (;;) {
      const since = Date.now();
      if (signal.aborted) await end(running.mark, stopSignals, stopWithinMs);
      await running.gone;
      if (signal.aborted) return;
      log.warn({ server: running.mark.pid }, `${name} has exited unexpectedly; restarting it`);
      const uptimeMs = Date.now() - since;
      if (uptimeMs > settledAfterMs) starts = 0;
      if (uptimeMs > forgivenAfterMs) pauseMs = firstPauseMs;
      for (let next: ServerProcess | undefined; !next;) {
        if (starts === maxStarts) throw new Error(`${name} exited ${maxStarts + 1} times in a row; see its log.`);
        starts += 1;
        await sleep(pauseMs, undefined, { signal });
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
        try {
          running = next = await start(signal);
          log.info({ server: running.mark.pid }, `${name} is back`);
        } catch (error) {
          log.warn({ err: error }, `${name} could not be restarted`);
        }
      }
    }
  }

  const watching = watch().catch((error: Error) => {
    if (!signal.aborted) onExit(error);
  });

  return {
    get pid() {
      return running.mark.pid;
    },
    async stop() {
      stopping.abort();
      await end(running.mark, stopSignals, stopWithinMs);
      await watching;
    },
  };
}
