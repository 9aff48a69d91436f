import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { firstFree } from '../../../src/embedded/ports.js';
import { startPostgres } from '../../../src/embedded/postgres.js';
import { startTemporal } from '../../../src/embedded/temporal.js';
import { startTree, type Tree } from '../../support/servers/tree.js';
import { ready, type Engine, type Ground } from './world.js';

/** Longest downtime after a kill, in milliseconds. */
const awayMs = 3_000;

/** `ratchet serve` and `ratchet worker` as processes, on Temporal and Postgres of the harness. */
export async function startSplit({ folder, logFile, env, stops }: Ground): Promise<Engine> {
  const log = pino({ level: 'warn' }, pino.destination(logFile));
  const dataDir = join(folder, 'servers');
  const start = {
    temporal: () => startTemporal({ dataDir, port: 0, log }),
    postgres: () => startPostgres({ dataDir, log }),
  };
  const temporal = await start.temporal();
  stops.push(() => servers.temporal.stop());
  const postgres = await start.postgres();
  stops.push(() => servers.postgres.stop());
  const servers: Record<'temporal' | 'postgres', { pid: number; stop(): Promise<void> }> = { temporal, postgres };
  const port = await firstFree();
  const url = `http://127.0.0.1:${port}`;
  const settings = {
    ...env,
    PORT: String(port),
    RATCHET_PUBLIC_URL: url,
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    RATCHET_SECRET_KEY: randomBytes(32).toString('base64'),
  };
  const run = (command: 'serve' | 'worker') => startTree(settings, { command, logFile });
  const roles = {} as Record<'api' | 'worker', Tree>;
  stops.push(() =>
    Promise.all(
      Object.values(roles)
        .filter((role) => !ended(role))
        .map((role) => role.stop()),
    ),
  );
  roles.api = await run('serve');
  roles.worker = await run('worker');
  const commands = { api: 'serve', worker: 'worker' } as const;

  return {
    url,
    databaseUrl: postgres.url,
    temporalAddress: temporal.address,
    processes: () => ({ api: roles.api.process.pid!, worker: roles.worker.process.pid! }),
    async kill(target, choice) {
      if (target === 'tree' || target === 'disk') throw new Error(`here there is no ${target} of its own`);
      const away = choice.between(0, awayMs);
      let goneAt: number;
      if (target === 'api' || target === 'worker') {
        await roles[target].kill();
        goneAt = Date.now();
        await delay(away);
        roles[target] = await run(commands[target]);
      } else if (target === 'postgres' && choice.chance(30)) {
        // The server disconnects everybody and recovers when a backend dies.
        process.kill(await someBackend(postgres.url), 'SIGKILL');
        goneAt = Date.now();
      } else {
        process.kill(servers[target].pid, 'SIGKILL');
        // Restarts after a delay at the same address, without a supervisor.
        await servers[target].stop();
        goneAt = Date.now();
        await delay(away);
        servers[target] = await start[target]();
      }
      await ready({ url });
      return goneAt;
    },
    async died() {
      const dead = (['api', 'worker'] as const).filter((role) => ended(roles[role]));
      const said = dead.map((role) => `${role} (exit code ${roles[role].process.exitCode})`);
      for (const role of dead) roles[role] = await run(commands[role]);
      return said;
    },
  };
}

const ended = ({ process: { exitCode, signalCode } }: Tree) => exitCode !== null || signalCode !== null;

async function someBackend(url: string): Promise<number> {
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'ratchet' order by pid limit 1`,
  );
  await client.end();
  if (!rows[0]) throw new Error('the service has no connection to the database');
  return rows[0].pid;
}
