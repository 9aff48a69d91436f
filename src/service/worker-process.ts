import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import type { MetricValues } from './metrics.js';
import type { ServerProcess } from '../platform/embedded/launch.js';
import { end, processMark, type ProcessMark } from '../platform/embedded/process.js';
import { supervise, type SupervisedServer } from '../platform/embedded/supervise.js';
import type { Servers } from './servers.js';

/** What a worker needs to start; it arrives by message, as it holds secrets. */
export interface WorkerSettings {
  config: Config;
  servers: Servers;
}

/** Messages of the worker: it polls, it cannot start, or its metrics, which it was asked for. */
export type WorkerMessage = { ready: true } | { ready: false; reason: string } | { metrics: MetricValues };

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
  /** The process that polls; null: none yet, or it starts again. */
  #polling: ChildProcess | null = null;
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
      const answer = await nextMessage(child);
      if ('reason' in answer) throw new Error(answer.reason);
      this.#polling = child;
      return { mark, gone: gone.then(() => this.#noteEnd()) };
    } catch (error) {
      await end(mark, ['SIGKILL']);
      throw error;
    }
  }

  #noteEnd(): void {
    this.#polling = null;
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

  /** The worker's metrics; none while it starts again. */
  async metrics(): Promise<MetricValues> {
    if (!this.#polling) return [];
    const answered = nextMessage(this.#polling);
    this.#polling.send('metrics');
    const answer = await answered.catch(() => null);
    return answer && 'metrics' in answer ? answer.metrics : [];
  }
}

/** Rejects if the process ends first. */
async function nextMessage(child: ChildProcess): Promise<WorkerMessage> {
  const stopWaiting = new AbortController();
  const { signal } = stopWaiting;
  const ended = once(child, 'exit', { signal }).then(() => {
    throw new Error('The worker process ended before it was ready; see the log.');
  });
  ended.catch(() => undefined);
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), ended])) as [WorkerMessage];
    return message;
  } finally {
    stopWaiting.abort();
  }
}
