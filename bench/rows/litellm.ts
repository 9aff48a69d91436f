import { join } from 'node:path';
import { cpuMs, latency, measure, type Load } from '../inference-load.js';
import { startLitellm } from '../peers/litellm/proxy.js';
import { litellmPython, litellmVersion } from '../peers/litellm/venv.js';
import { cpuSeconds } from '../proc.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';
import { deploy } from './deployment.js';

const venvs = join(import.meta.dirname, '..', '..', '.ratchet', 'bench-venv');
const peer = `LiteLLM ${litellmVersion}, one worker, nothing kept on record`;
/** A rate that the peer sustains on two cores. */
const load: Load = { perSecond: 20, seconds: 15, stream: false };
const warmUp: Load = { ...load, seconds: 5 };

/** A deployment next to LiteLLM's proxy, which changes no prompts and records nothing. */
export async function run(world: World): Promise<Row[]> {
  const python = await litellmPython(venvs);
  const deployment = await deploy(world);
  await measure(world, [deployment], warmUp);
  const { through: own, spent } = await measure(world, [deployment], load);
  const litellm = await startLitellm(python, world.model.url);
  try {
    await measure(world, [litellm], warmUp);
    const before = cpuSeconds(litellm.pid);
    const { through: peerCalls } = await measure(world, [litellm], load);
    const peerCpu = cpuSeconds(litellm.pid) - before;
    const what = `deployment (counted durably) at ${load.perSecond}/s`;
    return [
      {
        what: `${what}: p50`,
        value: latency(own, 'end', 50),
        unit: 'ms',
        beside: { what: peer, value: latency(peerCalls, 'end', 50) },
      },
      {
        what: `${what}: CPU per call of API, worker and Postgres`,
        value: cpuMs(spent, own.length),
        unit: 'ms',
        beside: { what: peer, value: (peerCpu * 1_000) / peerCalls.length },
      },
    ];
  } finally {
    await litellm.stop();
  }
}
