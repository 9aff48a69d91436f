/**
 * Runs a scorer's function in a process without the service's keys, with limits of time and memory.
 * It is no full security boundary: neither node:vm nor Node's permissions promise one.
 */
import { availableParallelism } from 'node:os';
import { Script } from 'node:vm';
import { createSlots } from '../../util/slots.js';
import { cutErrorText } from '../../clients/net/untrusted.js';
import { ScorerChildren, type Report } from './children.js';
import type { ScorerInput } from './input.js';

export type SandboxResult = { ok: true; value: unknown } | { ok: false; code: string; message: string };

export interface Sandbox {
  /** Rejects with the signal's reason. */
  run(code: string, input: ScorerInput, signal: AbortSignal, timeMs?: number): Promise<SandboxResult>;
  /** Ends the processes that wait for more. */
  close(): void;
}

interface SandboxLimits {
  /** Of a function whose caller names no time, in milliseconds. */
  timeMs: number;
  memoryMb: number;
  /** Functions that run at once. */
  processes: number;
}

const defaultLimits: SandboxLimits = { timeMs: 2_000, memoryMb: 64, processes: availableParallelism() };
/** For the start of a process, and for one whose own time limit does not work. */
const graceMs = 5_000;
/** Maximum characters of what a function returns. */
const maxChars = 1_000_000;

/** The script of a scorer; it sets `scorer` to the function. */
function scriptOf(code: string): string {
  const exported = /^([ \t]*)export[ \t]+default\b/m;
  if (exported.test(code)) return code.replace(exported, '$1globalThis.scorer =');
  let end = code.length;
  while (end > 0 && /[;\s]/.test(code[end - 1]!)) end -= 1;
  return `globalThis.scorer = (${code.slice(0, end)}\n)`;
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

export function createSandbox(changes: Partial<SandboxLimits> = {}): Sandbox {
  const limits = { ...defaultLimits, ...changes };
  const takeSlot = createSlots(limits.processes);
  const children = new ScorerChildren(limits.memoryMb);
  const run: Sandbox['run'] = async (code, input, signal, timeMs = limits.timeMs) => {
    const release = await takeSlot(signal);
    try {
      // The signal may have fired while it waited.
      signal.throwIfAborted();
      return await score(children, scriptOf(code), JSON.stringify(input), { ...limits, timeMs }, signal);
    } finally {
      release();
    }
  };
  return { run, close: () => children.close() };
}

async function score(
  children: ScorerChildren,
  script: string,
  input: string,
  { timeMs, memoryMb }: SandboxLimits,
  signal: AbortSignal,
): Promise<SandboxResult> {
  const timedOut: SandboxResult = {
    ok: false,
    code: 'scorer_timeout',
    message: `The scorer's function took longer than ${timeMs} ms.`,
  };
  const late = AbortSignal.timeout(timeMs + graceMs);
  let report: Report;
  try {
    report = await children.run({ script, input, timeMs, maxChars }, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return timedOut;
    throw error;
  }
  switch (report.kind) {
    case 'timeout':
      return timedOut;
    case 'error':
      return threw(report.message);
    case 'value':
      return { ok: true, value: report.json === null ? undefined : JSON.parse(report.json) };
    case 'lost':
      // V8 aborts where its heap is full.
      return report.end === 'SIGABRT' || report.end === 134
        ? {
            ok: false,
            code: 'scorer_out_of_memory',
            message: `The scorer's function took more than ${memoryMb} MB of memory.`,
          }
        : threw('its process ended');
  }
}

function threw(message: string): SandboxResult {
  return { ok: false, code: 'scorer_error', message: `The scorer's function failed: ${cutErrorText(message)}` };
}
