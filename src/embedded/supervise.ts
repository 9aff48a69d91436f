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
/** Delays double from 0.1 s: about 25 s in total. */
const maxRestarts = 8;
/** Uptime after which the restart count is reset. */
const forgivenAfterMs = 60_000;

/** Restarts a server when it dies, after a delay that doubles each time. */
export function supervise(how: Supervision): SupervisedServer {
  const { name, first, start, stopSignals, stopWithinMs, log, onExit } = how;
  const stopping = new AbortController();
  const { signal } = stopping;
  let running = first;

  async function watch(): Promise<void> {
    let restarts = 0;
    for (;;) {
      const since = Date.now();
      if (signal.aborted) await end(running.mark, stopSignals, stopWithinMs);
      await running.gone;
      if (signal.aborted) return;
      log.warn({ server: running.mark.pid }, `${name} has exited unexpectedly; restarting it`);
      if (Date.now() - since > forgivenAfterMs) restarts = 0;
      for (let next: ServerProcess | undefined; !next;) {
        if (restarts === maxRestarts) throw new Error(`${name} exited ${maxRestarts + 1} times in a row; see its log.`);
        await sleep(firstPauseMs * 2 ** restarts++, undefined, { signal });
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
