import type { JobRow } from '../store/jobs.js';
import { ApiError } from '../../platform/http/server/errors.js';

type Expirable = 'traces' | 'events';

type Kept = Pick<JobRow, 'tracesExpired' | 'eventsExpired'>;

const isExpired = ({ tracesExpired, eventsExpired }: Kept): Record<Expirable, boolean> => ({
  traces: tracesExpired,
  events: eventsExpired,
});

/** Refuses a request for what the service no longer keeps of a job. */
export function requireKept(job: Kept, what: Expirable): void {
  if (!isExpired(job)[what]) return;
  const setting = `RATCHET_KEEP_${what.toUpperCase()}_DAYS`;
  throw new ApiError(410, 'expired', `The ${what} of this job were deleted because of their age (${setting}).`);
}

/** Refuses to extend a session whose traces or events are gone: its search reads the traces. */
export function requireExtendable(job: Kept): void {
  const gone = (['traces', 'events'] as const).find((what) => isExpired(job)[what]);
  if (!gone) return;
  const detail = `The ${gone} of this session were deleted because of their age, so it cannot go on. Clone it.`;
  throw new ApiError(410, 'expired', detail);
}
