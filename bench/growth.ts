/** How the service grows: jobs at once, worker processes, stored rows, starts, and hours. */
import { byJobs, byWorkers } from './growth/crowds.js';
import { addLargeJobs, fill } from './growth/fill.js';
import { memorySlope } from './growth/memory.js';
import { allReads, measureReads, readRows } from './growth/reads.js';
import { startUp } from './growth/start-up.js';
import type { GrowthOptions } from './growth/options.js';
import { runTemplates } from './growth/templates.js';
import { mergeRuns, type Line, type Row } from './table.js';
import type { World } from './world.js';

const times = 100;
const events = 1_000_000;
const calls = 300_000;

/** Rows in a world, each with a world of its own. */
export const groups = [
  { name: 'growth-jobs', seconds: 1_200, run: byJobs },
  { name: 'growth-workers', seconds: 1_200, run: byWorkers },
  { name: 'growth-reads', seconds: 7_200, run: reads },
  { name: 'growth-memory', seconds: 18_000, run: memorySlope },
] as const;

/** Starts of the service, which need no world. */
export const starts = {
  name: 'growth-start',
  seconds: 600,
  run: async (): Promise<Line[]> => (await startUp()).map((row) => mergeRuns([row])),
} as const;

async function reads(world: World, { rollouts: sizes }: GrowthOptions): Promise<Row[]> {
  const say = (line: string) => void process.stderr.write(`  ${line}\n`);
  const templates = await runTemplates(world);
  const all = allReads(templates, await addLargeJobs(world.postgres, templates));
  await world.postgres.query('vacuum analyze');
  const small = await measureReads(world, all, times);
  const rows: Row[] = [];
  for (const rollouts of sizes) {
    await fill(world.postgres, templates, { rollouts, events, calls }, say);
    rows.push(...readRows(all, rollouts, await measureReads(world, all, times), small));
  }
  return rows;
}
