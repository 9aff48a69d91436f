/**
 * Runs a scorer's function in a thread with limits of time and memory. This is no security
 * boundary: it protects against mistakes, not against attacks (node:vm and worker threads promise
 * neither).
 */
import { availableParallelism } from 'node:os';
import { Script } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { createSlots } from '../../util/slots.js';
import { cutErrorText } from '../net/untrusted.js';
import type { ScorerInput } from './client.js';

export type SandboxResult = { ok: true; value: unknown } | { ok: false; code: string; message: string };

/** Rejects with the signal's reason. */
export type Sandbox = (
  code: string,
  input: ScorerInput,
  signal: AbortSignal,
  timeMs?: number,
) => Promise<SandboxResult>;

interface SandboxLimits {
  /** Of a function whose caller names no time, in milliseconds. */
  timeMs: number;
  memoryMb: number;
  /** Functions that run at once. */
  threads: number;
}

const defaultLimits: SandboxLimits = { timeMs: 2_000, memoryMb: 64, threads: availableParallelism() };
/** For a thread whose own time limit does not work. */
const graceMs = 2_000;
const path = new URL('./sandbox.mjs', import.meta.url);

/** The script of a scorer; it sets `scorer` to the function. */
function scriptOf(code: string): string {
  const exported = /^([ \t]*)export[ \t]+default\b/m;
  if (exported.test(code)) return code.replace(exported, '$1globalThis.scorer =');
  return `globalThis.scorer = (${code.replace(/[;\s]+$/, '')}\n)`;
}

/** Why a text is no scorer, as a predicate, or null. Does not run it. */
export function javascriptProblem(code: string): string | null {
  try {
    new Script(scriptOf(code));
    return null;
  } catch (error) {
    return `is not a JavaScript function (output, row, expected) => reward: ${(error as Error).message}`;
  }
}

/** What the thread reports. */
type Report = { kind: 'value'; json: string | null } | { kind: 'error'; message: string } | { kind: 'timeout' };

export function createSandbox(changes: Partial<SandboxLimits> = {}): Sandbox {
  const limits = { ...defaultLimits, ...changes };
  const takeSlot = createSlots(limits.threads);
  return async (code, input, signal, timeMs = limits.timeMs) => {
    const release = await takeSlot(signal);
    try {
      // The signal may have fired while it waited.
      signal.throwIfAborted();
      return await runThread(scriptOf(code), JSON.stringify(input), { ...limits, timeMs }, signal);
    } finally {
      release();
    }
  };
}

async function runThread(
  script: string,
  input: string,
  { timeMs, memoryMb }: SandboxLimits,
  signal: AbortSignal,
): Promise<SandboxResult> {
  const worker = new Worker(path, {
    workerData: { script, input, timeMs },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  });
  const timedOut: SandboxResult = {
    ...{ ok: false, code: 'scorer_timeout' },
    message: `The scorer's function took longer than ${timeMs} ms.`,
  };
  let timer: NodeJS.Timeout | undefined;
  let abort = () => {};
  try {
    return await new Promise<SandboxResult>((resolve, reject) => {
      abort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      worker.once('online', () => {
        timer = setTimeout(() => resolve(timedOut), timeMs + graceMs);
      });
      worker.once('message', (report: Report) => {
        if (report.kind === 'timeout') resolve(timedOut);
        else if (report.kind === 'error') resolve(threw(report.message));
        else resolve({ ok: true, value: report.json === null ? undefined : JSON.parse(report.json) });
      });
      worker.once('error', (error: NodeJS.ErrnoException) => {
        const message = `The scorer's function took more than ${memoryMb} MB of memory.`;
        resolve(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? { ok: false, code: 'scorer_out_of_memory', message }
            : threw(error.message),
        );
      });
      worker.once('exit', () => resolve(threw('its thread ended')));
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

function threw(message: string): SandboxResult {
  return { ok: false, code: 'scorer_error', message: `The scorer's function failed: ${cutErrorText(message)}` };
}
