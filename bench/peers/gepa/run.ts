import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { baseline } from '../../worlds/rules.js';
import type { Run } from '../../worlds/client.js';
import type { Outcome, SearchTask } from '../../gepa/search.js';

type Line =
  | { kind: 'start'; at: number }
  | { kind: 'candidate'; at: number; text: string; reward: number }
  | { kind: 'end'; at: number; text: string; rollouts: number };

/** Lets the official gepa search `run`'s world, in a Python of its own; its errors are the end of the bench's row. */
export async function runGepa(
  python: string,
  proposerUrl: string,
  run: Run,
  task: SearchTask,
  env?: NodeJS.ProcessEnv,
): Promise<Outcome> {
  const script = join(import.meta.dirname, 'optimize.py');
  const child = spawn(python, [script], { stdio: ['pipe', 'pipe', 'pipe'], ...(env && { env }) });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  child.stdin.end(
    JSON.stringify({
      container_url: run.containerUrl,
      proposer_url: proposerUrl,
      model: run.model,
      baseline,
      train_seeds: task.trainSeeds,
      evaluation_seeds: task.evaluationSeeds,
      minibatch_size: task.minibatchSize,
      max_rollouts: task.maxRollouts,
      max_concurrent: task.maxConcurrent,
      rng_seed: task.rngSeed,
    }),
  );
  const ended = once(child, 'close');
  const lines: Line[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{')) lines.push(JSON.parse(line) as Line);
  }
  await ended;
  const first = lines[0];
  const last = lines.at(-1);
  if (first?.kind !== 'start' || last?.kind !== 'end') throw new Error(`gepa ended early: ${errors.slice(-2_000)}`);
  return {
    startedAt: first.at,
    endedAt: last.at,
    rollouts: last.rollouts,
    winner: last.text,
    candidates: lines.filter((line) => line.kind === 'candidate'),
  };
}
