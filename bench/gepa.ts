/**
 * A GEPA session and the official `gepa` package on the same worlds, with the same settings and one
 * proposal at a time. Details: node scripts/tool.mjs bench/gepa.ts
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compare, type Pair } from './gepa/compare.js';
import { reachedLine, wallLine } from './gepa/lines.js';
import { startRatchet } from './gepa/ratchet.js';
import type { SearchTask } from './gepa/search.js';
import { gepaPython } from './peers/gepa/venv.js';
import type { Line } from './table.js';
import { startWorlds } from './worlds/client.js';

export const name = 'gepa';

const venvs = join(import.meta.dirname, '..', '.ratchet', 'bench-venv');
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const slow = { latencyMs: 50, worlds: range(1, 11) };
const fast = { latencyMs: 0, worlds: range(1, 6) };
const aimMs = 10;

/** The split of 240 instances: 60 for training, 50 others for evaluation. */
function searchTask(world: number): SearchTask {
  return {
    trainSeeds: range(0, 60),
    evaluationSeeds: range(60, 110),
    minibatchSize: 3,
    maxRollouts: 800,
    maxConcurrent: 8,
    rngSeed: world,
  };
}

/** Measures the lines over several worlds; `say` reports each search. */
export async function run(say: (line: string) => void = () => undefined): Promise<Line[]> {
  let missing = '';
  const python = await gepaPython(venvs).catch((error: Error) => {
    missing = error.message;
    return null;
  });
  const ends: (() => Promise<void>)[] = [];
  const end = async () => {
    for (const step of ends.splice(0).reverse()) await step();
  };
  const interrupted = () => void end().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const worlds = await startWorlds();
    ends.push(() => worlds.close());
    const ratchet = await startRatchet(worlds.proposerUrl);
    ends.push(() => ratchet.stop());
    // The first session pays for compilation.
    await ratchet.search(await worlds.open({ world: 0, rolloutMs: 0, proposerMs: 0 }), searchTask(0));
    const over = async (setup: typeof slow) => {
      const pairs: Pair[] = [];
      const bench = { worlds, ratchet, python, say };
      for (const world of setup.worlds) pairs.push(await compare(bench, searchTask(world), world, setup.latencyMs));
      return pairs;
    };
    const title = ({ latencyMs }: typeof slow) => `GEPA session, 800 rollouts of ${latencyMs} ms, 8 at once`;
    const slowPairs = await over(slow);
    return [
      wallLine(title(slow), slowPairs, missing, null),
      reachedLine(title(slow), slowPairs, missing),
      wallLine(title(fast), await over(fast), missing, aimMs),
    ];
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await end();
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  for (const line of await run(print)) print(`\n${JSON.stringify(line, null, 2)}`);
}
