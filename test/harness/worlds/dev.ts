import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { firstFree } from '../../../src/platform/embedded/ports.js';
import { lives, type ProcessMark } from '../../../src/platform/embedded/process.js';
import { startTree } from '../../support/servers/tree.js';
import { until } from '../../support/until.js';
import { Restartable } from './restartable.js';
import { mountSmallDisk, type SmallDisk } from './small-disk.js';
import { ready, type Engine, type Ground } from './world.js';

/** Longest downtime of the whole service after a kill, in milliseconds. */
const awayMs = 1_500;
/** Least and longest time of a full disk, in milliseconds. */
const fullMs = [2_000, 8_000] as const;

interface Saved {
  settings: { port: number; password?: string };
  process: ProcessMark;
}

/** The whole `npm start` tree, with its own Temporal and Postgres as children. */
export function startDev(ground: Ground): Promise<Engine> {
  return startTreeOn(ground, join(ground.folder, 'data'), null);
}

/** The same with its data on a small disk. */
export function startSmall(ground: Ground): Promise<Engine> {
  const mounted = join(ground.folder, 'disk');
  const disk = mountSmallDisk(mounted);
  ground.stops.push(async () => disk.unmount());
  return startTreeOn(ground, join(mounted, 'data'), disk);
}

async function startTreeOn({ logFile, env, stops }: Ground, dataDir: string, disk: SmallDisk | null): Promise<Engine> {
  const port = await firstFree();
  const settings = { ...env, PORT: String(port), RATCHET_TEMPORAL_PORT: '0', RATCHET_DATA_DIR: dataDir };
  const service = new Restartable(() => startTree(settings, { logFile }));
  stops.push(() => service.stop());
  await service.start();
  const { url } = service.tree;
  const saved = (name: 'temporal' | 'postgres') =>
    JSON.parse(readFileSync(join(dataDir, name, 'server.json'), 'utf8')) as Saved;
  const address = (name: 'temporal' | 'postgres') => `127.0.0.1:${saved(name).settings.port}`;

  return {
    url,
    get databaseUrl() {
      return `postgres://postgres:${saved('postgres').settings.password}@${address('postgres')}/postgres`;
    },
    get temporalAddress() {
      return address('temporal');
    },
    processes: () => ({ tree: service.pid }),
    async kill(target, choice) {
      let goneAt: number;
      if (target === 'tree') {
        await service.kill();
        goneAt = Date.now();
        await delay(choice.between(0, awayMs));
        await service.start();
      } else if (target === 'temporal' || target === 'postgres') {
        const { process: mark } = saved(target);
        process.kill(mark.pid, 'SIGKILL');
        goneAt = Date.now();
        // Its supervisor restarts it; after too many deaths the service ends and can be started
        // again.
        await until(
          `${target} is back`,
          () => !service.isUp || (saved(target).process.pid !== mark.pid && lives(saved(target).process)),
          60,
        );
        if (!service.isUp) await service.start();
      } else if (target === 'disk' && disk) {
        const free = disk.fill();
        goneAt = Date.now();
        await delay(choice.between(...fullMs));
        free();
        // After too many deaths of Postgres the service ends and can be started again.
        if (!service.isUp) await service.start();
      } else throw new Error(`here ${target} is no process of its own`);
      await ready({ url });
      return goneAt;
    },
    async died() {
      if (service.isUp) return [];
      const code = service.tree.process.exitCode;
      await service.start();
      return [`npm start (exit code ${code})`];
    },
  };
}
