import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import type { MetricValues } from './metrics/values.js';
import { metricsOf, type MetricsAnswer } from './metrics/asked.js';
import type { ServerProcess } from '../platform/embedded/launch.js';
import { end, processMark, type ProcessMark } from '../platform/embedded/process.js';
import { supervise, type SupervisedServer } from '../platform/embedded/supervise.js';
import type { Servers } from './servers.js';

/** What a worker needs to start; it arrives by message, as it holds secrets. */
export interface WorkerSettings {
  config: Config;
  servers: Servers;
  /** Whether its parent serves metrics. */
  isMeasured: boolean;
}

type StartMessage = { ready: true } | { ready: false; reason: string };
/** Messages of the worker: it polls, it cannot start, or its metrics, which it was asked for. */
export type WorkerMessage = StartMessage | MetricsAnswer;

const entry = fileURLToPath(new URL('./processes/worker-child.js', import.meta.url));
/** Longer than the worker's own grace period for rollouts in flight. */
const stopWithinMs = 20_000;

/** A process that loads the worker's code and waits for its settings. */
interface LoadingWorker {
  child: ChildProcess;
  mark: ProcessMark;
  gone: Promise<void>;
}

/** Out of reach of Ctrl-C: its owner stops it, once nothing needs it any more. */
function load(): LoadingWorker {
  const child = fork(entry, { detached: true, serialization: 'advanced', stdio: ['ignore', 2, 2, 'ipc'] });
  const mark = processMark(child.pid!) ?? { pid: child.pid!, startTime: 'it has exited' };
  return { child, mark, gone: once(child, 'exit').then(() => undefined) };
}

/** A worker in a process of its own, which loads its code at once; it is replaced when it dies. */
export class WorkerProcess {
  readonly #first = load();
  /** Asks the process that polls for its metrics; null: none polls yet, or it starts again. */
  #askMetrics: (() => Promise<MetricValues>) | null = null;
  #supervised: SupervisedServer | null = null;
  #endedAt: number[] = [];

  /** Resolves when the worker polls. `onExit`: it cannot be kept alive. */
  async start(settings: WorkerSettings, log: Logger, onExit: (error: Error) => void): Promise<void> {
    this.#supervised = supervise({
      name: 'The worker',
      first: await this.#begin(this.#first, settings),
      start: () => this.#begin(load(), settings),
      stopSignals: ['SIGTERM', 'SIGKILL'],
      stopWithinMs,
      log,
      onExit,
    });
  }

  async #begin({ child, mark, gone }: LoadingWorker, settings: WorkerSettings): Promise<ServerProcess> {
    try {
      child.send(settings);
      const answer = await firstMessage(child);
      if (!answer.ready) throw new Error(answer.reason);
      this.#askMetrics = metricsOf(child);
      return { mark, gone: gone.then(() => this.#noteEnd()) };
    } catch (error) {
      await end(mark, ['SIGKILL']);
      throw error;
    }
  }

  #noteEnd(): void {
    this.#askMetrics = null;
    this.#endedAt.push(performance.now());
  }

  /** Lets the worker finish what is in flight, within its grace period. */
  async stop(): Promise<void> {
    await this.#supervised?.stop();
  }

  /** Ends the process of a worker that was never started. */
  abandon(): Promise<void> {
    return end(this.#first.mark, ['SIGKILL']);
  }

  /** How often it has ended in the last minute. */
  endsInMinute(): number {
    this.#endedAt = this.#endedAt.filter((time) => performance.now() - time < 60_000);
    return this.#endedAt.length;
  }

  /** The worker's metrics; none while it starts again or hangs. */
  async metrics(): Promise<MetricValues> {
    return this.#askMetrics?.() ?? [];
  }
}

/** Rejects if the process ends first. */
async function firstMessage(child: ChildProcess): Promise<StartMessage> {
  const stopWaiting = new AbortController();
  const { signal } = stopWaiting;
  const ended = once(child, 'exit', { signal }).then(() => {
    throw new Error('The worker process ended before it was ready; see the log.');
  });
  ended.catch(() => undefined);
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), ended])) as [StartMessage];
    return message;
  } finally {
    stopWaiting.abort();
  }
}
