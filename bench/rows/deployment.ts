import { setTimeout as delay } from 'node:timers/promises';
import { now } from '../clock.js';
import { addedRows, measure, system, type Target } from '../inference-load.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';

const perSecond = 200;
const seconds = 20;
/** The model and the client of as many direct calls would take a core of their own, which the machine may not have. */
const directEvery = 5;
const load = { perSecond, seconds, directEvery };
const patienceMs = 30_000;
const base = '/api/harbor/deployments';
const name = 'bench';

/** What a deployment adds to a model call, asked by the name that it serves. The same calls go to the model directly, in turns with them. */
export async function run(world: World): Promise<Row[]> {
  const targets = [await deploy(world)];
  await measure(world, targets, { ...load, stream: false, seconds: 3 });
  const whole = await measure(world, targets, { ...load, stream: false });
  const streamed = await measure(world, targets, { ...load, stream: true });
  return addedRows(`deployment at ${perSecond}/s`, whole, streamed);
}

/** Has a name served by a prompt given outright; answers where it is asked, once it is ready. */
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
