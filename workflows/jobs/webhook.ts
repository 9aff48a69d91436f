import { ActivityFailure, CancellationScope, log } from '@temporalio/workflow';
import { abandonWebhook, deliverWebhook } from '../activities.js';
import { readJob } from './input.js';

/** Delivers the webhook of an ended job, or gives it up after a day or a final refusal. */
export async function webhookWorkflow(input?: unknown): Promise<void> {
  const job = readJob(input);
  try {
    await deliverWebhook(job);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('webhook not delivered', { jobId: job.jobId, error });
    await CancellationScope.nonCancellable(() => abandonWebhook(job));
  }
}
