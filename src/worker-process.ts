import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import type { ServerProcess } from './embedded/launch.js';
import { end, processMark, type ProcessMark } from './embedded/process.js';
import { supervise, type SupervisedServer } from './embedded/supervise.js';
import type { Servers } from './servers.js';

/** What a worker needs to start; it arrives by message, as it holds secrets. */
export interface WorkerSettings {
  config: Config;
  servers: Servers;
}

/** The worker's answer once it polls; anything else is why it cannot start. */
export type WorkerAnswer = { ready: true } | { ready: false; reason: string };

const entry = fileURLToPath(new URL('./worker-child.js', import.meta.url));
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
): Promise<SupervisedServer> {
  const begin = async ({ child, mark, gone }: LoadingWorker): Promise<ServerProcess> => {
    try {
      child.send(settings);
      await untilPolling(child);
      return { mark, gone };
    } catch (error) {
      await end(mark, ['SIGKILL']);
      throw error;
    }
  };
  return supervise({
    name: 'The worker',
    first: await begin(loading),
    start: () => begin(loadWorker()),
    stopSignals: ['SIGTERM', 'SIGKILL'],
    stopWithinMs,
    log,
    onExit,
  });
}

async function untilPolling(child: ChildProcess): Promise<void> {
  const answered = once(child, 'message') as Promise<[WorkerAnswer]>;
  const ended = once(child, 'exit').then(() => {
    throw new Error('The worker process ended before it was ready; see the log.');
  });
  ended.catch(() => undefined);
  const [answer] = await Promise.race([answered, ended]);
  if (!answer.ready) throw new Error(answer.reason);
}
