import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A TypeScript file in its own process; `first` is its first line of output, parsed as JSON. */
export interface Child<T> {
  process: ChildProcess;
  first: Promise<T>;
  /** Resolves when the process has ended. */
  ended: Promise<unknown>;
}

/** Starts the TypeScript file with an absolute path. */
export function runTypeScript<T>(file: string, args: string[], options: SpawnOptions = {}): Child<T> {
  const loader = join(import.meta.dirname, '../../scripts/ts-loader.mjs');
  const child = spawn(process.execPath, ['--import', loader, file, ...args], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = once(child, 'close');
  const line = once(createInterface({ input: child.stdout! }), 'line') as Promise<[string]>;
  const silent = ended.then(([code]) => {
    throw new Error(`${file} ended with ${code} without output: ${errors}`);
  });
  silent.catch(() => undefined);
  return { process: child, ended, first: Promise.race([line, silent]).then(([text]) => JSON.parse(text) as T) };
}
