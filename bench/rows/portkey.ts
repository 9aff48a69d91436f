import { join } from 'node:path';
import { cpuMs, latency, measure, type Load } from '../inference-load.js';
import { portkeyVersion, startPortkey } from '../peers/portkey/gateway.js';
import { cpuSeconds } from '../proc.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';
import { deploy } from './deployment.js';

const folder = join(import.meta.dirname, '..', '..', '.ratchet', 'bench-npm');
const peer = `Portkey's gateway ${portkeyVersion}, which knows no keys and keeps nothing on record`;
const load: Load = { perSecond: 200, seconds: 10, stream: false, directEvery: 5 };
const warmUp: Load = { ...load, seconds: 3 };

/**
 * A deployment, which checks the key, reads the live snapshot and counts each call durably, next to
 * a fast gateway that passes calls on. Whole answers: the peer's streams fail on Node 20 (500).
 */
export async function run(world: World): Promise<Row[]> {
  const deployment = await deploy(world);
  const portkey = await startPortkey(folder, world.model.url);
  try {
    await measure(world, [deployment], warmUp);
    const { through: own, spent } = await measure(world, [deployment], load);
    await measure(world, [portkey], warmUp);
    const before = cpuSeconds(portkey.pid);
    const { through: peers } = await measure(world, [portkey], load);
    const peerCpu = cpuSeconds(portkey.pid) - before;
    const what = `deployment (counted durably) at ${load.perSecond}/s`;
    const beside = (p: number) => ({ what: peer, value: latency(peers, 'end', p) });
    return [
      { what: `${what}: p50`, value: latency(own, 'end', 50), unit: 'ms', beside: beside(50) },
      { what: `${what}: p99`, value: latency(own, 'end', 99), unit: 'ms', beside: beside(99) },
      {
        what: `${what}: CPU a call`,
        value: cpuMs(spent, own.length),
        unit: 'ms',
        beside: { what: peer, value: (peerCpu * 1_000) / peers.length },
      },
    ];
  } finally {
    await portkey.stop();
  }
}
