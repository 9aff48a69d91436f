import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Run } from '../../worlds/client.js';
import { openWorld, type Texts } from '../../worlds/world.js';
import type { Evaluated, Outcome, SearchTask } from '../../gepa/search.js';

type Line =
  | { kind: 'start'; at: number }
  | { kind: 'candidate'; at: number; texts: Texts; reward: number; rollouts: number }
  | { kind: 'end'; at: number; texts: Texts; rollouts: number };

/** What gepa did; `rollouts` of a candidate: how many it had spent by then, on this one's evaluation too. */
export interface GepaOutcome extends Outcome {
  candidates: (Evaluated & { texts: Texts; rollouts: number })[];
}

export interface GepaOptions {
  /** Of gepa's own `use_merge`. */
  useMerge?: boolean;
  env?: NodeJS.ProcessEnv;
}

/** Lets the official gepa search `run`'s world, in a Python of its own; its errors are the end of the bench's row. */
export async function runGepa(
  python: string,
  proposerUrl: string,
  run: Run,
  task: SearchTask,
  { useMerge = false, env }: GepaOptions = {},
): Promise<GepaOutcome> {
  const { kind = 'rules', world } = run.setup;
  const { components, baseline } = openWorld(kind, world);
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
      use_merge: useMerge,
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
  // Where there are several components `text` is the first one's.
  const textOf = (texts: Texts) => texts[components[0]!]!;
  return {
    startedAt: first.at,
    endedAt: last.at,
    rollouts: last.rollouts,
    winner: textOf(last.texts),
    candidates: lines
      .filter((line) => line.kind === 'candidate')
      .map(({ at, texts, reward, rollouts }) => ({ at, text: textOf(texts), reward, texts, rollouts })),
  };
}
