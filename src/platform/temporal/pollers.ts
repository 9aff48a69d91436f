/** Who polls the task queue of an installation. */
import { hostname } from 'node:os';
import type { Installation, InstallationClient } from './installation-client.js';

/** The parts of a poller that are read here and of its build. */
interface Poller {
  identity?: string | null;
  lastAccessTime?: { seconds?: unknown; nanos?: number | null } | null;
  deploymentOptions?: { workerVersioningMode?: number | null; buildId?: string | null } | null;
}

/** TaskQueueType.WORKFLOW of Temporal's API. */
const workflowQueue = 1;
/** Two polls: a worker polls once a minute, and a poll may be late or lost on a busy machine. */
const pollerAgeMs = 130_000;
const mark = '@installation-';

/** The name of a worker in Temporal. */
export const identityOf = ({ id }: Installation) => `${process.pid}@${hostname()}${mark}${id}`;

/** The installation of a worker by its name; null: it is none of this service. */
const ownerOf = (identity: string) => identity.split(mark)[1] ?? null;

interface Polled {
  /** Workers of the installation that poll, the last one first. */
  own: Poller[];
  /** Installations whose workers poll beside them. */
  foreign: string[];
  /** The build that takes new jobs; null: workers without a build. */
  currentBuild: string | null;
}

export type Pollers = () => Promise<Polled>;

/**
 * Looks at the pollers. A worker polls if the time of its last poll has changed lately, by this
 * process's stopwatch: its clock and that of Temporal may differ.
 */
export function createPollers(client: InstallationClient): Pollers {
  const changes = new Map<string, { poll: number; at: number }>();
  const isFresh = (poller: Poller, now: number) => {
    const identity = poller.identity ?? '';
    const poll = pollTime(poller);
    const seen = changes.get(identity);
    if (seen?.poll === poll) return now - seen.at < pollerAgeMs;
    changes.set(identity, { poll, at: now });
    return true;
  };
  return async () => {
    const { taskQueue, id } = client.installation;
    const { pollers, versioningInfo } = await client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: workflowQueue,
    });
    const now = performance.now();
    const listed = pollers ?? [];
    for (const identity of changes.keys()) {
      if (!listed.some((poller) => poller.identity === identity)) changes.delete(identity);
    }
    const fresh = listed.filter((poller) => isFresh(poller, now)).sort((a, b) => pollTime(b) - pollTime(a));
    const owners = fresh.map(({ identity }) => ownerOf(identity ?? ''));
    return {
      own: fresh.filter((_, i) => owners[i] === id),
      foreign: [...new Set(owners)].filter((owner) => owner !== null && owner !== id) as string[],
      currentBuild: versioningInfo?.currentDeploymentVersion?.buildId ?? null,
    };
  };
}

const pollTime = ({ lastAccessTime: time }: Poller) => Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1e6;
