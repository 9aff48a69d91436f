import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  log,
  setDefaultSignalHandler,
  sleep,
} from '@temporalio/workflow';
import { faultOf } from '../../src/core/jobs/fault.js';
import { abandonWebhook, deliverWebhook, isDelivered } from '../activities.js';
import { readJob } from './input.js';

/** Delivers the webhook of an ended job, or gives it up after a day or a final refusal. */
export async function webhookWorkflow(input?: unknown): Promise<void> {
  const job = readJob(input);
  setDefaultSignalHandler((signal) => log.warn('signal ignored', { signal: signal.slice(0, 100) }));
  try {
    for (;;) {
      await deliverWebhook(job);
      if (await isDelivered(job)) return;
      log.warn('the webhook is not delivered on record; delivering again', { jobId: job.jobId });
      await sleep('5 seconds');
    }
  } catch (error) {
    log.warn('webhook not delivered', { jobId: job.jobId, error });
    await CancellationScope.nonCancellable(() => abandonWebhook(job));
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    if (cause instanceof ApplicationFailure && faultOf(cause).code === 'job_gone') throw cause;
  }
}
