/**
 * A GEPA session and the official `gepa` package on the same worlds, with the same settings; gepa
 * writes one proposal at a time. Details: node scripts/tool.mjs bench/gepa.ts [--slow]
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { range } from './curve/arguments.js';
import { compare, type Pair } from './gepa/compare.js';
import { busyLine, depthLine, levelLine, reachedLine, wallLine } from './gepa/lines.js';
import { searchSession } from './gepa/ratchet.js';
import type { SearchTask } from './gepa/search.js';
import { gepaPython } from './peers/gepa/venv.js';
import { startService } from './service.js';
import type { Line } from './table.js';
import { startWorlds } from './worlds/client.js';

/** A group of worlds with a latency of rollouts and proposals. */
interface Setup {
  latencyMs: number;
  atOnce: number;
  worlds: number[];
}

const venvs = join(import.meta.dirname, '..', '.ratchet', 'bench-venv');
const usual: Setup = { latencyMs: 50, atOnce: 8, worlds: range(1, 11) };
const instant: Setup = { latencyMs: 0, atOnce: 8, worlds: range(1, 6) };
const slow: Setup = { latencyMs: 1_000, atOnce: 32, worlds: range(1, 4) };
const levels = [0.7, 0.9, 0.95];
const aimMs = 10;

/** The split of 240 instances: 60 for training, 50 others for evaluation. */
function searchTask(world: number, maxConcurrent: number): SearchTask {
  return {
    trainSeeds: range(0, 60),
    evaluationSeeds: range(60, 110),
    minibatchSize: 3,
    maxRollouts: 800,
    maxConcurrent,
    rngSeed: world,
  };
}

type Say = (line: string) => void;
/** Measures both optimizers in the worlds of a setup; `missing`: why there is no peer. */
type Over = (setup: Setup) => Promise<{ title: string; pairs: Pair[]; missing: string }>;

/** Starts both optimizers for `work`; `say` reports each search. */
async function withBoth(say: Say, work: (over: Over) => Promise<Line[]>): Promise<Line[]> {
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
    const { client: ratchet, stop } = await startService(worlds.proposerUrl);
    ends.push(stop);
    // The first session pays for compilation.
    await searchSession(ratchet, await worlds.open({ world: 0, rolloutMs: 0, proposerMs: 0 }), searchTask(0, 8));
    return await work(async ({ latencyMs, atOnce, worlds: numbers }) => {
      const pairs: Pair[] = [];
      const bench = { worlds, ratchet, python, say };
      for (const world of numbers) pairs.push(await compare(bench, searchTask(world, atOnce), world, latencyMs));
      return { title: `GEPA session, 800 rollouts of ${latencyMs} ms, ${atOnce} at once`, pairs, missing };
    });
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await end();
  }
}

/** The lines about full slots and time to a reward. */
function pathLines({ title, pairs, missing }: Awaited<ReturnType<Over>>): Line[] {
  return [
    busyLine(title, pairs, missing),
    depthLine(title, pairs, missing),
    reachedLine(title, pairs, missing),
    ...levels.map((level) => levelLine(title, pairs, missing, level)),
  ];
}

const silent: Say = () => undefined;

export function run(say: Say = silent): Promise<Line[]> {
  return withBoth(say, async (over) => {
    const measured = await over(usual);
    const { title, pairs, missing } = await over(instant);
    const wall = wallLine(measured.title, measured.pairs, measured.missing, null);
    return [wall, ...pathLines(measured), wallLine(title, pairs, missing, aimMs)];
  });
}

/** The same with slow rollouts and many slots. */
export function runSlow(say: Say = silent): Promise<Line[]> {
  return withBoth(say, async (over) => pathLines(await over(slow)));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const lines = process.argv.includes('--slow') ? await runSlow(print) : await run(print);
  for (const line of lines) print(`\n${JSON.stringify(line, null, 2)}`);
}
