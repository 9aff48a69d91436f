/** Whether the worker that a role needs does its work: any one for an API, itself for a worker. */
import type { Db } from '../db/db.js';
import type { InstallationClient } from './installation-client.js';
import { createPollers, identityOf } from './pollers.js';
import { readLiveWorkers } from './worker-reports.js';
import { buildOf, setCurrentCommand } from './worker-versioning.js';

const deadlineMs = 2_000;
/** Ends of a worker within a minute that make the service not ready. */
const maxEnds = 3;

interface AnyWorker {
  db: Db;
  client: InstallationClient;
  /** How often the service's own worker has ended in the last minute. */
  workerEnds(): number;
}

/** Rejects unless a worker of the installation polls and reports that takes new jobs. */
export function anyWorker({ db, client, workerEnds }: AnyWorker): () => Promise<void> {
  const pollers = createPollers(client);
  return async () => {
    const ends = workerEnds();
    if (ends >= maxEnds) throw new Error(`the worker has ended ${ends} times in the last minute; see its log`);
    const { own, currentBuild: current } = await client.withDeadline(Date.now() + deadlineMs, pollers);
    if (own.length === 0) {
      throw new Error(
        `no worker of this installation polls the task queue ${client.installation.taskQueue}; start one with "ratchet worker"`,
      );
    }
    const live = await db.worker(readLiveWorkers);
    const builds = own
      .map(({ deploymentOptions }) => buildOf(deploymentOptions))
      .filter((build) => live.includes(build));
    if (builds.length === 0) throw new Error('the worker hangs: none has reported in the last seconds');
    // Without a current build, new jobs go to workers without a build.
    if (builds.includes(current)) return;
    const wanted = current ? `workers of build ${current}` : 'workers without a RATCHET_WORKER_BUILD_ID';
    throw new Error(
      `new jobs go to ${wanted}, and none polls. Start one, or run: ${setCurrentCommand(client, builds[0] ?? null)}`,
    );
  };
}

/** Rejects unless the worker of this process polls, by its own word and by Temporal's. */
export function thisWorker(client: InstallationClient, isPolling: () => boolean): () => Promise<void> {
  const pollers = createPollers(client);
  const identity = identityOf(client.installation);
  return async () => {
    if (!isPolling()) throw new Error('this worker has stopped polling');
    const { own } = await client.withDeadline(Date.now() + deadlineMs, pollers);
    if (!own.some((poller) => poller.identity === identity))
      throw new Error(`Temporal has no poll of ${identity} at the task queue ${client.installation.taskQueue}`);
  };
}
