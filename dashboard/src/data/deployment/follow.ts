import { useState } from 'preact/hooks';
import { client } from '../client.js';
import { useResource } from '../resource.js';
import type { Deployment } from './types.js';

const pollMs = 1_500;

/** A version by its id, or by its name; asked again until it is ready or has failed. */
export function useDeployment(ref: string) {
  const [isActive, setActive] = useState(true);
  const load = async (signal: AbortSignal): Promise<Deployment> => {
    const deployment = await client.value.deployments.handle(ref).get({ signal });
    setActive(isBuilding(deployment));
    return deployment;
  };
  return useResource(`deployment ${ref}`, load, isActive ? pollMs : null);
}

export const isBuilding = ({ status }: Pick<Deployment, 'status'>): boolean =>
  status !== 'ready' && status !== 'failed';
