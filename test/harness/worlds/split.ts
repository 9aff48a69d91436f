import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { startPostgres } from '../../../src/platform/embedded/postgres.js';
import { startTemporal } from '../../../src/platform/embedded/temporal.js';
import { rolesOf } from './roles.js';
import { query, ready, type Engine, type Ground } from './world.js';

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
  const settings = {
    ...env,
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    RATCHET_SECRET_KEY: randomBytes(32).toString('base64'),
  };
  const { url, ...roles } = await rolesOf(settings, { logFile });
  for (const role of Object.values(roles)) {
    stops.push(() => role.stop());
    await role.start();
  }

  return {
    url,
    databaseUrl: postgres.url,
    temporalAddress: temporal.address,
    processes: () => ({ api: roles.api.pid, worker: roles.worker.pid }),
    async kill(target, choice) {
      if (target === 'tree' || target === 'disk') throw new Error(`here there is no ${target} of its own`);
      const away = choice.between(0, awayMs);
      let goneAt: number;
      if (target === 'api' || target === 'worker') {
        await roles[target].kill();
        goneAt = Date.now();
        await delay(away);
        await roles[target].start();
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
      const dead = Object.entries(roles).filter(([, role]) => !role.isUp);
      const said = dead.map(([name, { tree }]) => `${name} (exit code ${tree.process.exitCode})`);
      for (const [, role] of dead) await role.start();
      return said;
    },
  };
}

async function someBackend(url: string): Promise<number> {
  const [row] = await query<{ pid: number }>(
    url,
    `select pid from pg_stat_activity where application_name = 'ratchet' order by pid limit 1`,
  );
  if (!row) throw new Error('the service has no connection to the database');
  return row.pid;
}
