import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import type { MetricValues } from './metrics.js';
import type { ServerProcess } from './embedded/launch.js';
import { end, processMark, type ProcessMark } from './embedded/process.js';
import { supervise, type SupervisedServer } from './embedded/supervise.js';
import type { Servers } from './servers.js';

/** What a worker needs to start; it arrives by message, as it holds secrets. */
export interface WorkerSettings {
  config: Config;
  servers: Servers;
}

/** Messages of the worker: it polls, it cannot start, or its metrics, which it was asked for. */
export type WorkerMessage = { ready: true } | { ready: false; reason: string } | { metrics: MetricValues };

export interface WorkerProcess extends SupervisedServer {
  /** How often it has ended in the last minute. */
  endsInMinute(): number;
  /** The worker's metrics; none while it starts again. */
  metrics(): Promise<MetricValues>;
}

const entry = fileURLToPath(new URL('./processes/worker-child.js', import.meta.url));
/** Longer than the worker's own grace period for rollouts in flight. */
const stopWithinMs = 20_000;

/** A process that loads the worker's code and waits for its settings. */
export interface LoadingWorker {
  child: ChildProcess;
  mark: ProcessMark;
  gone: Promise<void>;
}

/** Out of reach of Ctrl-C: its owner stops it, once nothing needs it any more. */
export function loadWorker(): LoadingWorker {
  const child = fork(entry, { detached: true, serialization: 'advanced', stdio: ['ignore', 2, 2, 'ipc'] });
  const mark = processMark(child.pid!) ?? { pid: child.pid!, startTime: 'it has exited' };
  return { child, mark, gone: once(child, 'exit').then(() => undefined) };
}

/** Starts a worker in the loading process, and another whenever it dies. */
export async function startWorkerProcess(
  loading: LoadingWorker,
  settings: WorkerSettings,
  log: Logger,
  onExit: (error: Error) => void,
): Promise<WorkerProcess> {
  let polling: ChildProcess | null = null;
  let ends: number[] = [];
  const onGone = () => {
    polling = null;
    ends.push(performance.now());
  };
  const begin = async ({ child, mark, gone }: LoadingWorker): Promise<ServerProcess> => {
    try {
      child.send(settings);
      const answer = await nextMessage(child);
      if ('reason' in answer) throw new Error(answer.reason);
      polling = child;
      return { mark, gone: gone.then(onGone) };
    } catch (error) {
      await end(mark, ['SIGKILL']);
      throw error;
    }
  };
  const supervised = supervise({
    name: 'The worker',
    first: await begin(loading),
    start: () => begin(loadWorker()),
    stopSignals: ['SIGTERM', 'SIGKILL'],
    stopWithinMs,
    log,
    onExit,
  });
  return {
    get pid() {
      return supervised.pid;
    },
    stop: () => supervised.stop(),
    endsInMinute() {
      ends = ends.filter((time) => performance.now() - time < 60_000);
      return ends.length;
    },
    async metrics() {
      if (!polling) return [];
      const answered = nextMessage(polling);
      polling.send('metrics');
      const answer = await answered.catch(() => null);
      return answer && 'metrics' in answer ? answer.metrics : [];
    },
  };
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
