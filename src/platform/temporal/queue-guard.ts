/** Keeps a worker from the work of other installations, which a setting put on its task queue. */
import {
  ApplicationFailure,
  ApplicationFailureCategory,
  defaultPayloadConverter,
  type Payload,
} from '@temporalio/common';
import type { Logger } from 'pino';
import { installationHeader } from '../../../workflows/messages.js';
import { startRepeating } from '../../util/repeating.js';
import type { InstallationClient } from './installation-client.js';
import { createPollers } from './pollers.js';

const lookMs = 20_000;
const deadlineMs = 5_000;

interface ActivityCall {
  headers: Record<string, Payload>;
}

export interface QueueGuard {
  /** An interceptor: the activity of another installation fails, for another worker to run. */
  activities: {
    execute<Call extends ActivityCall>(call: Call, next: (call: Call) => Promise<unknown>): Promise<unknown>;
  };
  /** A workflow task of another installation was refused. */
  refused(owner: string): void;
  stop(): Promise<void>;
}

/** Logs one line for each other installation whose tasks or workers are met. */
export function guardQueue(client: InstallationClient, log: Logger): QueueGuard {
  const { id, taskQueue } = client.installation;
  const met = new Set<string>();
  const refused = (owner: string) => {
    if (met.has(owner)) return;
    met.add(owner);
    log.error(
      { installation: id, other_installation: owner, task_queue: taskQueue },
      `another installation uses the task queue ${taskQueue}: set RATCHET_TASK_QUEUE to a name of its own in one of them; its tasks are refused here`,
    );
  };
  const pollers = createPollers(client);
  const { run, stop } = startRepeating(
    async () => {
      const { foreign } = await client.withDeadline(Date.now() + deadlineMs, pollers);
      foreign.forEach(refused);
    },
    lookMs,
    // Readiness reports that Temporal is away.
    (err) => log.debug({ err }, 'pollers of the task queue not read; retrying'),
  );
  void run();
  return {
    refused,
    stop,
    activities: {
      async execute(call, next) {
        const header = call.headers[installationHeader];
        const owner = header ? defaultPayloadConverter.fromPayload<string>(header) : id;
        if (owner === id) return next(call);
        refused(owner);
        throw ApplicationFailure.create({
          message: `The activity is of the installation ${owner}; this worker is of ${id}.`,
          // The SDK logs no line for each.
          category: ApplicationFailureCategory.BENIGN,
          // The attempts of another worker wait no longer for this one.
          nextRetryDelay: '1 second',
        });
      },
    },
  };
}
