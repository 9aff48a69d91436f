import { addedRows, system, type Target } from '../inference-load.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';

const name = 'bench';

/** Overhead of a deployment, called by name, over direct calls of the model in turn. */
export async function run(world: World): Promise<Row[]> {
  return addedRows(world, 'deployment', [await deploy(world)]);
}

/** Deploys a given prompt; returns its URL once it is ready. */
export async function deploy(world: World): Promise<Target> {
  const source = { messages: [system], policy: { provider: 'fake', model: 'fake-1' } };
  const { status, error } = await world.client.createDeployment({ name, source }).wait();
  if (status !== 'ready') throw new Error(`the deployment is ${status}: ${error}`);
  return { url: `${world.url}/api/harbor/deployments/${name}`, key: world.apiKey };
}
