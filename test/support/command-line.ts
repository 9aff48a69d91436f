import { jest } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { suite } from './environment.js';

const program = join(import.meta.dirname, '../../dist/src/cli/ratchet.js');

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Where a command runs; `env` adds to the environment of the tests. */
export interface Place {
  cwd: string;
  env: Record<string, string>;
  input?: string;
}

/** Runs a command of the build as a process. */
export function asProcess(args: readonly string[], { cwd, env, input = '' }: Place): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, ...env } };
    const child = execFile(process.execPath, [program, ...args], options, (_error, out, err) => {
      resolve({ code: child.exitCode, out, err });
    });
    child.stdin!.end(input);
  });
}

let last: Promise<unknown> = Promise.resolve();

/** Runs a command in this process, after those before it: half a second of CPU less. */
function inProcess(args: readonly string[], place: Place): Promise<Ended> {
  const ended = last.then(() => runHere(args, place));
  last = ended.catch(() => undefined);
  return ended;
}

async function runHere(args: readonly string[], { cwd, env, input = '' }: Place): Promise<Ended> {
  const { main } = await import('../../src/cli/program.js');
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said = Promise.all([text(stdout), text(stderr)]);
  const streams = { stdin: Readable.from([input]), stdout, stderr };
  const before = process.cwd();
  const kept = [
    jest.replaceProperty(process, 'env', { ...process.env, ...env }),
    ...Object.entries(streams).map(([name, stream]) => standardStream(name, stream)),
  ];
  process.chdir(cwd);
  try {
    const code = await main(args);
    for (const stream of [stdout, stderr]) stream.end();
    const [out, err] = await said;
    return { code, out, err };
  } finally {
    process.chdir(before);
    for (const { restore } of kept) restore();
  }
}

function standardStream(name: string, value: Readable | PassThrough) {
  const descriptor = Object.getOwnPropertyDescriptor(process, name)!;
  Object.defineProperty(process, name, { value, configurable: true });
  return { restore: () => void Object.defineProperty(process, name, descriptor) };
}

/** Runs a command: in the whole suite as a process, in the quick one in this process. */
export const ratchet = suite === 'all' ? asProcess : inProcess;
