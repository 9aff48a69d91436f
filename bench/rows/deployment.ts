import { setTimeout as delay } from 'node:timers/promises';
import { now } from '../clock.js';
import { addedRows, system, type Target } from '../inference-load.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';

const patienceMs = 30_000;
const base = '/api/harbor/deployments';
const name = 'bench';

/** Overhead of a deployment, called by name, over direct calls of the model in turn. */
export async function run(world: World): Promise<Row[]> {
  return addedRows(world, 'deployment', [await deploy(world)]);
}

/** Deploys a given prompt; returns its URL once it is ready. */
export async function deploy(world: World): Promise<Target> {
  const source = { messages: [system], policy: { provider: 'fake', model: 'fake-1' } };
  const { id } = await world.call<{ id: string }>('POST', base, { name, source });
  const deadline = now() + patienceMs;
  for (;;) {
    const { status, error } = await world.call<{ status: string; error: string | null }>('GET', `${base}/${id}/status`);
    if (status === 'ready') return { url: `${world.url}${base}/${name}`, key: world.apiKey };
    if (status === 'failed' || now() > deadline) throw new Error(`the deployment is ${status}: ${error ?? 'no error'}`);
    await delay(100);
  }
}
