import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { commandLine, ifItLives } from '../../src/platform/embedded/process.js';
import { descendants } from '../support/servers/tree.js';
import type { World } from '../harness/worlds/world.js';

/** Values at a time, by name; `minutes` from the start of the run. */
export interface Sample {
  minutes: number;
  values: Record<string, number>;
}

const everyMs = 5_000;
const mib = 1_024 * 1_024;

/** Samples a service every five seconds, and appends each sample as a line of JSON to `file`. */
export function startSampler(world: World, file: string) {
  const began = Date.now();
  const samples: Sample[] = [];
  const faults: string[] = [];
  let last = Promise.resolve();
  const take = async () => {
    const values = { ...processValues(world), ...(await databaseValues(world)) };
    const sample = { minutes: (Date.now() - began) / 60_000, values };
    samples.push(sample);
    appendFileSync(file, `${JSON.stringify(sample)}\n`);
  };
  const timer = setInterval(() => {
    last = last.then(take).catch((error: Error) => void faults.push(error.message));
  }, everyMs);
  return {
    samples,
    /** Samples that could not be taken, with the reason. */
    faults,
    async stop() {
      clearInterval(timer);
      await last;
    },
  };
}

/** The processes of `npm start`, by their command lines. */
const roles: Record<string, RegExp> = {
  temporal: /temporal\S* server/,
  postgres: /^(\S*\/)?postgres\b|^postgres:/,
  worker: /worker-child/,
  api: /ratchet\.js|run\.mjs/,
};

/** Memory in MiB, open descriptors and threads of each role. Shared pages count in parts. */
function processValues(world: World): Record<string, number> {
  const values: Record<string, number> = {};
  const add = (name: string, value: number) => (values[name] = (values[name] ?? 0) + value);
  for (const root of Object.values(world.processes())) {
    for (const pid of descendants(root)) {
      const command = commandLine(pid) ?? '';
      const role = Object.keys(roles).find((name) => roles[name]!.test(command));
      const memory = ifItLives(() => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
      if (role === undefined || memory === undefined) continue;
      add(`${role} PSS MiB`, Number(/^Pss: +(\d+)/m.exec(memory)?.[1] ?? 0) / 1_024);
      add(`${role} descriptors`, ifItLives(() => readdirSync(`/proc/${pid}/fd`).length) ?? 0);
      add(`${role} threads`, ifItLives(() => readdirSync(`/proc/${pid}/task`).length) ?? 0);
    }
  }
  return values;
}

async function databaseValues(world: World): Promise<Record<string, number>> {
  const [row] = await world.sql<Record<string, string>>(
    `select pg_database_size(current_database()) as size,
            (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
            (select coalesce(extract(epoch from max(clock_timestamp() - xact_start)), 0) from pg_stat_activity
              where backend_type = 'client backend' and pid <> pg_backend_pid()) as longest,
            (select count(*) from jobs) as jobs,
            (select count(*) from jobs where completed_at is null) as open`,
  );
  return {
    'database MiB': Number(row!['size']) / mib,
    'database connections': Number(row!['connections']),
    'longest transaction s': Number(row!['longest']),
    jobs: Number(row!['jobs']),
    'open jobs': Number(row!['open']),
  };
}
