import { WorkflowNotFoundError } from '@temporalio/client';
import type { TestService } from './service.js';

/** More than the test servers allow. A run of this length gets no more signals. */
const eventsOfRun = 100;

/** The job's status, and the number of its ended rollouts. */
const progress = `
  select j.status, c.rollouts_succeeded + c.rollouts_failed as ended
    from jobs j join job_controls c on c.job_id = j.id where j.id = $1`;

/**
 * Sends signals without effect until the job has ended, so that with short histories it continues
 * as new again and again. Each run ends a rollout first: one that begins with too many signals only
 * begins another.
 */
export async function signalWhileRunning(service: TestService, id: string): Promise<void> {
  const workflow = service.workflow(id);
  for (let last = { ended: 0, runId: '' }; ;) {
    const [job] = await service.query<{ status: string; ended: number }>(progress, [id]);
    const { status, ended } = job!;
    if (status !== 'running') return;
    const { runId, historyLength } = await workflow.describe();
    if (runId !== last.runId && ended > last.ended) last = { ended, runId };
    if (runId !== last.runId || historyLength >= eventsOfRun) continue;
    const sent = [1, 2, 3].map(() => workflow.signal('resume'));
    await Promise.all(sent.map((signal) => signal.catch(unlessClosed)));
  }
}

function unlessClosed(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
