import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Proposer } from '../../tpe/trial-run.js';

/** Optuna's sampler in its own Python, one study at a time. */
export interface Optuna {
  open(space: number[], seed: number): Proposer;
  stop(): Promise<void>;
}

export function startOptuna(python: string): Optuna {
  const child = spawn(python, [join(import.meta.dirname, 'sampler.py')], { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = once(child, 'close');
  // An early end shows as a missing answer, with Python's output.
  child.stdin.on('error', () => undefined);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    open(space, seed) {
      let begin: object = { space, seed };
      return {
        async ask(count, values) {
          child.stdin.write(`${JSON.stringify({ ...begin, values, count })}\n`);
          begin = {};
          const answer = await answers.next();
          if (answer.done) throw new Error(`Optuna ended early: ${errors.slice(-2_000)}`);
          return JSON.parse(answer.value) as number[][];
        },
      };
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
