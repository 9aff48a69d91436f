/**
 * A session and an evaluation at their limits: stored size and read times. Usage: node
 * scripts/tool.mjs bench/size.ts [population] [generations] [evaluation seeds] [seeds]
 */
import { pathToFileURL } from 'node:url';
import { readHistories, timed, watch, type Times } from './size/measure.js';
import { startBench, type Bench } from './size/service.js';
import { range } from './jobs.js';
import type { Line } from './table.js';

export interface Limits {
  population: number;
  generations: number;
  evaluationSeeds: number;
  seeds: number;
}

export const name = 'size';
const limits: Limits = { population: 10, generations: 49, evaluationSeeds: 1_000, seeds: 10_000 };
/** Train seeds as in bench/size/world.ts. */
const trainFrom = 1_000_000;
const looks = 200;
/** The session alone has half a million rollouts. */
const longestSeconds = 60 * 60;

/** Measures all lines; `say` reports progress. */
export async function run(say: (line: string) => void = () => undefined, size: Limits = limits): Promise<Line[]> {
  const bench = await startBench();
  const interrupted = () => void bench.stop().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const evaluation = await evaluate(bench, size, say);
    const session = await search(bench, size, say);
    const memory = bench.peakMemory();
    return [...evaluation, ...session, line('memory of API and worker, at most', memory, 'MiB', null)];
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await bench.stop();
  }
}

async function evaluate(bench: Bench, { seeds }: Limits, say: (line: string) => void): Promise<Line[]> {
  const job = await bench.client.createEvaluation({
    container_url: bench.worldUrl,
    policy: { provider: 'bench', model: 'any' },
    app_id: 'bench',
    env_name: 'bench',
    seeds: range(seeds),
    max_concurrent: 64,
  });
  const from = Date.now();
  await watch(job, longestSeconds, ({ status }) => status === 'completed');
  say(`evaluation: ${seeds} rollouts in ${Math.round((Date.now() - from) / 1_000)} s`);
  const what = `evaluation of ${seeds} seeds`;
  const history = await readHistories(bench, `evaluation-${job.id}`);
  const status = await timed(looks, () => job.get());
  const results = await timed(20, () => job.results());
  const beside = await timed(looks, () => bench.client.request('getLiveness'));
  return [
    line(`${what}: events of history`, history.events, 'events', 500),
    line(`${what}: largest payload`, history.payload / 1_000, 'kB', 500),
    ...reading(`${what}: GET status`, status, beside),
    ...reading(`${what}: GET results, ${kB(results)}`, results, beside, null),
  ];
}

async function search(bench: Bench, size: Limits, say: (line: string) => void): Promise<Line[]> {
  const { population, generations, evaluationSeeds } = size;
  const session = await bench.client.createSession({
    policy_optimization: {
      algorithm: 'gepa',
      container_url: bench.worldUrl,
      policy: { provider: 'bench', model: 'any' },
      max_concurrent: 64,
      gepa: {
        population_size: population,
        generations,
        minibatch_size: 3,
        train_seeds: range(100).map((n) => trainFrom + n),
        evaluation: { seeds: range(evaluationSeeds) },
      },
    },
  });
  const workflow = bench.temporal.workflow.getHandle(`session-${session.id}`);
  const query = () => workflow.query('status');
  const from = Date.now();
  let reported = 0;
  // Read one generation before the end: at rest, then at work.
  await watch(session, longestSeconds, (job) => {
    if (job.progress.generation > reported) {
      reported = job.progress.generation;
      const { rollouts_completed: done } = job.progress;
      say(`session: generation ${reported}, ${done} rollouts in ${Math.round((Date.now() - from) / 1_000)} s`);
    }
    return job.progress.generation >= generations - 1;
  });
  await session.pause();
  const rest = await timed(looks, () => session.get());
  const restQuery = await timed(looks, query);
  const results = await timed(looks, () => session.results());
  const list = await timed(looks, () => bench.client.request('listSessions'));
  const beside = await timed(looks, () => bench.client.request('getLiveness'));
  await session.resume();
  const busy = await timed(looks, () => session.get());
  const busyQuery = await timed(looks, query);
  const busyBeside = await timed(looks, () => bench.client.request('getLiveness'));
  await watch(session, longestSeconds, ({ status }) => status === 'completed');
  const history = await readHistories(bench, `session-${session.id}`);
  const what = `session of ${1 + population * generations} candidates, ${generations} generations, ${evaluationSeeds} evaluation seeds`;
  return [
    line(`${what}: events of one run, of ${history.runs} runs`, history.events, 'events', 10_000),
    line(`${what}: bytes of one run's history`, history.bytes / 1_000, 'kB', 50_000),
    line(`${what}: largest payload`, history.payload / 1_000, 'kB', 500),
    ...reading(`${what}: GET status at work, ${kB(busy)}`, busy, busyBeside),
    ...reading(`${what}: query at work`, busyQuery, busyBeside),
    ...reading(`${what}: GET status at rest`, rest, beside),
    ...reading(`${what}: query at rest`, restQuery, beside),
    ...reading(`${what}: GET results, ${kB(results)}`, results, beside),
    ...reading(`${what}: GET list`, list, beside),
  ];
}

const kB = ({ bytes }: Times) => `${Math.round(bytes / 1_000)} kB`;
const figure = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });

/** Target of reads: 50 ms at p99. Next to it, a concurrent request that reads nothing. */
function reading(what: string, times: Times, beside: Times, most: number | null = 50): Line[] {
  const of = (part: 'p50' | 'p99', aim: number | null): Line => ({
    ...line(`${what}, ${part}`, times[part], 'ms', aim),
    beside: `${figure(beside[part])} ms: GET /livez`,
    ratio: figure(times[part] / beside[part]),
  });
  return [of('p50', null), of('p99', most)];
}

function line(what: string, value: number, unit: string, most: number | null): Line {
  return {
    what,
    measured: `${figure(value)} ${unit}`,
    beside: '',
    ratio: most === null ? '' : figure(value / most),
    aim: most === null ? '' : `at most ${figure(most)} ${unit}`,
    met: most === null ? 'no aim' : value <= most ? 'met' : 'not met',
  };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  const [population, generations, evaluationSeeds, seeds] = process.argv.slice(2).map(Number);
  const size = {
    population: population ?? limits.population,
    generations: generations ?? limits.generations,
    evaluationSeeds: evaluationSeeds ?? limits.evaluationSeeds,
    seeds: seeds ?? limits.seeds,
  };
  for (const { what, measured, beside, aim, met } of await run(print, size)) {
    print(`${met.padEnd(8)} ${measured.padStart(14)}  ${what}${aim && ` (${aim})`}${beside && ` [${beside}]`}`);
  }
}
