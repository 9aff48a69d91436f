import { Worker } from 'node:worker_threads';
import type { LocalRequest, ThreadAnswer } from '../../local-model/index.js';
import { createSlots } from '../../util/slots.js';
import { withTimeout } from '../../clients/net/bounded.js';

/** Threads of the `local` provider, so that none of its work holds the event loop. */
export interface LocalThreads {
  /**
   * Answers a request. Rejects with a TimeoutError, with the thread's error, or with
   * the signal's reason; the thread then ends.
   */
  answer(request: LocalRequest, signal: AbortSignal): Promise<ThreadAnswer>;
  close(): Promise<void>;
}

interface ThreadLimits {
  threads: number;
  /** Of one request, in milliseconds. */
  timeMs: number;
  memoryMb: number;
}

const defaultLimits: ThreadLimits = { threads: 2, timeMs: 10_000, memoryMb: 256 };

// Node runs no TypeScript: sources use the built thread.
const isBuilt = import.meta.url.endsWith('.js');
const thread = new URL(`../../../${isBuilt ? '' : 'dist/'}src/local-model/thread.js`, import.meta.url);

export function createLocalThreads(changes: Partial<ThreadLimits> = {}): LocalThreads {
  const { threads, timeMs, memoryMb } = { ...defaultLimits, ...changes };
  const takeSlot = createSlots(threads);
  const idle: Worker[] = [];
  const all = new Set<Worker>();

  function start(): Worker {
    const worker = new Worker(thread, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    all.add(worker);
    worker.once('exit', () => {
      all.delete(worker);
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
    });
    // Requests have listeners of their own; a thread that fails between them just ends.
    worker.on('error', () => undefined);
    // An idle thread does not keep the process alive.
    worker.unref();
    return worker;
  }

  async function ask(request: LocalRequest, signal: AbortSignal): Promise<ThreadAnswer> {
    const worker = idle.pop() ?? start();
    worker.ref();
    try {
      const answered = await withTimeout(timeMs, signal, (bounded) => replyOf(worker, request, bounded));
      worker.unref();
      idle.push(worker);
      return answered;
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  return {
    async answer(request, signal) {
      const release = await takeSlot(signal);
      try {
        return await ask(request, signal);
      } finally {
        release();
      }
    },
    async close() {
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
}

function replyOf(worker: Worker, request: LocalRequest, signal: AbortSignal): Promise<ThreadAnswer> {
  return new Promise<ThreadAnswer>((resolve, reject) => {
    const settle = (act: () => void) => {
      signal.removeEventListener('abort', abort);
      worker.removeListener('message', reply).removeListener('error', failed).removeListener('exit', ended);
      act();
    };
    const abort = () => settle(() => reject(signal.reason as Error));
    const reply = (answer: ThreadAnswer) => settle(() => resolve(answer));
    const failed = (error: Error) => settle(() => reject(error));
    const ended = () => settle(() => reject(new Error('the thread ended')));
    worker.once('message', reply);
    worker.once('error', failed);
    worker.once('exit', ended);
    signal.addEventListener('abort', abort, { once: true });
    worker.postMessage(request);
  });
}
