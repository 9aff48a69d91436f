/**
 * npm run bench -- [rows…] [options]: measures the built service and prints a table. Options:
 * --repeat N, --json FILE, --profile DIR; of the growth rows: --minutes N, --rollouts N,N; of
 * real-text: see real-text/options.ts. Exit code 1: a row could not be measured; missed targets do
 * not count.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { report } from './profile.js';
import { readRealTextOptions, realTextFlags, type RealTextOptions } from './real-text/options.js';
import { comparisons, rows, type Rows } from './rows.js';
import { failedLine, mergeRuns, markdown, usedTable, type Line, type Row } from './table.js';
import { inTime, withWorld } from './world.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    repeat: { type: 'string' },
    json: { type: 'string' },
    profile: { type: 'string' },
    minutes: { type: 'string', default: '3' },
    rollouts: { type: 'string', default: '1000000,10000000' },
    ...realTextFlags,
  },
});
const repeat = Number(values.repeat ?? 1);
const names = [...rows, ...comparisons].map(({ name }) => name);
const isNamed = (name: string) => positionals.some((given) => name === given || name.startsWith(`${given}-`));
const unknown = positionals.filter((given) => !names.some((name) => name === given || name.startsWith(`${given}-`)));
const growth = { minutes: Number(values.minutes), rollouts: values.rollouts.split(',').map(Number) };
const realText = parsedRealText();
if (unknown.length > 0 || !Number.isInteger(repeat) || repeat < 1) {
  const why = unknown.length > 0 ? `no rows ${unknown.join(', ')}` : '--repeat must be a number of at least 1';
  process.stderr.write(`bench: ${why}; rows are ${names.join(', ')}\n`);
  process.exit(2);
}
const isWanted = ({ name, onRequest }: { name: string; onRequest?: true }) =>
  isNamed(name) || (positionals.length === 0 && !onRequest);
const profileDir = values.profile === undefined ? undefined : resolve(values.profile);
if (profileDir !== undefined) mkdirSync(profileDir, { recursive: true });

const loadBefore = loadavg()[0]!.toFixed(1);
const lines: Line[] = [];
const tables: string[] = [];
const measured: Record<string, { runs: Row[][]; failures: string[] }> = {};
for (const group of rows.filter(isWanted)) {
  const { runs, failures } = await measure(group);
  measured[group.name] = { runs, failures };
  lines.push(...merged(runs), ...failures.map((reason) => failedLine(group.name, reason)));
}
for (const { name, run, seconds } of comparisons.filter(isWanted)) {
  process.stderr.write(`${name} …\n`);
  try {
    const result = await inTime(seconds * 1_000, `"${name}" is measured`, run(realText));
    if (typeof result === 'string') tables.push(result);
    else lines.push(...result);
  } catch (error) {
    process.stderr.write(`${(error as Error).stack}\n`);
    lines.push(failedLine(name, (error as Error).message));
  }
}
const used = usedTable(Object.values(measured).flatMap(({ runs }) => runs[0] ?? []));
const shown = [machine(), lines.length > 0 && markdown(lines), used, ...tables];
process.stdout.write(`${shown.filter(Boolean).join('\n\n')}\n`);
if (values.json !== undefined) {
  writeFileSync(
    values.json,
    `${JSON.stringify({ machine: machine(), at: new Date(), lines, tables, measured }, null, 2)}\n`,
  );
}
if (profileDir !== undefined) process.stderr.write(`${report(profileDir)}\n`);
process.exitCode = lines.some(({ met }) => met === 'failed') ? 1 : 0;

/** Runs a group `repeat` times, each in a new world; failures do not stop the other runs. */
async function measure({ name, run, seconds }: Rows): Promise<{ runs: Row[][]; failures: string[] }> {
  const runs: Row[][] = [];
  const failures: string[] = [];
  for (let n = 1; n <= repeat; n += 1) {
    process.stderr.write(`${name}${repeat > 1 ? ` ${n}/${repeat}` : ''} …\n`);
    try {
      runs.push(
        await withWorld(
          (world) => inTime(seconds * 1_000, `the rows "${name}" are measured`, run(world, growth)),
          profileDir,
        ),
      );
    } catch (error) {
      process.stderr.write(`${(error as Error).stack}\n`);
      failures.push((error as Error).message);
    }
  }
  return { runs, failures };
}

function parsedRealText(): RealTextOptions {
  try {
    return readRealTextOptions(values);
  } catch (error) {
    process.stderr.write(`bench: ${(error as Error).message}\n`);
    process.exit(2);
  }
}

/** One line per row; all runs have their rows in the same order. */
function merged(runs: Row[][]): Line[] {
  return (runs[0] ?? []).map((_, at) => mergeRuns(runs.flatMap((run) => run[at] ?? [])));
}

function machine(): string {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  const [cpu] = cpus();
  return `${cpu?.model.trim() ?? 'unknown CPU'}, ${availableParallelism()} cores; Node ${process.versions.node}; commit ${commit}; load ${loadBefore} before`;
}
