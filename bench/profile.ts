import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { figure } from './table.js';

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  /** Microseconds since the previous sample. */
  timeDeltas: number[];
}

/** Postgres's statistics of a statement, in milliseconds. */
interface Statement {
  query: string;
  calls: number;
  total: number;
  planning: number;
  rows: number;
}

/** Makes Postgres count statements from its next start on (pg_stat_statements). */
export async function countStatements(postgres: pg.Client): Promise<void> {
  await postgres.query('alter system set shared_preload_libraries = pg_stat_statements');
  await postgres.query("load 'pg_stat_statements'").catch(() => undefined);
  await postgres.query('alter system set pg_stat_statements.track_planning = on');
  await postgres.query('create extension if not exists pg_stat_statements');
}

/** Writes the statistics into `dir`, most expensive first. */
export async function writeStatements(postgres: pg.Client, dir: string): Promise<void> {
  const { rows } = await postgres.query<Statement>(
    `select query, calls::float8, total_exec_time as total, total_plan_time as planning, rows::float8 from pg_stat_statements
      where userid = 'ratchet_app'::regrole or query not like '%pg_stat%' order by total_exec_time + total_plan_time desc limit 60`,
  );
  writeFileSync(join(dir, `statements-${process.hrtime.bigint()}.json`), JSON.stringify(rows, null, 2));
}

/** A readable profile: CPU of the service and time of Postgres. */
export function report(dir: string): string {
  const files = readdirSync(dir).sort();
  return files
    .flatMap((file) => {
      const text = () => readFileSync(join(dir, file), 'utf8');
      if (file.endsWith('.cpuprofile')) return [file, ...selfTimes(JSON.parse(text()) as CpuProfile)];
      if (file.startsWith('statements-')) return [file, ...statementLines(JSON.parse(text()) as Statement[])];
      return [];
    })
    .join('\n');
}

/** The functions with the most self time in milliseconds, and their share of non-idle time. */
export function selfTimes({ nodes, samples, timeDeltas }: CpuProfile, most = 40): string[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, frameName(callFrame)]));
  const times = new Map<string, number>();
  for (const [at, id] of samples.entries()) {
    const name = names.get(id) ?? '?';
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] ?? 0) / 1_000);
  }
  times.delete('(idle)');
  const all = [...times.values()].reduce((sum, ms) => sum + ms, 0);
  const top = [...times].sort(([, a], [, b]) => b - a).slice(0, most);
  return [
    `${figure(all)} ms not idle`,
    ...top.map(([name, ms]) => `${figure(ms).padStart(8)} ms ${figure((100 * ms) / all).padStart(5)} %  ${name}`),
  ];
}

function frameName({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  if (url === '') return functionName;
  const file = url.replace(/^.*\/(node_modules|dist)\//, '');
  return `${functionName || 'anonymous'} ${file}:${lineNumber + 1}`;
}

function statementLines(statements: Statement[]): string[] {
  return statements
    .slice(0, 30)
    .map(
      ({ query, calls, total, planning, rows }) =>
        `${figure(total).padStart(8)} ms ${String(calls).padStart(7)} calls ${figure(total / calls).padStart(6)} ms each ${figure(planning).padStart(6)} ms planning ${String(rows).padStart(7)} rows  ${query.replace(/\s+/g, ' ').slice(0, 110)}`,
    );
}
