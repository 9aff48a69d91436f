import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A TypeScript file of the bench in its own process, with its own CPU and memory. */
export interface Child {
  pid: number;
  /** The base URL of its server. */
  url: string;
  /** Queries the process; rejects without an answer within 10 s. */
  ask<T>(question: string, about?: string): Promise<T>;
  stop(): Promise<void>;
}

interface Question {
  id: number;
  question: string;
  about: string;
}

const patienceMs = 10_000;

/** Starts `file`, which calls `serveChild`; rejects if the process ends or does not answer. */
export async function startChild(file: string): Promise<Child> {
  const loader = join(import.meta.dirname, '..', 'scripts', 'ts-loader.mjs');
  const child = fork(file, { execArgv: ['--import', loader], serialization: 'advanced' });
  const ended = once(child, 'exit');
  const waiting = new Map<number, (answer: unknown) => void>();
  child.on('message', ({ id, answer }: { id: number; answer: unknown }) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  let last = 0;
  const ask = <T>(question: string, about = ''): Promise<T> => {
    const id = ++last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${file} did not answer "${question}" within ${patienceMs / 1_000} s`)),
        patienceMs,
      );
      waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer as T);
      });
      child.send({ id, question, about } satisfies Question);
    });
  };
  const failed = ended.then(([code]) => {
    throw new Error(`${file} ended with ${code}`);
  });
  failed.catch(() => undefined);
  return {
    pid: child.pid!,
    url: await Promise.race([ask<string>('url'), failed]),
    ask,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * In the child: answers `url` with the URL and other questions by `answer`. Ends with the parent.
 */
export function serveChild(url: string, answer: (question: string, about: string) => unknown): void {
  process.on('disconnect', () => process.exit());
  process.on('message', ({ id, question, about }: Question) => {
    process.send!({ id, answer: question === 'url' ? url : answer(question, about) });
  });
}
