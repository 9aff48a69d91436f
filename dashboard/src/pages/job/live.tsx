import { useEffect, useRef, useState } from 'preact/hooks';
import { health, healthOfJob, reloadHealth } from '../../data/health.js';
import { minute, slowedDown } from '../../data/health-words.js';
import type { Job } from '../../data/job.js';
import { pace } from '../../util/format.js';

const stalledS = 60;

/** How fast a running job goes on, when it ends, and how long its last result is ago. */
export function LivePace({ job }: { job: Job }) {
  const isRunning = job.status === 'running';
  const known = healthOfJob(job.job_id);
  const lastMs = useLastResult(job, known?.last_result_at ?? null);
  const nowMs = useClock(isRunning);
  useEffect(() => {
    if (isRunning && !known) void reloadHealth();
  }, [isRunning]);
  if (!isRunning || !known) return null;
  const quietS = lastMs === null ? null : Math.max(0, Math.round((nowMs - lastMs) / 1_000));
  const isStalled = known.stalled && (quietS === null || quietS >= stalledS);
  return (
    <p class="live-pace" role="status" aria-live="off">
      {isStalled ? (
        <strong class="bad">
          Stalled: no result {quietS === null ? 'yet' : `for ${quietS} s`}
          {known.stalled_because !== null && `: ${known.stalled_because}`}
        </strong>
      ) : (
        <>
          <span>{pace(known.rollouts_per_minute / 60)} rollouts/s</span>
          {known.ends_at !== null && <span>ends about {minute(known.ends_at)} by rollouts</span>}
          {quietS !== null && <span>last result {quietS} s ago</span>}
        </>
      )}
    </p>
  );
}

/** As `1 of 5 at a time: openai 429 since 21:21`; null: it runs as fast as it may. */
export function slowdownOf(job: Job): string | null {
  const known = healthOfJob(job.job_id);
  if (known && health.value && job.status === 'running') return slowedDown(known, health.value.providers);
  const { limit, max_concurrent: most, lowered_because: because } = job.concurrency;
  return because === null ? null : `${limit} of ${most} rollouts at a time: ${because}`;
}

/** The time of the last result, as of the record or of a count that has grown since. */
function useLastResult(job: Job, recorded: string | null): number | null {
  const { progress } = job;
  const done = 'completed' in progress ? progress.completed : progress.rollouts_completed;
  const seen = useRef({ done, at: null as number | null });
  if (done > seen.current.done) seen.current = { done, at: Date.now() };
  const times = [seen.current.at, recorded === null ? null : Date.parse(recorded)].filter((at) => at !== null);
  return times.length > 0 ? Math.max(...times) : null;
}

function useClock(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
