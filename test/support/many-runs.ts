import { WorkflowNotFoundError } from '@temporalio/client';
import { readJob } from './jobs-over-http.js';
import type { TestService } from './service.js';

/** More than the test servers suggest. A run that has reached it gets no more signals. */
const eventsOfRun = 100;

/**
 * Sends signals without effect until the job has ended. With short histories it continues as new
 * again and again, in the midst of its work.
 */
export async function signalWhileRunning(service: TestService, id: string): Promise<void> {
  while ((await readJob(service, id)).status === 'running') {
    const { historyLength } = await service.workflow(id).describe();
    if (historyLength >= eventsOfRun) continue;
    const sent = [1, 2, 3].map(() =>
      service
        .workflow(id)
        .signal('resume')
        .catch((error: unknown) => {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        }),
    );
    await Promise.all(sent);
  }
}
