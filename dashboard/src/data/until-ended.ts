import { useState } from 'preact/hooks';
import type { Status } from '../../../src/client/index.js';
import { isTerminal } from '../../../src/core/jobs/status.js';
import { useResource, type Resource } from './resource.js';

const pollMs = 1_500;

/** A job by its id; asked again until it has ended. */
export function useUntilEnded<Job extends { status: Status }>(
  id: string,
  get: (signal: AbortSignal) => Promise<Job>,
): Resource<Job> {
  const [isActive, setActive] = useState(true);
  const load = async (signal: AbortSignal): Promise<Job> => {
    const job = await get(signal);
    setActive(!isTerminal(job.status));
    return job;
  };
  return useResource(id, load, isActive ? pollMs : null);
}
