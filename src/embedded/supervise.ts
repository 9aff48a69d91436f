import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Running } from './launch.js';
import { end } from './process.js';

interface Supervision {
  name: string;
  first: Running;
  start(signal: AbortSignal): Promise<Running>;
  stopSignals: readonly NodeJS.Signals[];
  log: Logger;
  /** Called once when the server has died too often in too short a time: it is not started again. */
  onExit(error: Error): void;
}

/** A server that is started again when it dies. */
export interface Supervised {
  readonly pid: number;
  /** Ends the server and resolves when it is gone. */
  stop(): Promise<void>;
}

const firstPauseMs = 100;
/** Pauses double from 0.1 s, so that this many take about 25 s. */
const maxRestarts = 8;
/** A server that has lived this long has its restarts forgiven. */
const forgivenAfterMs = 60_000;

/** Watches over a running server: when it dies, starts it again after a pause that doubles each time. */
export function supervise({ name, first, start, stopSignals, log, onExit }: Supervision): Supervised {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running = first;

  async function watch(): Promise<void> {
    let restarts = 0;
    for (;;) {
      const since = Date.now();
      if (signal.aborted) await end(running.mark, stopSignals);
      await running.gone;
      if (signal.aborted) return;
      log.warn({ server: running.mark.pid }, `${name} has ended by itself; starting it again`);
      if (Date.now() - since > forgivenAfterMs) restarts = 0;
      for (let next: Running | undefined; !next;) {
        if (restarts === maxRestarts) throw new Error(`${name} ended ${maxRestarts + 1} times in a row; see its log.`);
        await sleep(firstPauseMs * 2 ** restarts++, undefined, { signal });
        try {
          running = next = await start(signal);
          log.info({ server: running.mark.pid }, `${name} is back`);
        } catch (error) {
          log.warn({ err: error }, `${name} could not be started again`);
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
      await end(running.mark, stopSignals);
      await watching;
    },
  };
}
