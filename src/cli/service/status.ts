import type { DeploymentStatus, Status } from '../../client/index.js';
import { isTerminal } from '../../core/jobs/status.js';

/** Whether a job has ended; a deployment that answers is ready. */
export function hasEnded(status: Status | DeploymentStatus): boolean {
  return status === 'ready' || isTerminal(status as Status);
}
