import { WorkflowNotFoundError } from '@temporalio/client';
import { readJob } from './jobs-over-http.js';
import type { TestService } from './service.js';

/**
 * Sends signals without effect until the job has ended. With short histories it continues as new
 * again and again, in the midst of its work.
 */
export async function signalWhileRunning(service: TestService, id: string): Promise<void> {
  while ((await readJob(service, id)).status === 'running') {
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
